package journal

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

const (
	// compressAbove is the size from which a document is compressed. A smaller one stays
	// readable in the ConfigMap.
	compressAbove = 256 << 10
	// maxBytes is the size limit of the data of a ConfigMap, less some overhead.
	maxBytes = 1000 << 10
	// maxDecompressed limits the decompressed size: anyone with write access can change the
	// ConfigMap.
	maxDecompressed = 64 << 20
)

// compress is deterministic: equal texts give equal bytes.
func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out) // without name and time
	_, err := w.Write(text)
	err = errors.Join(err, w.Close()) // Close flushes
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
