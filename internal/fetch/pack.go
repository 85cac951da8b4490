package fetch

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Pack writes files as a tar: the same files give the same bytes. Names are sorted, times are
// zero, the mode of each is 0644; directories are not written. What Unpack would refuse for its
// name is an error.
func Pack(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	u := &unpacker{tree: newTree(), folded: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		clean, err := archiveName(name)
		if err == nil && clean != name {
			err = fmt.Errorf("the name is not a plain path; expected %s", clean)
		}
		if err == nil {
			err = u.claim(name, false)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", plain(name), err)
		}
		u.tree.add(name, nil)
		header := &tar.Header{
			Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name])),
			ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", plain(name), err)
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, fmt.Errorf("pack %s: %w", plain(name), err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return out.Bytes(), nil
}
