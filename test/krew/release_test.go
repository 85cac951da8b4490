package krew_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
	"github.com/kubectl-sysop/kubectl-sysop/internal/release"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// published is a version as a server has it, for this platform alone.
type published struct {
	sums krew.Sums
}

// release builds a version of the checkout as it is, as "make release" does.
func (w world) release(ctx context.Context, version string) (published, error) {
	out := filepath.Join(w.archives, version)
	r, err := release.Build(ctx, release.Options{
		Suite: w.suite, Version: version, Root: "../..", Out: out,
		Platforms: []suite.Platform{w.host}, AllowDirty: true, Log: os.Stderr,
	})
	if err != nil {
		return published{}, err
	}
	p := published{krew.Sums{}}
	for _, a := range r.Artifacts {
		p.sums[a.Name] = a.SHA256
	}
	return p, nil
}
