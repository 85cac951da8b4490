package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// errTruncated says that a body ends before it should.
var errTruncated = errors.New("the answer is cut short")

// message is an API type that reads itself from protobuf.
type message interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// decodeList hands on the objects of a list, one at a time: a page is never held
// as a list of decoded objects. It returns the token of the next page.
func decodeList(a answer, r object.Resource, detail Detail, add func(object.Object)) (string, error) {
	if protobuf(a) {
		return decodeProtobufList(a.body, r, detail, add)
	}
	var l struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(a.body, &l); err != nil {
		return "", err
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
		return decodeJSON(a.body, r, detail)
	}
	raw, err := envelope(a.body)
	if err != nil {
		return object.Object{}, err
	}
	return decodeProtobuf(raw, r, detail)
}

func protobuf(a answer) bool {
	return strings.HasPrefix(a.contentType, "application/vnd.kubernetes.protobuf")
}

func newObject(r object.Resource, body interface {
	runtime.Object
	metav1.Object
}) object.Object {
	return object.Object{
		Ref:     object.Ref{Group: r.Group, Kind: r.Kind, Namespace: body.GetNamespace(), Name: body.GetName()},
		Version: r.Version, Meta: body, Body: body,
	}
}

// empty returns a new value of the type that a resource is read as.
func empty(r object.Resource, detail Detail) (runtime.Object, error) {
	if detail == Metadata {
		return &metav1.PartialObjectMetadata{}, nil
	}
	return scheme.Scheme.New(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
}

func decodeJSON(raw []byte, r object.Resource, detail Detail) (object.Object, error) {
	if detail == Fields {
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil {
			return object.Object{}, err
		}
		u := &unstructured.Unstructured{Object: m}
		u.SetManagedFields(nil)
		return newObject(r, u), nil
	}
	into, err := empty(r, detail)
	if err != nil {
		return object.Object{}, err
	}
	body, ok := into.(interface {
		runtime.Object
		metav1.Object
	})
	if !ok {
		return object.Object{}, fmt.Errorf("%s has no metadata", r)
	}
	if err := json.Unmarshal(raw, body); err != nil {
		return object.Object{}, err
	}
	return newObject(r, body), nil
}

// The protobuf form of every list in Kubernetes is {1: ListMeta, 2: items}, in an
// envelope of four magic bytes and a message runtime.Unknown whose field 2 is
// the list. Walking it by hand spares the list type, a second copy of the page
// and all but one of the decoded objects.
const (
	magic         = "k8s\x00"
	unknownRaw    = 2
	listMeta      = 1
	listItems     = 2
	metaContinue  = 3
	objectMeta    = 1
	managedFields = 17
)

func envelope(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte(magic)) {
		return nil, errTruncated
	}
	var raw []byte
	err := fields(body[len(magic):], func(num protowire.Number, _, value []byte) error {
		if num == unknownRaw {
			raw = value
		}
		return nil
	})
	return raw, err
}

func decodeProtobufList(body []byte, r object.Resource, detail Detail, add func(object.Object)) (next string, err error) {
	raw, err := envelope(body)
	if err != nil {
		return "", err
	}
	err = fields(raw, func(num protowire.Number, _, value []byte) error {
		switch num {
		case listMeta:
			return fields(value, func(num protowire.Number, _, value []byte) error {
				if num == metaContinue {
					next = string(value)
				}
				return nil
			})
		case listItems:
			o, err := decodeProtobuf(value, r, detail)
			if err == nil {
				add(o)
			}
			return err
		}
		return nil
	})
	return next, err
}

func decodeProtobuf(raw []byte, r object.Resource, detail Detail) (object.Object, error) {
	into, err := empty(r, detail)
	if err != nil {
		return object.Object{}, err
	}
	body, ok := into.(message)
	if !ok {
		return object.Object{}, fmt.Errorf("%s cannot be read from protobuf", r)
	}
	if err := hideManagedFields(raw); err != nil {
		return object.Object{}, err
	}
	if err := body.Unmarshal(raw); err != nil {
		return object.Object{}, err
	}
	return newObject(r, body), nil
}

// hideManagedFields gives the managed fields of an object, often half of its
// bytes, the number of a field that no type has: the decoder skips those. The
// new number is as long as the old one, so nothing moves.
func hideManagedFields(raw []byte) error {
	return fields(raw, func(num protowire.Number, _, value []byte) error {
		if num != objectMeta {
			return nil
		}
		return fields(value, func(num protowire.Number, tag, _ []byte) error {
			if num == managedFields {
				const nobodys = 2000
				copy(tag, protowire.AppendTag(nil, nobodys, protowire.BytesType))
			}
			return nil
		})
	})
}

// fields calls each for every length-delimited field of a message, with the
// bytes of its tag and of its value.
func fields(b []byte, each func(num protowire.Number, tag, value []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errTruncated
		}
		tag := b[:n]
		b = b[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return errTruncated
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return errTruncated
		}
		if err := each(num, tag, value); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
