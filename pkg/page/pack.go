package page

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// digits are those of the base 85: four bytes are five digits, where base64 takes almost five and a
// half. None of them means anything in HTML.
const digits = "!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{}"

// pack writes text as digits of gzip.
func pack(text []byte) (string, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return encode(out.Bytes()), nil
}

// encode writes bytes as digits, the most significant first. Of fewer than four bytes at the end,
// it writes one digit more than there are bytes.
func encode(b []byte) string {
	out := make([]byte, 0, len(b)/4*5+5)
	for len(b) > 0 {
		var group [4]byte
		n := copy(group[:], b)
		b = b[n:]
		v := uint32(group[0])<<24 | uint32(group[1])<<16 | uint32(group[2])<<8 | uint32(group[3])
		var five [5]byte
		for i := 4; i >= 0; i-- {
			five[i] = digits[v%85]
			v /= 85
		}
		out = append(out, five[:n+1]...)
	}
	return string(out)
}

func decode(text string) ([]byte, error) {
	out := make([]byte, 0, len(text)/5*4+4)
	for len(text) > 0 {
		n := min(5, len(text))
		var v uint32
		for i := range 5 {
			d := 84 // as if the number went on, so that what is cut off does not count
			if i < n {
				if d = strings.IndexByte(digits, text[i]); d < 0 {
					return nil, fmt.Errorf("%q is no digit", text[i])
				}
			}
			v = v*85 + uint32(d)
		}
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n-1]...)
		text = text[n:]
	}
	return out, nil
}

// Unpack returns the Picture that a file has in it, as JSON: the file is for people, and this for
// programs that get one.
func Unpack(file []byte) ([]byte, error) { return unpack(file, "picture") }

func unpack(file []byte, id string) ([]byte, error) {
	_, rest, found := bytes.Cut(file, []byte(`<script type="text/plain" id="`+id+`">`))
	text, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !found || !ended {
		return nil, errors.New("this is no page that was written as a file")
	}
	packed, err := decode(string(text))
	if err != nil {
		return nil, fmt.Errorf("unpack the %s: %w", id, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the %s: %w", id, err)
	}
	return io.ReadAll(r)
}
