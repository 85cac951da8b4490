// Package bundle writes and opens a system.tar: all that a System is installed from without a
// network. Its files are catalog/ (entries, whose sources are by path, and next to them the
// charts and manifests that they name), system.yaml, images.txt and sbom.cdx.json;
// checksums.txt has the sha256 of each of them.
package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

// Names of files in a bundle.
const (
	Checksums = "checksums.txt"
	System    = "system.yaml"
	Images    = "images.txt"
	SBOM      = "sbom.cdx.json"
	// Entries is the directory of the entries, and of what they name by path.
	Entries = "catalog"
)

// Write returns the tar of files by their names, with their checksums added: the same files
// give the same bytes. It is an error where a name is no plain path, or is Checksums.
func Write(files map[string][]byte) ([]byte, error) {
	if _, ours := files[Checksums]; ours {
		return nil, fmt.Errorf("write bundle: %s is written by the bundle itself", Checksums)
	}
	all := maps.Clone(files)
	if all == nil {
		all = map[string][]byte{}
	}
	var sums bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%s  %s\n", strings.TrimPrefix(fetch.Digest(files[name]), "sha256:"), name)
	}
	all[Checksums] = sums.Bytes()
	packed, err := fetch.Pack(all)
	if err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	return packed, nil
}

// Open unpacks a bundle and holds every file against its checksum: one that is missing, is
// not named or is another is an error. What is returned is Options.Local of a Fetcher.
func Open(archive []byte, limits fetch.Limits) (fs.FS, error) {
	files, err := fetch.Unpack(archive, limits)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	sums, err := readSums(files)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == Checksums {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		want, named := sums[name]
		if got := fetch.Digest(data); !named || got != want {
			return fmt.Errorf("%s is %s, and %s says %s: the bundle was changed or is damaged", name, got, Checksums, cmp.Or(want, "nothing"))
		}
		delete(sums, name)
		return nil
	})
	if err == nil && len(sums) > 0 {
		err = fmt.Errorf("%s, which %s lists, is missing", slices.Sorted(maps.Keys(sums))[0], Checksums)
	}
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	return files, nil
}

// readSums reads what sha256sum writes.
func readSums(files fs.FS) (map[string]string, error) {
	text, err := fs.ReadFile(files, Checksums)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it has no %s: is it a bundle?", Checksums)
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if _, twice := out[name]; twice || !ok || len(sum) != 64 || !fs.ValidPath(name) {
			return nil, fmt.Errorf("%s, line %d: expected a sha256, two spaces and a name that occurs once", Checksums, n)
		}
		out[name] = "sha256:" + sum
	}
	return out, lines.Err()
}
