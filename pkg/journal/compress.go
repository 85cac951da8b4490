package journal

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

const (
	// compressAbove is the size from which a document is compressed. Below it people can read
	// it where it is.
	compressAbove = 256 << 10
	// mostBytes is what an API server takes for the data of a ConfigMap, less what goes around it.
	mostBytes = 1000 << 10
	// mostDecompressed bounds what is unpacked: what somebody else put there may be anything.
	mostDecompressed = 64 << 20
)

// compress returns the same bytes for the same text.
func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out) // no name, no time
	_, err := w.Write(text)
	err = errors.Join(err, w.Close()) // which writes the rest
	return out.Bytes(), err
}

func decompress(zip []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zip))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, mostDecompressed+1))
	if len(text) > mostDecompressed {
		return nil, fmt.Errorf("it has more than %d bytes", mostDecompressed)
	}
	return text, err
}
