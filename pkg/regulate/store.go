package regulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// patience is how long an API server may be away (a restart) before a request is given up.
const patience = 30 * time.Second

// ConflictError says that somebody else wrote the journal since it was loaded.
type ConflictError struct {
	Object string // configmap shop/sysop-shop-journal
}

func (e *ConflictError) Error() string {
	return e.Object + ": another run wrote the journal meanwhile: nothing of it was overwritten; run it again, it goes on from what the journal says now"
}

// ConfigMapStore keeps the journal in a ConfigMap of the System's namespace.
//
// It is server-side applied, on condition that nobody wrote it since it was loaded. A write
// of which nobody knows whether it arrived (the connection broke, the server went away) is
// looked for and, if need be, done again: Save may be trusted when it returns nil.
type ConfigMapStore struct {
	system, namespace string
	client            dynamic.ResourceInterface
	// Patience is how long Save and Load go on asking a server that does not answer.
	Patience time.Duration
}

// NewStore returns the store of a system's journal.
func NewStore(config *rest.Config, name, namespace string) (*ConfigMapStore, error) {
	client, err := dynamic.NewForConfig(quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach the journal of %s: %w", name, err)
	}
	return &ConfigMapStore{system: name, namespace: namespace, client: client.Resource(configMaps).Namespace(namespace), Patience: patience}, nil
}

// quiet is the config of what must not wait in a queue of this process behind other
// requests, and whose warnings are no user's business.
func quiet(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS, c.WarningHandler = -1, rest.NoWarnings{}
	return c
}

// Load returns the journal, an empty one where there is none. One that cannot be read is an
// error: it says what was stopped, so it is never taken for an empty one.
func (s *ConfigMapStore) Load(ctx context.Context) (*Journal, error) {
	var o *corev1.ConfigMap
	err := persist(ctx, s.Patience, func(ctx context.Context) (err error) {
		o, err = s.read(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal (%s): %w", s.object(), err)
	}
	if o == nil || isShell(o) {
		j := &Journal{System: s.system, Namespace: s.namespace}
		if o != nil {
			j.version = o.ResourceVersion
		}
		return j, nil
	}
	j, err := decode(o)
	if err == nil && (j.System != s.system || j.Namespace != s.namespace) {
		err = fmt.Errorf("it is that of system %s in namespace %s", j.System, j.Namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not a journal that can be read: %w; it was left as it is: read it (kubectl get %s -n %s -o yaml), put right by hand what it says is held, then delete it",
			s.object(), err, "configmap/"+system.JournalName(s.system), s.namespace)
	}
	j.version = o.ResourceVersion
	return j, nil
}

// Save writes the journal, if nobody else has since it was loaded or saved: else there is a
// *ConflictError. One that was deleted meanwhile is written anew: nothing of anybody's is
// lost by that, and without it nobody would know what is held.
func (s *ConfigMapStore) Save(ctx context.Context, j *Journal) error {
	want, err := s.encode(j)
	if err != nil {
		return fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	expect := j.version
	err = persist(ctx, s.Patience, func(ctx context.Context) error {
		version, err := s.write(ctx, want, expect)
		if err == nil {
			j.version = version
			return nil
		}
		if !maybeWritten(err) {
			return err
		}
		return s.settle(ctx, want, &expect, j, err)
	})
	if err != nil && !errors.As(err, new(*ConflictError)) {
		err = fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	return err
}

// settle looks what became of a write that failed: done after all, or to be done again
// (errAgain), or impossible since somebody else wrote.
func (s *ConfigMapStore) settle(ctx context.Context, want *corev1.ConfigMap, expect *string, j *Journal, failed error) error {
	is, err := s.read(ctx)
	switch {
	case err != nil:
		return err
	case is == nil && *expect == "" && apierrors.IsNotFound(failed):
		return failed // there is no such namespace
	case is == nil:
		*expect = ""
		return errAgain{failed}
	case sameData(is, want):
		j.version = is.ResourceVersion
		return nil
	case *expect == "" && isShell(is):
		*expect = is.ResourceVersion // the shell of a first write: whose it is shows with the next one
		return errAgain{failed}
	case is.ResourceVersion == *expect:
		return errAgain{failed}
	}
	return &ConflictError{Object: s.object()}
}

// write writes the journal and returns its version. Server-side apply knows no way to create
// only; so the object is created empty first, and who comes second there waits in line.
func (s *ConfigMapStore) write(ctx context.Context, want *corev1.ConfigMap, expect string) (string, error) {
	if expect == "" {
		shell := want.DeepCopy()
		shell.Data, shell.BinaryData = nil, nil
		made, err := s.client.Create(ctx, fieldsOf(shell), metav1.CreateOptions{FieldManager: FieldManager})
		if err != nil {
			return "", err
		}
		expect = made.GetResourceVersion()
	}
	want = want.DeepCopy()
	want.ResourceVersion = expect
	body, err := json.Marshal(fieldsOf(want).Object)
	if err != nil {
		return "", err
	}
	force := true
	done, err := s.client.Patch(ctx, want.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: FieldManager, Force: &force})
	if err != nil {
		return "", err
	}
	return done.GetResourceVersion(), nil
}

// read returns the ConfigMap, nil where there is none.
func (s *ConfigMapStore) read(ctx context.Context) (*corev1.ConfigMap, error) {
	u, err := s.client.Get(ctx, system.JournalName(s.system), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := new(corev1.ConfigMap)
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
}

func (s *ConfigMapStore) object() string {
	return "configmap " + s.namespace + "/" + system.JournalName(s.system)
}

// fieldsOf is a typed object as the dynamic client takes it.
func fieldsOf(o any) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err) // a type of k8s.io/api always converts
	}
	u := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	return u
}

// errAgain asks for another attempt.
type errAgain struct{ error }

func (e errAgain) Unwrap() error { return e.error }

// persist tries until it works, fails for good, or the server has not answered for a while.
func persist(ctx context.Context, patience time.Duration, try func(context.Context) error) error {
	end := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := try(ctx)
		if err == nil || !errors.As(err, new(errAgain)) && !mayPass(err) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Until(end) < pause {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// mayPass says that the server may answer otherwise in a moment.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.As(err, new(*ConflictError)) // no answer at all
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// maybeWritten says that a write may have been done although it failed, or that somebody else
// was there first.
func maybeWritten(err error) bool {
	return mayPass(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
