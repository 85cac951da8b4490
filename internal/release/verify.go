package release

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// Compared is an artifact that was built twice.
type Compared struct {
	Name string
	// First and Second are SHA-256 sums, empty if there is no such artifact.
	First, Second string
	// Size is that of the second in bytes.
	Size int64
}

// Same reports whether both exist and are equal.
func (c Compared) Same() bool { return c.First != "" && c.First == c.Second }

// Verify builds a release and compares it with published sums, by name (ReadChecksums). Without
// them it builds twice, a platform after the other: with the build cache of the options, and then
// in another directory, with a path of another length, and an empty cache of its own. It does not
// write Out.
func Verify(ctx context.Context, o Options, published map[string]string) ([]Compared, error) {
	work, err := os.MkdirTemp(o.Work, "sysop-verify-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if len(o.Platforms) == 0 {
		o.Platforms = o.Suite.Platforms
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if published != nil {
		o.Out = filepath.Join(work, "dist")
		again, err := Build(ctx, o)
		if err != nil {
			return nil, err
		}
		return compare(chosen(o, published), again), nil
	}
	var all []Compared
	for _, p := range o.Platforms {
		o.Platforms = []suite.Platform{p}
		rows, err := twice(ctx, o, work)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			fmt.Fprintf(o.Log, "%-14s %s: %s, then %s\n", p, row.Name, row.First, row.Second)
		}
		all = append(all, rows...)
	}
	slices.SortFunc(all, func(a, b Compared) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// twice builds one platform two times. It frees its disk space, about two gigabytes, before the
// next.
func twice(ctx context.Context, o Options, work string) ([]Compared, error) {
	o.Out = filepath.Join(work, "first")
	defer func() { _ = os.RemoveAll(o.Out) }()
	first, err := Build(ctx, o)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, a := range first.Artifacts {
		sums[a.Name] = a.SHA256
	}
	again := o
	again.Work = filepath.Join(work, "a-directory-whose-path-is-of-another-length")
	defer func() { _ = os.RemoveAll(again.Work) }()
	again.Cache, again.Out = filepath.Join(again.Work, "cache"), filepath.Join(again.Work, "second")
	if err := os.Mkdir(again.Work, 0o755); err != nil {
		return nil, err
	}
	second, err := Build(ctx, again)
	if err != nil {
		return nil, err
	}
	return compare(sums, second), nil
}

// chosen returns the published sums of the platforms that are built.
func chosen(o Options, published map[string]string) map[string]string {
	sums := maps.Clone(published)
	for _, p := range o.Suite.Platforms {
		if !slices.Contains(o.Platforms, p) {
			delete(sums, o.Suite.Archive(o.Version, p))
			delete(sums, BillName(o.Suite, o.Version, p))
		}
	}
	return sums
}

func compare(first map[string]string, second Release) []Compared {
	rows := map[string]Compared{}
	for name, sum := range first {
		rows[name] = Compared{Name: name, First: sum}
	}
	for _, a := range second.Artifacts {
		rows[a.Name] = Compared{Name: a.Name, First: first[a.Name], Second: a.SHA256, Size: a.Size}
	}
	var all []Compared
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[name])
	}
	return all
}
