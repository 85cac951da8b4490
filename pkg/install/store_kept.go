package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const (
	keptKey = "object.json.gz"
	// keptInSecret begins what says where a Secret is kept: only in another Secret.
	keptInSecret = "secret/"
)

// Keep keeps an object as it is now. What is kept already stays: it is older, and only the
// oldest is what there was before the run.
func (s *ClusterStore) Keep(ctx context.Context, run string, o *unstructured.Unstructured) (Before, error) {
	ref := refOf(o)
	text, err := json.Marshal(o.Object)
	if err != nil {
		return Before{}, err
	}
	zip, err := regulate.Zipped(text)
	if err != nil {
		return Before{}, err
	}
	if len(zip) > mostBytes {
		return Before{}, fmt.Errorf("keep %s as it is: it has %d bytes, %d compressed, and a ConfigMap holds %d", ref, len(text), len(zip), mostBytes)
	}
	kept := Before{Object: ref, Kept: keptName(s.of, run, ref)}
	meta := metav1.ObjectMeta{
		Name: strings.TrimPrefix(kept.Kept, keptInSecret), Namespace: s.of.Namespace,
		Labels: labelled(s.of, map[string]string{keptLabel: run}), Annotations: map[string]string{"sysop.dev/object": ref.String()},
	}
	var body *unstructured.Unstructured
	if strings.HasPrefix(kept.Kept, keptInSecret) {
		body = fieldsOf(&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Data: map[string][]byte{keptKey: zip}, Type: "sysop.dev/kept"})
	} else {
		body = fieldsOf(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, BinaryData: map[string][]byte{keptKey: zip}})
	}
	of, _ := s.keptAt(kept)
	err = regulate.Persist(ctx, s.Patience, func(ctx context.Context) error {
		_, err := of.Create(ctx, body, metav1.CreateOptions{FieldManager: FieldManager})
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		return kept, nil // Whether it is what was there before, somebody else has to say.
	}
	if err != nil {
		return Before{}, fmt.Errorf("keep %s as it is: %w", ref, err)
	}
	kept.sum = sumOf(o)
	return kept, nil
}

// keptName says where an object is kept for a run: the name of a ConfigMap, or secret/NAME.
func keptName(of Installation, run string, ref object.Ref) string {
	sum := sha256.Sum256([]byte(run + " " + ref.String()))
	name := JournalName(of.Name) + "-was-" + hex.EncodeToString(sum[:6])
	if ref.GroupKind() == secretKind {
		return keptInSecret + name
	}
	return name
}

// sumOf is the sum by which an object that was kept is known again.
func sumOf(o *unstructured.Unstructured) string {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return "" // what came from JSON goes into it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keptAt is where something is kept, and its name.
func (s *ClusterStore) keptAt(b Before) (dynamic.ResourceInterface, string) {
	if name, ok := strings.CutPrefix(b.Kept, keptInSecret); ok {
		return s.client.Resource(secretResource).Namespace(s.of.Namespace), name
	}
	return s.maps(), b.Kept
}

// Kept returns what was kept.
func (s *ClusterStore) Kept(ctx context.Context, b Before) (*unstructured.Unstructured, error) {
	of, name := s.keptAt(b)
	var u *unstructured.Unstructured
	err := regulate.Persist(ctx, s.Patience, func(ctx context.Context) (err error) {
		u, err = of.Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read how %s was (%s): %w", b.Object, b.Kept, err)
	}
	var held struct {
		BinaryData map[string][]byte `json:"binaryData"`
		Data       map[string][]byte `json:"data"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &held); err != nil {
		return nil, fmt.Errorf("read how %s was (%s): %w", b.Object, b.Kept, err)
	}
	zip := held.BinaryData[keptKey]
	if zip == nil {
		zip = held.Data[keptKey]
	}
	text, err := regulate.Unzipped(zip)
	if err != nil {
		return nil, fmt.Errorf("read how %s was (%s): %w", b.Object, b.Kept, err)
	}
	o := new(unstructured.Unstructured)
	if err := o.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("read how %s was (%s): %w", b.Object, b.Kept, err)
	}
	if got := refOf(o); got != b.Object {
		return nil, fmt.Errorf("read how %s was (%s): it is %s", b.Object, b.Kept, got)
	}
	return o, nil
}

// Drop forgets what a run kept, also what was kept and then never written into the journal.
func (s *ClusterStore) Drop(ctx context.Context, run string, kept []Before) error {
	for _, b := range s.keptFor(ctx, run) {
		if !slices.ContainsFunc(kept, func(k Before) bool { return k.Kept == b.Kept }) {
			kept = append(kept, b)
		}
	}
	var failed []error
	for _, b := range kept {
		of, name := s.keptAt(b)
		err := regulate.Persist(ctx, s.Patience, func(ctx context.Context) error {
			err := of.Delete(ctx, name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("delete %s: %w", b.Kept, err))
		}
	}
	return errors.Join(failed...)
}

// keptFor lists what was kept for a run, as far as it may be listed.
func (s *ClusterStore) keptFor(ctx context.Context, run string) (out []Before) {
	o := metav1.ListOptions{LabelSelector: InstallLabel + "=" + s.of.Name + "," + keptLabel + "=" + run}
	for prefix, r := range map[string]schema.GroupVersionResource{"": configMapResource, keptInSecret: secretResource} {
		list, err := s.client.Resource(r).Namespace(s.of.Namespace).List(ctx, o)
		if err != nil {
			continue
		}
		for _, u := range list.Items {
			out = append(out, Before{Kept: prefix + u.GetName()})
		}
	}
	return out
}
