package source

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// message is an API type that decodes itself from protobuf.
type message interface {
	whole
	Unmarshal([]byte) error
}

// Every list in Kubernetes is {1: ListMeta, 2: items} in protobuf, in an envelope of four magic
// bytes and a message runtime.Unknown whose field 2 is the list. Decoding it by hand saves the list
// type, a second copy of the page and all but one of the decoded objects.
const (
	magic         = "k8s\x00"
	unknownRaw    = 2
	listMeta      = 1
	listItems     = 2
	metaVersion   = 2
	metaContinue  = 3
	objectMeta    = 1
	managedFields = 17
)

func envelope(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte(magic)) {
		return nil, errTruncated
	}
	var raw []byte
	found := false
	err := fields(body[len(magic):], func(num protowire.Number, _, value []byte) error {
		if num == unknownRaw {
			raw, found = value, true
		}
		return nil
	})
	if err == nil && !found {
		err = errTruncated
	}
	return raw, err
}

// decodeProtobufList is decodeList for protobuf. Objects that it emits before an error are valid.
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

// peek returns the token of the next page if it is available before the page is decoded: in
// protobuf it is at the start of the list.
func peek(a answer) string {
	if !protobuf(a) {
		return ""
	}
	return listMetaField(a, metaContinue)
}

// versionOf returns the resource version of a list, or "".
func versionOf(a answer) string {
	if protobuf(a) {
		return listMetaField(a, metaVersion)
	}
	var l struct {
		Metadata metav1.ListMeta `json:"metadata"`
	}
	_ = json.Unmarshal(a.body, &l) // the reader of the list reports the error
	return l.Metadata.ResourceVersion
}

// listMetaField returns a string field of a list's metadata in protobuf.
func listMetaField(a answer, want protowire.Number) string {
	raw, err := envelope(a.body)
	if err != nil {
		return ""
	}
	meta, err := firstField(raw, listMeta)
	if err != nil {
		return ""
	}
	text, err := firstField(meta, want)
	if err != nil {
		return ""
	}
	return string(text)
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
	return newObject(r, body, detail), nil
}

// hiddenTag is the tag of a field that no type has; it is as long as that of managedFields.
var hiddenTag = protowire.AppendTag(nil, 2000, protowire.BytesType)

// hideManagedFields changes raw: it renumbers the managed fields of an object, often half of its
// bytes, to a field that no type has and the decoder skips. The new tag is as long as the old one,
// so nothing moves.
func hideManagedFields(raw []byte) error {
	meta, err := firstField(raw, objectMeta)
	for err == nil && len(meta) > 0 {
		num, typ, n := protowire.ConsumeTag(meta)
		if n < 0 {
			return errTruncated
		}
		if num == managedFields && typ == protowire.BytesType && n == len(hiddenTag) {
			copy(meta, hiddenTag)
		}
		m := protowire.ConsumeFieldValue(num, typ, meta[n:])
		if m < 0 {
			return errTruncated
		}
		meta = meta[n+m:]
	}
	return err
}

// firstField returns the first length-delimited field of a number, or nil.
func firstField(b []byte, want protowire.Number) ([]byte, error) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errTruncated
		}
		if num == want && typ == protowire.BytesType {
			value, m := protowire.ConsumeBytes(b[n:])
			if m < 0 {
				return nil, errTruncated
			}
			return value, nil
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return nil, errTruncated
		}
		b = b[n+m:]
	}
	return nil, nil
}

// fields calls each for every length-delimited field of a message, with the bytes of its tag and of
// its value.
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
