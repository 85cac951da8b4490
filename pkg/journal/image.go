package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	// ImageKey is the key of a before-image in its ConfigMap or Secret.
	ImageKey = "object.json.gz"
	// inSecret is the prefix of StoredIn for a before-image of a Secret, which only a Secret may
	// hold.
	inSecret = "secret/"
	// runLabel has the ID of the run that the before-image belongs to.
	runLabel = "sysop.dev/kept-for"
)

// BeforeImage refers to the stored before-image of an object that a run changes.
type BeforeImage struct {
	Object object.Ref `json:"object"`
	// StoredIn is the name of a ConfigMap in the namespace of the journal, or secret/NAME.
	StoredIn string `json:"kept"`
	// Sum is the checksum (Sum) where this process stored the image; empty where a journal lists
	// it.
	Sum string `json:"-"`
}

// Resource returns the kind and name of the object that stores it.
func (b BeforeImage) Resource() (kind, name string) {
	if name, ok := strings.CutPrefix(b.StoredIn, inSecret); ok {
		return "secret", name
	}
	return "configmap", b.StoredIn
}

// Images stores before-images next to a journal, each in its own object.
type Images struct {
	place  Place // place of the journal
	client dynamic.Interface
	Limit  time.Duration
}

// NewImages returns the before-images of the journal in a place.
func NewImages(client dynamic.Interface, place Place) *Images {
	return &Images{place: place, client: client, Limit: DefaultLimit}
}

// ImageName returns where the before-image of an object is stored for a run of the journal: the
// name of a ConfigMap, or secret/NAME.
func ImageName(journal, run string, ref object.Ref) string {
	sum := sha256.Sum256([]byte(run + " " + ref.String()))
	name := journal + "-was-" + hex.EncodeToString(sum[:6])
	if ref.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
		return inSecret + name
	}
	return name
}

// Sum returns the checksum of a before-image.
func Sum(o *unstructured.Unstructured) string {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return "" // an object that came from JSON encodes
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// SaveBefore stores the before-image of an object. An existing image stays: only the
// oldest one is the state before the run.
func (s *Images) SaveBefore(ctx context.Context, run string, o *unstructured.Unstructured) (BeforeImage, error) {
	gvk := o.GroupVersionKind()
	ref := object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	text, err := json.Marshal(o.Object)
	if err != nil {
		return BeforeImage{}, err
	}
	zip, err := compress(text)
	if err != nil {
		return BeforeImage{}, err
	}
	if len(zip) > maxBytes {
		return BeforeImage{}, fmt.Errorf("store the before-image of %s: it has %d bytes, %d compressed, and a ConfigMap holds %d", ref, len(text), len(zip), maxBytes)
	}
	b := BeforeImage{Object: ref, StoredIn: ImageName(s.place.Name, run, ref)}
	kind, name := b.Resource()
	meta := metav1.ObjectMeta{Name: name, Namespace: s.place.Namespace, Labels: s.labels(run), Annotations: map[string]string{"sysop.dev/object": ref.String()}}
	body := Unstructured(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, BinaryData: map[string][]byte{ImageKey: zip}})
	if kind == "secret" {
		body = Unstructured(&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Data: map[string][]byte{ImageKey: zip}, Type: "sysop.dev/kept"})
	}
	client, _ := s.at(b)
	err = Retry(ctx, s.Limit, func(ctx context.Context) error {
		_, err := client.Create(ctx, body, metav1.CreateOptions{FieldManager: s.place.FieldManager})
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		return b, nil // Only the caller can tell whether it is the state before the run.
	}
	if err != nil {
		return BeforeImage{}, fmt.Errorf("store the before-image of %s: %w", ref, err)
	}
	b.Sum = Sum(o)
	return b, nil
}

func (s *Images) labels(run string) map[string]string {
	out := map[string]string{runLabel: run}
	maps.Copy(out, s.place.Labels)
	return out
}

// at returns the object that stores an image.
func (s *Images) at(b BeforeImage) (dynamic.ResourceInterface, string) {
	kind, name := b.Resource()
	if kind == "secret" {
		return s.client.Resource(secrets).Namespace(s.place.Namespace), name
	}
	return s.client.Resource(configMaps).Namespace(s.place.Namespace), name
}

// LoadBefore returns a before-image.
func (s *Images) LoadBefore(ctx context.Context, b BeforeImage) (*unstructured.Unstructured, error) {
	o, err := s.load(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("read the before-image of %s (%s): %w", b.Object, b.StoredIn, err)
	}
	return o, nil
}

func (s *Images) load(ctx context.Context, b BeforeImage) (*unstructured.Unstructured, error) {
	client, name := s.at(b)
	var u *unstructured.Unstructured
	err := Retry(ctx, s.Limit, func(ctx context.Context) (err error) {
		u, err = client.Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	var held struct {
		BinaryData map[string][]byte `json:"binaryData"`
		Data       map[string][]byte `json:"data"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &held); err != nil {
		return nil, err
	}
	zip := held.BinaryData[ImageKey]
	if zip == nil {
		zip = held.Data[ImageKey]
	}
	text, err := decompress(zip)
	if err != nil {
		return nil, err
	}
	o := new(unstructured.Unstructured)
	if err := o.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	gvk := o.GroupVersionKind()
	if got := (object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}); got != b.Object {
		return nil, fmt.Errorf("it is that of %s", got)
	}
	return o, nil
}

// Drop deletes all before-images of a run, including those that never got into the journal.
func (s *Images) Drop(ctx context.Context, run string, images []BeforeImage) error {
	for _, b := range s.list(ctx, run) {
		if !slices.ContainsFunc(images, func(k BeforeImage) bool { return k.StoredIn == b.StoredIn }) {
			images = append(images, b)
		}
	}
	var failed []error
	for _, b := range images {
		client, name := s.at(b)
		if err := remove(ctx, s.Limit, client, name, metav1.DeleteOptions{}); err != nil {
			failed = append(failed, fmt.Errorf("delete %s: %w", b.StoredIn, err))
		}
	}
	return errors.Join(failed...)
}

// list lists the before-images of a run, as far as permissions allow.
func (s *Images) list(ctx context.Context, run string) (out []BeforeImage) {
	o := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(s.labels(run)).String()}
	for prefix, r := range map[string]schema.GroupVersionResource{"": configMaps, inSecret: secrets} {
		list, err := s.client.Resource(r).Namespace(s.place.Namespace).List(ctx, o)
		if err != nil {
			continue
		}
		for _, u := range list.Items {
			out = append(out, BeforeImage{StoredIn: prefix + u.GetName()})
		}
	}
	return out
}
