package release

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Compared is an artifact that was made twice.
type Compared struct {
	Name string
	// First and Second are SHA-256 sums, empty where there is no such artifact.
	First, Second string
	// Size is that of the second in bytes.
	Size int64
}

// Same says whether both are there and equal bit for bit.
func (c Compared) Same() bool { return c.First != "" && c.First == c.Second }

// Verify builds a release and compares it with published sums, by names (ReadChecksums).
// Without them it builds twice: with the build cache of the options, and then from another
// folder, whose path has another length, with a cache of its own that is empty. Out is not
// written.
func Verify(ctx context.Context, o Options, published map[string]string) ([]Compared, error) {
	work, err := os.MkdirTemp(o.Work, "sysop-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	first := published
	second := o
	if first == nil {
		o.Out = filepath.Join(work, "first")
		r, err := Build(ctx, o)
		if err != nil {
			return nil, err
		}
		first = map[string]string{}
		for _, a := range r.Artifacts {
			first[a.Name] = a.SHA256
		}
		second.Cache = filepath.Join(work, "cache")
		second.Work = filepath.Join(work, "a-folder-whose-path-is-of-another-length")
		if err := os.Mkdir(second.Work, 0o755); err != nil {
			return nil, err
		}
	}
	second.Out = filepath.Join(work, "second")
	r, err := Build(ctx, second)
	if err != nil {
		return nil, err
	}
	rows := map[string]Compared{}
	for name, sum := range first {
		rows[name] = Compared{Name: name, First: sum}
	}
	for _, a := range r.Artifacts {
		rows[a.Name] = Compared{Name: a.Name, First: first[a.Name], Second: a.SHA256, Size: a.Size}
	}
	var all []Compared
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[name])
	}
	return all, nil
}
