package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// asJSON writes the document, piece by piece. It escapes the characters that a terminal obeys as
// JSON does: a reader decodes them.
func asJSON(w io.Writer, a view.Output, _ Options) error {
	to := bufio.NewWriterSize(w, 64<<10)
	if err := pieces(a.Document, func(piece []byte) error {
		_, err := to.Write(escapeStrings(piece, surrogates))
		return err
	}); err != nil {
		return err
	}
	return to.Flush()
}

// asYAML writes the document. YAML could escape as JSON does, but its library
// does not offer that, and refuses some characters altogether: a document that
// holds any of them is written as JSON, which is YAML. Only what is beyond U+FFFF
// is then escaped as YAML has it: its readers refuse surrogates.
func asYAML(w io.Writer, a view.Output, _ Options) error {
	text, err := marshal(a)
	if err != nil {
		return err
	}
	if !bytes.ContainsFunc(text, raw) {
		lines, err := strict.YAML(text)
		if err != nil {
			return err
		}
		if !bytes.ContainsFunc(lines, raw) {
			text = lines
		}
	}
	_, err = w.Write(escapeStrings(text, eightDigits))
	return err
}

func marshal(a view.Output) ([]byte, error) {
	var text bytes.Buffer
	err := pieces(a.Document, func(piece []byte) error {
		_, err := text.Write(piece)
		return err
	})
	return text.Bytes(), err
}

// raw tells what is unsafe and no line end, which lays a document out.
func raw(r rune) bool { return r != '\n' && unsafe(r) }

// escapeStrings replaces what is unsafe in a JSON text, where it can only stand
// in strings. beyond escapes what does not fit into four digits.
func escapeStrings(text []byte, escapeWide func(rune) string) []byte {
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
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteString(escapeWide(r))
		}
		text = text[n:]
	}
	return out.Bytes()
}

func surrogates(r rune) string {
	high, low := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low)
}

func eightDigits(r rune) string { return fmt.Sprintf(`\U%08x`, r) }
