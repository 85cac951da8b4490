package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"
)

const (
	documentKey   = "journal.json"
	compressedKey = "journal.json.gz"
)

// Header has the apiVersion and kind of a stored document.
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Format defines how documents of a type are stored.
type Format[T any] struct {
	Header
	// New makes the document that Load returns where none is stored.
	New func() *T
	// Revision returns the Revision that the document embeds.
	Revision func(*T) *Revision
	// Inline returns a pointer to a struct that has the fields of both.
	Inline func(Header, *T) any
	// Valid returns an error for a stored document that cannot be acted on: it may have been
	// edited.
	Valid func(*T) error
	// Open returns what was started, for the error message when the rest of the document cannot
	// be read: the user has to fix it by hand.
	Open string
	// Pending reports whether a document has something to act on. It is nil where the caller
	// lists each use of the document and prompts for it.
	Pending func(*T) bool
	// Summary returns text for people, by keys, stored next to the document; it may be nil.
	Summary func(*T) map[string]string
	// TooLarge returns advice for a document that does not fit; it may be nil.
	TooLarge func(*T) string
}

// Encode returns the unsigned ConfigMap of a document: the same bytes for the same document.
func (f Format[T]) Encode(d *T) (*corev1.ConfigMap, error) {
	o, _, err := f.encode(d)
	return o, err
}

// encode is Encode, and also returns the text of the document.
func (f Format[T]) encode(d *T) (*corev1.ConfigMap, []byte, error) {
	text, err := json.Marshal(f.Inline(f.Header, d))
	if err != nil {
		return nil, nil, err
	}
	o := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{}}
	extra := 0
	if f.Summary != nil {
		maps.Copy(o.Data, f.Summary(d))
	}
	for k, v := range o.Data {
		extra += len(k) + len(v)
	}
	stored := text
	if len(text) > compressAbove {
		if stored, err = compress(text); err != nil {
			return nil, nil, err
		}
		o.BinaryData = map[string][]byte{compressedKey: stored}
	} else {
		o.Data[documentKey] = string(text)
	}
	if len(stored)+extra > maxBytes {
		err := fmt.Errorf("it has %d bytes, %d compressed, and a ConfigMap holds %d", len(text), len(stored), maxBytes)
		if f.TooLarge != nil {
			err = fmt.Errorf("%w: %s", err, f.TooLarge(d))
		}
		return nil, nil, err
	}
	return o, text, nil
}

// Decode reads a document. An unknown field is an error: a newer version wrote it, and the next
// write would lose it.
func (f Format[T]) Decode(o *corev1.ConfigMap) (*T, error) {
	text, err := textOf(o)
	if err != nil {
		return nil, err
	}
	return f.parse(text)
}

func (f Format[T]) parse(text []byte) (*T, error) {
	var head Header
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head != f.Header {
		return nil, fmt.Errorf("it is a %q of %q, not %s of %s: it is of another version of kubectl sysop", head.Kind, head.APIVersion, f.Kind, f.APIVersion)
	}
	d := new(T)
	wrong, err := sigsjson.UnmarshalStrict(text, f.Inline(Header{}, d)) // strict, and integers stay int64 as in objects
	switch {
	case err != nil:
		return nil, err
	case len(wrong) > 0:
		return nil, fmt.Errorf("%w: it may be of a newer version of kubectl sysop", errors.Join(wrong...))
	}
	return d, f.Valid(d)
}

// textOf returns the text of the document as it was written.
func textOf(o *corev1.ConfigMap) ([]byte, error) {
	plain := o.Data[documentKey]
	zip, ok := o.BinaryData[compressedKey]
	switch {
	case ok && plain != "":
		return nil, fmt.Errorf("it has both %s and %s", documentKey, compressedKey)
	case ok:
		text, err := decompress(zip)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", compressedKey, err)
		}
		return text, nil
	case plain == "":
		return nil, fmt.Errorf("it has no %s", documentKey)
	}
	return []byte(plain), nil
}

// isShell reports a journal into which nothing was ever written: older versions created it empty
// first, and could be killed before the first write.
func isShell(o *corev1.ConfigMap) bool { return len(o.Data) == 0 && len(o.BinaryData) == 0 }

func sameDocument(a, b *corev1.ConfigMap) bool {
	return a.Data[documentKey] == b.Data[documentKey] && a.Data[macKey] == b.Data[macKey] && bytes.Equal(a.BinaryData[compressedKey], b.BinaryData[compressedKey])
}
