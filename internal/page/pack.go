package page

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bytes become text 34 bits at a time: five symbols of 112, the lowest first. A symbol takes one byte:
// the first 93 are the visible characters of ASCII but <, so that nothing ends a script; each of the
// next 16 is one character of two bytes together with the symbol after it, and each of the last three
// one of three bytes together with the two after it. Text is 18 % longer than its bytes, where base64
// makes it a third. A symbol before all says how many bytes at the end are padding.
const (
	symbols   = 112
	blockSize = 5 // symbols
	blockBits = 34
	// The first symbol and the first character of pairs and of triples.
	pairs, pair     = 93, 0x100
	triples, triple = 109, 0x3400
	// The first character that is written in place of one of unseen.
	spare = 0xC0
)

// unseen are the characters of pairs that a text must not have, since they turn or hide what is
// beside them.
var unseen = []rune{0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x61C, 0x6DD, 0x70F}

// pack writes text as symbols of gzip.
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

func encode(b []byte) string {
	list := make([]int, 1, len(b)*8/blockBits*blockSize+2*blockSize)
	var queue uint64
	bits := 0
	block := func() {
		v := int(queue & (1<<blockBits - 1))
		for range blockSize {
			list, v = append(list, v%symbols), v/symbols
		}
		queue, bits = queue>>blockBits, bits-blockBits
	}
	for _, c := range b {
		queue |= uint64(c) << bits
		if bits += 8; bits >= blockBits {
			block()
		}
	}
	if bits > 0 {
		list[0] = (blockBits - bits) / 8
		block()
	}
	var out strings.Builder
	for i := 0; i < len(list); i++ {
		next := func() int {
			if i++; i < len(list) {
				return list[i]
			}
			return 0
		}
		switch v := list[i]; {
		case v >= triples:
			out.WriteRune(rune(triple + ((v-triples)*symbols+next())*symbols + next()))
		case v >= pairs:
			c := rune(pair + (v-pairs)*symbols + next())
			if at := slices.Index(unseen, c); at >= 0 {
				c = rune(spare + at)
			}
			out.WriteRune(c)
		case v >= '<'-'!':
			out.WriteByte(byte('!' + v + 1))
		default:
			out.WriteByte(byte('!' + v))
		}
	}
	return out.String()
}

func decode(text string) ([]byte, error) {
	list := make([]int, 0, len(text))
	for _, c := range text {
		v := int(c)
		if v >= spare && v < spare+len(unseen) {
			v = int(unseen[v-spare])
		}
		switch {
		case v >= '!' && v < '<':
			list = append(list, v-'!')
		case v > '<' && v <= '~':
			list = append(list, v-'!'-1)
		case v >= pair && v < pair+(triples-pairs)*symbols:
			v -= pair
			list = append(list, pairs+v/symbols, v%symbols)
		case v >= triple && v < triple+(symbols-triples)*symbols*symbols:
			v -= triple
			list = append(list, triples+v/symbols/symbols, v/symbols%symbols, v%symbols)
		default:
			return nil, fmt.Errorf("%q is no symbol of a packed text", c)
		}
	}
	var out []byte
	var queue uint64
	bits := 0
	for i := 1; i+blockSize <= len(list); i += blockSize {
		v := 0
		for k := range blockSize {
			v = v*symbols + list[i+blockSize-1-k]
		}
		queue |= uint64(v) << bits
		for bits += blockBits; bits > 7; bits -= 8 {
			out, queue = append(out, byte(queue)), queue>>8
		}
	}
	if len(list) == 0 || list[0] > len(out) {
		return nil, errors.New("the packed text is cut off")
	}
	return out[:len(out)-list[0]], nil
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
