package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// Revision is embedded in a document: the state of the object that it was read from. It is not
// part of the stored text.
type Revision struct {
	version string
	// labels and annotations set by others are preserved.
	labels, annotations map[string]string
	// digest is the digest of the text that was read.
	digest string
	trust  Trust
	// pending: the document has something to act on. accepted: the user has seen it.
	pending, accepted bool
	// key signs the document; keyless: there is none, and none can be created.
	key     *key
	keyless bool
}

// Trust tells whether the signature of the document is valid.
func (r *Revision) Trust() Trust { return r.trust }

// NeedsConsent reports that the document is unsigned and lists something that was started. No
// run acts on it before the user has seen it and agreed (Accept).
func (r *Revision) NeedsConsent() bool { return r.trust == Unsigned && r.pending && !r.accepted }

// Version is the resourceVersion of the document when it was last read or written; empty for one
// that does not exist yet.
func (r *Revision) Version() string { return r.version }

// SetVersion and SetTrust are for a store that keeps documents outside of a cluster.
func (r *Revision) SetVersion(version string) { r.version = version }

// SetTrust sets the Trust.
func (r *Revision) SetTrust(t Trust) { r.trust = t }

func (r *Revision) set(o *corev1.ConfigMap) {
	r.version, r.labels, r.annotations = o.ResourceVersion, o.Labels, o.Annotations
}

// UnsignedError reports an unsigned document that the user has not accepted.
type UnsignedError struct{ Place Place }

func (e *UnsignedError) Error() string {
	name, ns := e.Place.Name, e.Place.Namespace
	return fmt.Sprintf("configmap %s/%s: the journal is not signed, and something is pending in it: anyone who may write ConfigMaps there may have written it; read it (kubectl get configmap/%s -n %s -o yaml), and accept it, or fix by hand what is true of it and delete it", ns, name, name, ns)
}

// Store keeps a document in a ConfigMap.
//
// A write creates it, or updates it on condition that it did not change since it was loaded. A
// write without a response (the connection broke, the server went away) is verified and repeated
// if needed: when Save returns nil, the document is stored.
type Store[T any] struct {
	place  Place
	format Format[T]
	client dynamic.ResourceInterface
	keys   dynamic.ResourceInterface
	// own is the version that this process wrote last, or that the user accepted.
	own atomic.Pointer[string]
	// Limit is how long Save and Load retry while the server does not answer.
	Limit time.Duration
}

// Connect returns a client whose requests are not throttled by this process.
func Connect(config *rest.Config, subject string) (dynamic.Interface, error) {
	client, err := dynamic.NewForConfig(Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", subject, err)
	}
	return client, nil
}

// NewStore returns the store of a document in a place.
func NewStore[T any](client dynamic.Interface, place Place, format Format[T]) *Store[T] {
	return &Store[T]{place: place, format: format, client: client.Resource(configMaps).Namespace(place.Namespace), keys: client.Resource(secrets).Namespace(place.Namespace), Limit: DefaultLimit}
}

func (s *Store[T]) object() string { return "configmap " + s.place.Namespace + "/" + s.place.Name }

// Load returns the document, or a new one where there is none. An unreadable document is an
// error and never taken for an empty one, because it lists what was started. So is one whose
// signature is wrong (*ForgedError).
func (s *Store[T]) Load(ctx context.Context) (*T, error) {
	var o *corev1.ConfigMap
	var k *key
	err := Retry(ctx, s.Limit, func(ctx context.Context) (err error) {
		if o, err = s.read(ctx); err == nil && o != nil {
			k, err = s.readKey(ctx)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal (%s): %w", s.object(), err)
	}
	d := s.format.New()
	if o == nil {
		return d, nil
	}
	if isShell(o) {
		s.format.Revision(d).set(o)
		return d, nil
	}
	text, err := textOf(o)
	if err != nil {
		return nil, s.unreadable(err)
	}
	trust, err := s.verify(o, text, k)
	if err != nil {
		return nil, err
	}
	if d, err = s.format.parse(text); err != nil {
		return nil, s.unreadable(err)
	}
	r := s.format.Revision(d)
	r.set(o)
	r.digest, r.trust, r.key = digest(text), trust, k
	r.pending = s.format.Pending != nil && s.format.Pending(d)
	own := s.own.Load()
	r.accepted = own != nil && *own == r.version
	return d, nil
}

// Accept records that the user has seen what an unsigned document lists, and agreed. The next
// Save signs it.
func (s *Store[T]) Accept(d *T) {
	r := s.format.Revision(d)
	r.accepted = true
	s.own.Store(&r.version)
}

func (s *Store[T]) unreadable(err error) error {
	return fmt.Errorf("%s: the journal is invalid: %w; it was not changed: read it (kubectl get configmap/%s -n %s -o yaml), fix by hand what it says %s, then delete it",
		s.object(), err, s.place.Name, s.place.Namespace, s.format.Open)
}

// Save writes the document. It returns a *ConflictError if the document was changed since it was
// loaded or saved. A document that was deleted meanwhile is created again: that overwrites
// nothing, and keeps the list of what was started.
func (s *Store[T]) Save(ctx context.Context, d *T) error {
	r := s.format.Revision(d)
	if r.NeedsConsent() {
		return &UnsignedError{Place: s.place}
	}
	want, err := s.want(ctx, d, r)
	if errors.As(err, new(*KeyError)) {
		return err
	}
	if err != nil {
		return fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	expect := r.version
	err = Retry(ctx, s.Limit, func(ctx context.Context) error {
		written, err := s.write(ctx, want, expect)
		if err != nil && MayHaveWritten(err) {
			written, err = s.settle(ctx, want, &expect, err)
		}
		if err == nil {
			r.set(written)
			s.own.Store(&written.ResourceVersion)
		}
		return err
	})
	if err != nil && !errors.As(err, new(*ConflictError)) {
		err = fmt.Errorf("write the journal (%s): %w", s.object(), err)
	}
	return err
}

// want returns the signed object of a document.
func (s *Store[T]) want(ctx context.Context, d *T, r *Revision) (*corev1.ConfigMap, error) {
	o, text, err := s.format.encode(d)
	if err != nil {
		return nil, err
	}
	signature, err := s.sign(ctx, r, text)
	if err != nil {
		return nil, err
	}
	if signature != "" {
		o.Data[macKey] = signature
	}
	o.Name, o.Namespace = s.place.Name, s.place.Namespace
	o.Labels, o.Annotations = maps.Clone(r.labels), r.annotations
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	maps.Copy(o.Labels, s.place.Labels)
	return o, nil
}

// settle finds the result of a write that failed: it arrived, can be repeated, or conflicts with
// another write.
func (s *Store[T]) settle(ctx context.Context, want *corev1.ConfigMap, expect *string, failed error) (*corev1.ConfigMap, error) {
	current, err := s.read(ctx)
	switch {
	case err != nil:
		return nil, err
	case current == nil && *expect == "" && apierrors.IsNotFound(failed):
		return nil, failed // the namespace is missing
	case current == nil:
		// Only this process has its content.
		*expect = ""
		return nil, Retryable(failed)
	case sameDocument(current, want):
		return current, nil
	case *expect == "" && isShell(current):
		*expect = current.ResourceVersion
		return nil, Retryable(failed)
	case current.ResourceVersion == *expect:
		return nil, Retryable(failed)
	}
	return nil, &ConflictError{Object: s.object()}
}

func (s *Store[T]) write(ctx context.Context, want *corev1.ConfigMap, expect string) (*corev1.ConfigMap, error) {
	want = want.DeepCopy()
	want.ResourceVersion = expect
	if expect == "" {
		done, err := s.client.Create(ctx, Unstructured(want), metav1.CreateOptions{FieldManager: s.place.FieldManager})
		return typed(done, err)
	}
	done, err := s.client.Update(ctx, Unstructured(want), metav1.UpdateOptions{FieldManager: s.place.FieldManager})
	return typed(done, err)
}

// Remove deletes the document unless it was changed since it was read.
func (s *Store[T]) Remove(ctx context.Context, d *T) error {
	r := s.format.Revision(d)
	if r.version == "" {
		return nil
	}
	err := remove(ctx, s.Limit, s.client, s.place.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &r.version}})
	if apierrors.IsConflict(err) {
		return &ConflictError{Object: s.object()}
	}
	if err != nil {
		return fmt.Errorf("delete the journal (%s): %w", s.object(), err)
	}
	*r = Revision{}
	// A remaining key is harmless: it signs the next journal.
	_ = remove(ctx, s.Limit, s.keys, KeyName(s.place.Name), metav1.DeleteOptions{})
	return nil
}

// read returns the ConfigMap, or nil where there is none.
func (s *Store[T]) read(ctx context.Context) (*corev1.ConfigMap, error) {
	u, err := s.client.Get(ctx, s.place.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return typed(u, err)
}

func remove(ctx context.Context, limit time.Duration, client dynamic.ResourceInterface, name string, o metav1.DeleteOptions) error {
	return Retry(ctx, limit, func(ctx context.Context) error {
		err := client.Delete(ctx, name, o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func typed(u *unstructured.Unstructured, err error) (*corev1.ConfigMap, error) {
	if err != nil {
		return nil, err
	}
	o := new(corev1.ConfigMap)
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
}
