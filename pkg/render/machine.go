package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// asJSON writes the document. Machine formats end up on terminals too, so what a
// terminal would obey is escaped, in the way of JSON: a reader gets it back.
func asJSON(w io.Writer, a view.Answer, _ Options) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.Document); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(text.Bytes()))
	return err
}

// asYAML writes the document. YAML can escape no less than JSON, but its library
// does not offer it: a document that would bring an unsafe character to a
// terminal is written as JSON, which is YAML.
func asYAML(w io.Writer, a view.Answer, o Options) error {
	text, err := yaml.Marshal(a.Document)
	if err != nil {
		return err
	}
	if bytes.ContainsFunc(text, raw) {
		return asJSON(w, a, o)
	}
	_, err = w.Write(text)
	return err
}

// raw tells what is unsafe and no line end, which lays a document out.
func raw(r rune) bool { return r != '\n' && unsafe(r) }

// escapeJSON replaces what is unsafe in a JSON text, where it can only stand in
// strings, by \u escapes.
func escapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, raw) {
		return text
	}
	var out bytes.Buffer
	out.Grow(len(text) + 64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case !raw(r):
			out.Write(text[:n])
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out.Bytes()
}
