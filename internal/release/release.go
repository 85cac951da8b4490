// Package release makes what is published of the suite: an archive for each platform of
// plugins.yaml, a bill of materials of each, and checksums of all. Whoever has the same commit
// and the same Go gets the same bytes, wherever and whenever he builds.
//
// The words: a checkout is a folder under git; a source is the copy of its commit that is
// built; a binary is what was built of it for one platform; an artifact is a file that is
// published.
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

// Options say what is released, and how it is built.
type Options struct {
	// Suite is what plugins.yaml says; cmd/BINARY of the checkout is its main package, and
	// the variable Version of its internal/cli is set to the version.
	Suite suite.Suite
	// Version is a whole semantic version with a leading v.
	Version string
	// Root is the checkout. What is built is a copy of its commit.
	Root string
	// Out is the folder that is written; what an earlier release left there is replaced.
	Out string
	// Platforms are those of Suite if there are none.
	Platforms []suite.Platform
	// Epoch is the time that everything in archives has. Zero is the time of the commit.
	Epoch time.Time
	// AllowDirty builds the checkout as it is, with what is not committed. It need not be
	// under git then, if Epoch is given.
	AllowDirty bool
	// Cache is Go's build cache, an absolute path; "" is that of the user.
	Cache string
	// Work is where temporary folders are made, "" where the system has them.
	Work string
	// Jobs are how many compilers run side by side; 0 is one a processor.
	Jobs int
	// Log is told what is being done, a line a step.
	Log io.Writer
}

// Release is what was built.
type Release struct {
	Version string
	// Go is the version of the compiler, as in go1.26.1: others need the same one.
	Go string
	// Epoch is the time that everything in archives has, in UTC.
	Epoch time.Time
	// Artifacts are all files but the checksums, in the order of their names.
	Artifacts []Artifact
}

// Artifact is a file that is published.
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

// Build builds a release and writes it to the folder Out: archives, bills of materials
// (BillName) and Checksums. If it fails or ctx ends, Out stays as it was.
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

// buildAll makes the artifacts of all platforms, and their checksums.
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

// buildOne makes the archive of a platform and its bill of materials, in that order.
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
	beside := filepath.Join(out, BillName(o.Suite, o.Version, p))
	if err := os.WriteFile(beside, bill, 0o644); err != nil {
		return nil, err
	}
	var artifacts []Artifact
	for _, path := range []string{archive, beside} {
		sum, size, err := sumFile(path)
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, Artifact{Name: filepath.Base(path), Platform: p, SHA256: sum, Size: size})
	}
	return artifacts, nil
}

// contents are the files of an archive: they lie at its top, as krew takes them by default.
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
