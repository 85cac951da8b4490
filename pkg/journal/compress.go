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
	// maxBytes is what an API server takes for the data of a ConfigMap, less what goes around it.
	maxBytes = 1000 << 10
	// maxDecompressed bounds what is unpacked: what somebody else put there may be anything.
	maxDecompressed = 64 << 20
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
	text, err := io.ReadAll(io.LimitReader(r, maxDecompressed+1))
	if len(text) > maxDecompressed {
		return nil, fmt.Errorf("it has more than %d bytes", maxDecompressed)
	}
	return text, err
}
