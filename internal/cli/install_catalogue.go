package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// catalogueOptions say which catalogues are read, and what is taken from where.
type catalogueOptions struct {
	catalogs   []string
	key        string
	keyring    string
	offline    bool
	bundle     string
	unverified bool
	plainHTTP  bool
}

func (o *catalogueOptions) catalogueFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.catalogs, "catalog", nil, "another catalog: a directory, a .tar or .tgz, or an http(s) or OCI address; may be repeated")
	f.StringVar(&o.key, "key", "", "the public key (PEM) that other catalogs must be signed with")
	f.StringVar(&o.keyring, "keyring", "", "public keys (OpenPGP) that charts with provenance must be signed with")
	f.BoolVar(&o.offline, "offline", false, "use only the bundle and the cache; send requests to the cluster only")
	f.StringVar(&o.bundle, "bundle", "", "take the catalog, charts and manifests from a bundle of catalog bundle")
	f.BoolVar(&o.unverified, "unverified", false, "also fetch artifacts without a digest in the catalog")
	f.BoolVar(&o.plainHTTP, "plain-http", false, "use registries without TLS")
}

// findingFlags are of commands that take from catalogues only where an operator is.
func (o *catalogueOptions) findingFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.catalogs, "catalog", nil, "another catalog that says where an operator is: a directory, a .tar or .tgz, or an http(s) or OCI address; may be repeated")
	f.StringVar(&o.key, "key", "", "the public key (PEM) that other catalogs must be signed with")
}

// catalogues holds the loaded catalogues and fetches their artifacts.
type catalogues struct {
	*catalog.Catalogue
	options fetch.Options
	// notes are shown to users: what was fetched.
	notes []string
	// system is the manifest that the bundle carries.
	system []byte
}

// load reads the embedded catalogue, those of the settings, those of --catalog and the
// bundle, in this order: a later one has the last word on an entry. Nothing else is fetched.
func (o *catalogueOptions) load(ctx context.Context, c *common) (*catalogues, error) {
	return o.loadBut(ctx, c, func(_ catalogueSource, err error) error { return err })
}

// catalogued reads the same, to know of operators by their names: those of the settings that
// cannot be read now are left out, and said on standard error. What was installed has to be
// found without them.
func (o *catalogueOptions) catalogued(ctx context.Context, c *common) (*catalogues, error) {
	return o.loadBut(ctx, c, func(from catalogueSource, err error) error {
		if slices.Contains(o.catalogs, from.address) {
			return err
		}
		fmt.Fprintf(c.env.ErrOut, "note: the catalog %s of the settings is ignored: %s\n", safe(from.address), safe(err.Error()))
		return nil
	})
}

// loadBut reads the catalogues; failed decides what becomes of one that cannot be read, and
// leaves it out by nil.
func (o *catalogueOptions) loadBut(ctx context.Context, c *common, failed func(catalogueSource, error) error) (*catalogues, error) {
	s, err := c.readSettings(ctx)
	if err != nil {
		return nil, err
	}
	sources, notes := o.near(s.catalogues)
	for _, address := range o.catalogs {
		sources = append(sources, catalogueSource{address: address, key: o.key})
	}
	all := &catalogues{Catalogue: catalog.Embedded(), notes: notes}
	if all.options, err = o.fetching(c); err != nil {
		return nil, err
	}
	for _, from := range sources {
		layer, err := all.layer(ctx, from)
		switch {
		case err == nil:
			all.Catalogue = catalog.Merge(all.Catalogue, layer)
		case ctx.Err() != nil:
			return nil, err
		default:
			if err := failed(from, err); err != nil {
				return nil, err
			}
		}
	}
	if o.bundle == "" {
		return all, nil
	}
	layer, err := all.bundleLayer(ctx, catalogueSource{address: o.bundle, key: o.key})
	if err != nil {
		return nil, err
	}
	all.Catalogue = catalog.Merge(all.Catalogue, layer)
	return all, nil
}

// further says whether other catalogues than the usual ones are named.
func (o *catalogueOptions) further() bool { return len(o.catalogs) > 0 || o.bundle != "" }

// fetching is how what the catalogue names is fetched.
func (o *catalogueOptions) fetching(c *common) (fetch.Options, error) {
	cache, err := cacheFolder(c.env.Getenv)
	if err != nil {
		return fetch.Options{}, err
	}
	return fetch.Options{
		Cache: cache, Offline: o.offline, Unverified: o.unverified, PlainHTTP: o.plainHTTP, Keyring: o.keyring,
		UserAgent: "kubectl-sysop/" + buildVersion(),
	}, nil
}

// maxKeyBytes is more than any file of public keys has.
const maxKeyBytes = 1 << 20

// reader fetches a further catalogue, by the key that it is signed with.
func (a *catalogues) reader(ctx context.Context, from catalogueSource) (*fetch.Fetcher, error) {
	options := a.options
	if from.key != "" {
		key, err := app.ReadFile(ctx, from.key, maxKeyBytes, "public key")
		if err != nil {
			return nil, fmt.Errorf("read the key of the catalog %s: %w", fetch.Shown(from.address), err)
		}
		options.Key, options.Name = key, from.name
	}
	return fetch.New(options)
}

// layer reads one further catalogue.
func (a *catalogues) layer(ctx context.Context, from catalogueSource) (*catalog.Catalogue, error) {
	f, err := a.reader(ctx, from)
	if err != nil {
		return nil, err
	}
	files, artifact, err := f.Catalogue(ctx, from.address)
	if err != nil {
		return nil, err
	}
	a.notes = append(a.notes, artifact.Notes...)
	return layerOf(files, fetch.Shown(from.address))
}

// layerOf reads the entries of a layer: any problem refuses it.
func layerOf(files fs.FS, address string) (*catalog.Catalogue, error) {
	layer, problems, err := catalog.Load(files, address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the catalog %s: %w", address, err)
	case len(problems) > 0:
		lines := &hint.Lines{}
		for _, p := range problems {
			lines.Lines = append(lines.Lines, p.String())
		}
		return nil, hint.With(lines, "kubectl sysop catalog validate "+address+" checks it; docs/catalog.md is the format")
	}
	return layer, nil
}

// fetcher fetches for an entry: its files by path are those of its own catalogue.
func (a *catalogues) fetcher(name string) (*fetch.Fetcher, error) {
	options := a.options
	if files, ok := a.Files(name); ok {
		options.Local = files
	}
	return fetch.New(options)
}

// entry finds an entry that can be installed.
func (a *catalogues) entry(name string) (catalog.Entry, error) {
	e, ok := a.Find(name)
	switch {
	case !ok:
		return e, hint.With(fmt.Errorf("the catalog has no operator %q%s", name, object.DidYouMean(a.Nearest(name))), "kubectl sysop catalog list shows them; --catalog adds another catalog")
	case len(e.Versions) == 0:
		return e, hint.With(fmt.Errorf("the catalog describes %s, but no way to install it", e), "docs/catalog.md describes how to add one; kubectl sysop catalog list --installable shows the others")
	}
	return e, nil
}

// cacheFolder is where what was fetched is kept.
func cacheFolder(getenv func(string) string) (string, error) {
	if dir := getenv("KUBECTL_SYSOP_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a directory for the cache: %w; set KUBECTL_SYSOP_CACHE", err)
	}
	return filepath.Join(dir, "kubectl-sysop", "fetched"), nil
}
