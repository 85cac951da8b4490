package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

const bundleHint = "kubectl sysop catalog bundle writes one; copy it again, and compare sha256sum on both sides"

// bundleLayer reads a bundle: every file of it is held against its checksum. One without
// operators is no layer.
func (a *catalogues) bundleLayer(ctx context.Context, from catalogueSource) (*catalog.Catalogue, error) {
	f, err := a.reader(ctx, from)
	if err != nil {
		return nil, err
	}
	_, artifact, err := f.Catalogue(ctx, from.address)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the bundle %s: %w", fetch.Shown(from.address), err), bundleHint)
	}
	if artifact.Data == nil {
		return nil, hint.With(fmt.Errorf("read the bundle %s: it is a directory, and a bundle is one file", fetch.Shown(from.address)), "--catalog reads a directory")
	}
	a.notes = append(a.notes, artifact.Notes...)
	files, err := bundle.Open(artifact.Data, fetch.Limits{})
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the bundle %s: %w", fetch.Shown(from.address), err), bundleHint)
	}
	if a.system, err = fs.ReadFile(files, bundle.System); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the bundle %s: %w", fetch.Shown(from.address), err)
	}
	if _, err := fs.Stat(files, bundle.Entries); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // Merge leaves out a layer that is none.
	}
	entries, err := fs.Sub(files, bundle.Entries)
	if err != nil {
		return nil, fmt.Errorf("read the bundle %s: %w", fetch.Shown(from.address), err)
	}
	return layerOf(entries, fetch.Shown(from.address))
}

// near are the catalogues that are read without a network: where there is a bundle, those of
// the settings that are elsewhere are left out.
func (o *catalogueOptions) near(sources []catalogueSource) (inNamespace []catalogueSource, notes []string) {
	if !o.offline || o.bundle == "" {
		return sources, nil
	}
	for _, s := range sources {
		if strings.Contains(s.address, "://") {
			notes = append(notes, "the catalog "+fetch.Shown(s.address)+" of the settings is ignored: --offline with a bundle")
			continue
		}
		inNamespace = append(inNamespace, s)
	}
	return inNamespace, notes
}

// bundledSystem is the manifest of a bundle, and its name; empty if the command names what to
// install.
func (p *installPlan) bundledSystem() (text []byte, name string) {
	if p.o.file != "" || len(p.targets) > 0 {
		return nil, ""
	}
	return p.cats.system, p.o.bundle + ": " + bundle.System
}
