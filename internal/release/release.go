// Package release builds a release of the suite: an archive for each platform of plugins.yaml, a
// bill of materials of each, and checksums of all. The same commit and the same Go give the same
// bytes on any machine at any time.
//
// Its terms: a checkout is a directory under git; a source is the copy of its commit that is built;
// a binary is what was built of it for one platform; an artifact is a published file.
package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// Options configure a release and its build.
type Options struct {
	// Suite is the content of plugins.yaml; cmd/BINARY of the checkout is its main package, and the
	// variable Version of its internal/cli is set to the version.
	Suite suite.Suite
	// Version is a complete semantic version with a leading v.
	Version string
	// Root is the checkout. The build uses a copy of its commit.
	Root string
	// Out is the output directory; an earlier release in it is replaced.
	Out string
	// Platforms default to those of Suite.
	Platforms []suite.Platform
	// Epoch is the time of everything in archives. Zero is the time of the commit.
	Epoch time.Time
	// AllowDirty builds the checkout with its uncommitted changes. It need not be under git then,
	// if Epoch is set.
	AllowDirty bool
	// Cache is Go's build cache, an absolute path; "" is the user's.
	Cache string
	// Work is the parent of temporary directories, "" is the system's.
	Work string
	// Jobs is the number of parallel compilers; 0 is the number of processors.
	Jobs int
	// Log receives a line for each step.
	Log io.Writer
}

// Release is what was built.
type Release struct {
	Version string
	// Go is the version of the compiler, as in go1.26.1: a reproduction needs the same one.
	Go string
	// Epoch is the time of everything in archives, in UTC.
	Epoch time.Time
	// Artifacts are all files except the checksums, ordered by name.
	Artifacts []Artifact
}

// Artifact is a published file.
type Artifact struct {
	Name     string
	Platform suite.Platform
	// SHA256 is in lower-case hexadecimal.
	SHA256 string
	// Size is in bytes.
	Size int64
}

// Checksums is the name of the file with the sums of all others.
const Checksums = "checksums.txt"

// Build builds a release into the directory Out: archives, bills of materials (BillName) and
// Checksums. If it fails or ctx ends, Out is unchanged.
func Build(ctx context.Context, o Options) (Release, error) {
	if err := suite.CheckVersion(o.Version); err != nil {
		return Release{}, err
	}
	if len(o.Platforms) == 0 {
		o.Platforms = o.Suite.Platforms
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if err := replaceable(o.Out); err != nil {
		return Release{}, err
	}
	work, err := os.MkdirTemp(o.Work, "sysop-release-")
	if err != nil {
		return Release{}, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	dir := filepath.Join(work, "source")
	o.Epoch, err = takeSource(ctx, o, dir)
	if err != nil {
		return Release{}, err
	}
	return stage(o.Out, func(out string) (Release, error) { return buildAll(ctx, o, dir, out) })
}

// buildAll builds the artifacts of all platforms, and their checksums.
func buildAll(ctx context.Context, o Options, dir, out string) (Release, error) {
	t, err := findToolchain(ctx, o, dir)
	if err != nil {
		return Release{}, err
	}
	r := Release{Version: o.Version, Go: t.version, Epoch: o.Epoch}
	for _, p := range o.Platforms {
		begin := time.Now()
		artifacts, err := buildOne(ctx, o, t, p, out)
		if err != nil {
			return Release{}, fmt.Errorf("%s: %w", p, err)
		}
		r.Artifacts = append(r.Artifacts, artifacts...)
		fmt.Fprintf(o.Log, "%-14s %s, %d bytes, %s\n", p, artifacts[0].Name, artifacts[0].Size, time.Since(begin).Round(time.Second))
	}
	slices.SortFunc(r.Artifacts, byName)
	return r, WriteChecksums(filepath.Join(out, Checksums), r.Artifacts)
}

// buildOne builds the archive of a platform and its bill of materials, in that order.
func buildOne(ctx context.Context, o Options, t toolchain, p suite.Platform, out string) ([]Artifact, error) {
	packages, err := t.packages(ctx, p)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(filepath.Dir(t.dir), "binary-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	executable := filepath.Join(work, o.Suite.Executable(p))
	if err := t.compile(ctx, p, executable); err != nil {
		return nil, err
	}
	binary, err := readBinary(executable, packages)
	if err != nil {
		return nil, err
	}
	licences, err := collect(t, binary)
	if err != nil {
		return nil, err
	}
	bill, err := writeBill(o, p, binary, licences)
	if err != nil {
		return nil, err
	}
	files, err := contents(o, t, p, executable, licences, bill)
	if err != nil {
		return nil, err
	}
	archive := filepath.Join(out, o.Suite.Archive(o.Version, p))
	if err := writeArchive(archive, files, o.Epoch); err != nil {
		return nil, err
	}
	billPath := filepath.Join(out, BillName(o.Suite, o.Version, p))
	if err := os.WriteFile(billPath, bill, 0o644); err != nil {
		return nil, err
	}
	var artifacts []Artifact
	for _, path := range []string{archive, billPath} {
		sum, size, err := sumFile(path)
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, Artifact{Name: filepath.Base(path), Platform: p, SHA256: sum, Size: size})
	}
	return artifacts, nil
}

// contents returns the files of an archive, all at its top level, as krew expects by default.
func contents(o Options, t toolchain, p suite.Platform, executable string, l []Licensed, bill []byte) ([]file, error) {
	binary, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: o.Suite.Executable(p), data: binary, executable: true},
		{name: "THIRD_PARTY_LICENSES", data: thirdParty(o, l)},
		{name: "sbom.cdx.json", data: bill},
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(t.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: every archive has one, and the checkout has none at its top", name)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: data})
	}
	return files, nil
}
