package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	secretKey  = "key"
	adoptedKey = "adopted"
	// keyBytes is the length of a key.
	keyBytes = 32
)

// key signs a journal.
type key struct {
	secret []byte
	// adopted is the digest of the unsigned document that existed when the key was created.
	adopted string
	// refused is the error of reading the key.
	refused error
}

// KeyError reports that the key of a journal cannot be read. The signature cannot be verified,
// so the run does not act on the journal.
type KeyError struct {
	Place Place
	Why   error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("configmap %s/%s: the journal is not verified, so nothing was done: you may not read its key (you need get of secret %s in %s): %v", e.Place.Namespace, e.Place.Name, KeyName(e.Place.Name), e.Place.Namespace, e.Why)
}

func (e *KeyError) Unwrap() error { return e.Why }

// errNoKey reports that the Secret holds no valid key.
var errNoKey = errors.New("it has no key")

// readKey returns the key, or nil where there is none. A denied read sets refused.
func (s *Store[T]) readKey(ctx context.Context) (*key, error) {
	u, err := s.keys.Get(ctx, KeyName(s.place.Name), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		return &key{refused: err}, nil
	case err != nil:
		return nil, err
	}
	o := new(corev1.Secret)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
		return nil, err
	}
	if len(o.Data[secretKey]) < keyBytes {
		return nil, fmt.Errorf("secret %s/%s: %w: fix by hand what the journal says is pending, then delete both", s.place.Namespace, KeyName(s.place.Name), errNoKey)
	}
	return &key{secret: o.Data[secretKey], adopted: string(o.Data[adoptedKey])}, nil
}

// signingKey returns the key that signs a document, and creates it where it is missing. It is
// nil for a user who may not create Secrets.
func (s *Store[T]) signingKey(ctx context.Context, r *Revision) (*key, error) {
	k, err := s.readKey(ctx)
	if err != nil || k != nil {
		return k, err
	}
	secret := make([]byte, keyBytes)
	_, _ = rand.Read(secret) // it never fails
	immutable := true
	o := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: KeyName(s.place.Name), Namespace: s.place.Namespace, Labels: s.place.Labels},
		Data:       map[string][]byte{secretKey: secret}, Type: "sysop.dev/journal-key", Immutable: &immutable,
	}
	if r.version != "" {
		o.Data[adoptedKey] = []byte(r.digest)
	}
	_, err = s.keys.Create(ctx, Unstructured(o), metav1.CreateOptions{FieldManager: s.place.FieldManager})
	switch {
	case err == nil:
		return &key{secret: secret}, nil
	case apierrors.IsForbidden(err):
		return nil, nil
	case apierrors.IsAlreadyExists(err):
		return nil, Retryable(err)
	}
	return nil, err
}

// sign returns the signature of a document; empty without a key.
func (s *Store[T]) sign(ctx context.Context, r *Revision, text []byte) (string, error) {
	if r.key == nil && !r.keyless {
		err := Retry(ctx, s.Limit, func(ctx context.Context) (err error) {
			r.key, err = s.signingKey(ctx, r)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("create its key (secret %s/%s): %w", s.place.Namespace, KeyName(s.place.Name), err)
		}
		r.keyless = r.key == nil
	}
	switch {
	case r.key == nil:
		return "", nil
	case r.key.refused != nil:
		return "", &KeyError{Place: s.place, Why: r.key.refused}
	}
	return mac(r.key.secret, s.format.Header, s.place, text), nil
}
