package page

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// digits are those of basE91: two of them are 13 or 14 bits, so that text is 23 % longer than its
// bytes, where base64 makes it a third. None ends a script or a string.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%()*+,-./:;=?@[]^_{|}~&>\"`"

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

// encode writes bytes as digits, the lowest bits first: pairs of 14 bits where these are small
// enough for two digits, else of 13.
func encode(b []byte) string {
	out := make([]byte, 0, len(b)*16/13+2)
	var queue, bits uint32
	for _, c := range b {
		queue |= uint32(c) << bits
		if bits += 8; bits <= 13 {
			continue
		}
		v, n := queue&(1<<13-1), uint32(13)
		if v <= 88 {
			v, n = queue&(1<<14-1), 14
		}
		queue, bits = queue>>n, bits-n
		out = append(out, digits[v%91], digits[v/91])
	}
	if bits > 0 {
		out = append(out, digits[queue%91])
		if bits > 7 || queue > 90 {
			out = append(out, digits[queue/91])
		}
	}
	return string(out)
}

func decode(text string) ([]byte, error) {
	out := make([]byte, 0, len(text)*14/16+1)
	var queue, bits uint32
	for len(text) > 0 {
		var v uint32
		for i := range min(2, len(text)) {
			d := strings.IndexByte(digits, text[i])
			if d < 0 {
				return nil, fmt.Errorf("%q is not a digit", text[i])
			}
			v += uint32(d) * []uint32{1, 91}[i]
		}
		queue |= v << bits
		if len(text) == 1 {
			return append(out, byte(queue)), nil
		}
		bits += 13
		if v&(1<<13-1) <= 88 {
			bits++
		}
		for ; bits > 7; bits -= 8 {
			out, queue = append(out, byte(queue)), queue>>8
		}
		text = text[2:]
	}
	return out, nil
}

// Unpack returns the UIState that a file has in it, as JSON: the file is for people, and this for
// programs that get one.
func Unpack(file []byte) ([]byte, error) { return unpack(file, "picture") }

func unpack(file []byte, id string) ([]byte, error) {
	_, rest, found := bytes.Cut(file, []byte(`<script type="text/plain" id="`+id+`">`))
	text, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !found || !ended {
		return nil, errors.New("this is not a page that was saved as a file")
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
