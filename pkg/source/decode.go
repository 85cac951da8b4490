package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// errTruncated reports that a body ends too early.
var errTruncated = errors.New("the response is incomplete")

// decodeList emits the objects of a list one at a time, so that a page is never in memory as
// decoded objects. It returns the token of the next page.
func decodeList(a answer, r object.Resource, detail Detail, add func(object.Object)) (string, error) {
	if protobuf(a) {
		return decodeProtobufList(a.body, r, detail, add)
	}
	if err := a.isJSON(); err != nil {
		return "", err
	}
	var l struct {
		Kind     string            `json:"kind"`
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(a.body, &l); err != nil {
		return "", jsonError(err)
	}
	if l.Items == nil && !strings.HasSuffix(l.Kind, "List") {
		return "", fmt.Errorf("expected a list in the response, got %q", l.Kind)
	}
	for _, raw := range l.Items {
		o, err := decodeJSON(raw, r, detail)
		if err != nil {
			return "", err
		}
		add(o)
	}
	return l.Metadata.Continue, nil
}

func decodeOne(a answer, r object.Resource, detail Detail) (object.Object, error) {
	if !protobuf(a) {
		if err := a.isJSON(); err != nil {
			return object.Object{}, err
		}
		return decodeJSON(a.body, r, detail)
	}
	raw, err := envelope(a.body)
	if err != nil {
		return object.Object{}, err
	}
	return decodeProtobuf(raw, r, detail)
}

func protobuf(a answer) bool { return strings.HasPrefix(a.contentType, protobufType) }

// isJSON refuses the login page of a proxy.
func (a answer) isJSON() error {
	kind, _, _ := strings.Cut(a.contentType, ";")
	if kind == "" || kind == jsonType || strings.HasSuffix(kind, "+json") {
		return nil
	}
	return fmt.Errorf("the response is %s, not JSON", kind)
}

// jsonError distinguishes a body that ends too early from an invalid one.
func jsonError(err error) error {
	// Two packages have an error of their own for it.
	if err.Error() == "unexpected end of JSON input" || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}

// whole is a type with metadata.
type whole interface {
	runtime.Object
	metav1.Object
}

// newObject drops unused fields. The strings of an object are copies: neither decoder returns
// strings that reference the page.
func newObject(r object.Resource, body whole, detail Detail) object.Object {
	if detail != Whole {
		body.SetManagedFields(nil)
	}
	if neverWhole(r.GroupKind()) {
		body.SetAnnotations(withoutCopies(body.GetAnnotations()))
	}
	return object.Object{
		Ref:     object.Ref{Group: r.Group, Kind: r.Kind, Namespace: body.GetNamespace(), Name: body.GetName()},
		Version: r.Version, Meta: body, Body: body,
	}
}

// empty returns a new value of the type that a resource is decoded into.
func empty(r object.Resource, detail Detail) (whole, error) {
	if detail == Metadata {
		return &metav1.PartialObjectMetadata{}, nil
	}
	o, err := scheme.Scheme.New(kindOf(r))
	if err != nil {
		return nil, err
	}
	body, ok := o.(whole)
	if !ok {
		return nil, fmt.Errorf("%s has no metadata", r)
	}
	return body, nil
}

// decodeJSON decodes an object. Integers stay int64, as in Kubernetes.
func decodeJSON(raw []byte, r object.Resource, detail Detail) (object.Object, error) {
	if detail == Fields || detail == Whole {
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil {
			return object.Object{}, jsonError(err)
		}
		if m == nil {
			return object.Object{}, fmt.Errorf("expected an object in the response, got %s", raw)
		}
		return newObject(r, &unstructured.Unstructured{Object: m}, detail), nil
	}
	body, err := empty(r, detail)
	if err != nil {
		return object.Object{}, err
	}
	if err := utiljson.Unmarshal(raw, body); err != nil {
		return object.Object{}, jsonError(err)
	}
	return newObject(r, body, detail), nil
}
