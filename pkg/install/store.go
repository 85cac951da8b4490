package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Labels of the journal, and of what is kept beside it.
const (
	managedLabel = "app.kubernetes.io/managed-by"
	managedBy    = "kubectl-sysop"
	// InstallLabel has the name of the installation; on a namespace, as an annotation, it says
	// for which installation the namespace was made.
	InstallLabel = "sysop.dev/install"
	// keptLabel has the id of the run that an object is kept for.
	keptLabel = "sysop.dev/kept-for"
)

// keptPrefix begins the names of all that is kept of an installation.
const keptPrefix = "sysop-install-"

// JournalName is what the ConfigMap with the journal of an installation is called.
func JournalName(name string) string { return keptPrefix + name }

// LockName is what pkg/regulate calls the lock of an installation: its Lease has the name of
// the journal.
func LockName(name string) string { return "install-" + name }

var (
	configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secretResource    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// storePatience is how long an API server may be away before a write is given up.
const storePatience = 30 * time.Second

// ClusterStore keeps the journal of an installation in a ConfigMap of its namespace, and
// objects as they were in further ones beside it.
//
// A write of which nobody knows whether it arrived is looked for and, if need be, done again:
// Save may be trusted when it returns nil.
type ClusterStore struct {
	of     Installation
	client dynamic.Interface
	// Patience is how long a server that does not answer is asked.
	Patience time.Duration
}

// NewStore returns the store of an installation.
func NewStore(config *rest.Config, of Installation) (*ClusterStore, error) {
	client, err := dynamic.NewForConfig(regulate.Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach the journal of %s: %w", of.Name, err)
	}
	return newStore(client, of), nil
}

func newStore(client dynamic.Interface, of Installation) *ClusterStore {
	return &ClusterStore{of: of, client: client, Patience: storePatience}
}

func (s *ClusterStore) maps() dynamic.ResourceInterface {
	return s.client.Resource(configMapResource).Namespace(s.of.Namespace)
}

func (s *ClusterStore) object() string {
	return "configmap " + s.of.Namespace + "/" + JournalName(s.of.Name)
}

// Load returns the journal, one without runs where there is none.
func (s *ClusterStore) Load(ctx context.Context) (*Journal, error) {
	var o *corev1.ConfigMap
	err := regulate.Persist(ctx, s.Patience, func(ctx context.Context) (err error) {
		o, err = s.read(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal (%s): %w", s.object(), err)
	}
	if o == nil {
		return &Journal{Installation: s.of}, nil
	}
	j, err := decodeJournal(o)
	if err == nil && (j.Installation.Name != s.of.Name || j.Installation.Namespace != s.of.Namespace) {
		err = fmt.Errorf("it is that of %s in namespace %s", j.Installation.Name, j.Installation.Namespace)
	}
	if err != nil {
		return nil, unreadable(s.of, err)
	}
	return j, nil
}

func unreadable(of Installation, err error) error {
	return fmt.Errorf("configmap %s/%s: not a journal that can be read: %w; it was left as it is: read it (kubectl get configmap/%s -n %s -o yaml), put right by hand what it says was begun, then delete it",
		of.Namespace, JournalName(of.Name), err, JournalName(of.Name), of.Namespace)
}

// Save writes the journal, if nobody else has since it was loaded or saved.
func (s *ClusterStore) Save(ctx context.Context, j *Journal) error {
	want, err := encodeJournal(j)
	if err != nil {
		return fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	err = regulate.Persist(ctx, s.Patience, func(ctx context.Context) error {
		version, err := s.write(ctx, want, j.version)
		if err == nil {
			j.version = version
			return nil
		}
		if !regulate.MaybeWritten(err) {
			return err
		}
		return s.settle(ctx, want, j, err)
	})
	if err != nil && !errors.As(err, new(*regulate.ConflictError)) {
		err = fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	return err
}

// settle looks what became of a write that failed: done after all, to be done again, or
// impossible since somebody else wrote.
func (s *ClusterStore) settle(ctx context.Context, want *corev1.ConfigMap, j *Journal, failed error) error {
	is, err := s.read(ctx)
	switch {
	case err != nil:
		return err
	case is == nil && j.version == "" && apierrors.IsNotFound(failed):
		return failed // there is no such namespace
	case is == nil && j.version == "":
		return regulate.Again(failed)
	case is == nil:
		// What it said is known here, and nowhere else.
		j.version = ""
		return regulate.Again(failed)
	case sameJournal(is, want):
		j.version = is.ResourceVersion
		return nil
	case is.ResourceVersion == j.version:
		return regulate.Again(failed)
	}
	return &regulate.ConflictError{Object: s.object()}
}

func (s *ClusterStore) write(ctx context.Context, want *corev1.ConfigMap, version string) (string, error) {
	if version == "" {
		done, err := s.maps().Create(ctx, fieldsOf(want), metav1.CreateOptions{FieldManager: FieldManager})
		if err != nil {
			return "", err
		}
		return done.GetResourceVersion(), nil
	}
	want = want.DeepCopy()
	want.ResourceVersion = version
	done, err := s.maps().Update(ctx, fieldsOf(want), metav1.UpdateOptions{FieldManager: FieldManager})
	if err != nil {
		return "", err
	}
	return done.GetResourceVersion(), nil
}

// Remove deletes the journal, if nobody wrote it since.
func (s *ClusterStore) Remove(ctx context.Context, j *Journal) error {
	if j.version == "" {
		return nil
	}
	err := regulate.Persist(ctx, s.Patience, func(ctx context.Context) error {
		err := s.maps().Delete(ctx, JournalName(s.of.Name), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &j.version}})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if apierrors.IsConflict(err) {
		return &regulate.ConflictError{Object: s.object()}
	}
	if err != nil {
		return fmt.Errorf("delete the journal (%s): %w", s.object(), err)
	}
	j.version = ""
	return nil
}

func (s *ClusterStore) read(ctx context.Context) (*corev1.ConfigMap, error) {
	u, err := s.maps().Get(ctx, JournalName(s.of.Name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := new(corev1.ConfigMap)
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
}

// labelled are the labels of what is kept of an installation.
func labelled(of Installation, more map[string]string) map[string]string {
	out := map[string]string{managedLabel: managedBy, InstallLabel: of.Name}
	maps.Copy(out, more)
	return out
}

// fieldsOf is a typed object as the dynamic client takes it.
func fieldsOf(o any) *unstructured.Unstructured {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // a type of k8s.io/api always does
	}
	u := new(unstructured.Unstructured)
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u
}

// forgetLock deletes the Lease of an installation where nobody holds it; what cannot be
// deleted is no error, it is of no consequence.
func forgetLock(ctx context.Context, config *rest.Config, of Installation) {
	client, err := dynamic.NewForConfig(regulate.Quiet(config))
	if err != nil {
		return
	}
	leases := client.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace(of.Namespace)
	u, err := leases.Get(ctx, JournalName(of.Name), metav1.GetOptions{})
	if err != nil {
		return
	}
	if by, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity"); by != "" {
		return
	}
	version := u.GetResourceVersion()
	_ = leases.Delete(ctx, u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
}

// NewLock returns what gives a Runner the lock of an installation: the Lease of the name of
// the journal.
func NewLock(config *rest.Config, of Installation) func(waiting func(string, time.Time)) (regulate.Lock, error) {
	return func(waiting func(string, time.Time)) (regulate.Lock, error) {
		lock, err := regulate.NewLock(config, LockName(of.Name), of.Namespace, regulate.LockOptions{Waiting: waiting})
		if err != nil {
			return nil, err
		}
		return &forgetting{Lock: lock, forget: func(ctx context.Context) { forgetLock(ctx, config, of) }}, nil
	}
}

// forgetting is a lock that is not left lying about.
type forgetting struct {
	regulate.Lock
	forget func(context.Context)
}

// Do waits for its turn and runs act.
func (f *forgetting) Do(ctx context.Context, act func(context.Context) error) error {
	err := f.Lock.Do(ctx, act)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	f.forget(ctx)
	return err
}
