// Package catalogs loads the operator catalogs of a user: the embedded one, those of the settings,
// those that a command names, and that of a bundle, merged in this order, so that a later one
// replaces an entry of an earlier one. It fetches the artifacts of entries, and compares versions
// with those that their sources publish.
package catalogs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Options say which catalogs are read, and how artifacts are fetched and verified.
type Options struct {
	Addresses []string // of further catalogs: directories, archives, http(s) or OCI addresses
	Key       string   // a file with the public key that they must be signed with; empty for none
	Keyring   string   // a file with the public keys of charts with provenance
	Offline   bool     // no request is sent
	Bundle    string   // a bundle that has its own catalog; empty for none
	// Unverified fetches artifacts without a digest as well, and PlainHTTP uses registries without
	// TLS.
	Unverified, PlainHTTP bool

	UserAgent string
	Getenv    func(string) string
	Transport http.RoundTripper // sends the requests; nil for the default
}

// ShellFlags are the flags that say which further catalogs are read, quoted for a shell.
func (o *Options) ShellFlags() string {
	var out strings.Builder
	for _, address := range o.Addresses {
		out.WriteString(ShellFlag("catalog", address))
	}
	if o.Key != "" {
		out.WriteString(ShellFlag("key", o.Key))
	}
	return out.String()
}

// ShellFlag is a flag with a blank in front, quoted for a shell.
func ShellFlag(name, value string) string {
	return fmt.Sprintf(" --%s='%s'", name, strings.ReplaceAll(value, "'", `'\''`))
}

// Source is the address of a further catalog.
type Source struct {
	// Address is a directory, a .tar or .tgz, or an http(s) or OCI address of one.
	Address string `json:"address" read:"place,required"`
	// Key is a file with the public key that it must be signed with; empty for none.
	Key string `json:"key" read:"place"`
	// Name is the name that a signed catalog must have; empty for any.
	Name string `json:"name"`
}

// Catalogs are the merged catalogs.
type Catalogs struct {
	*catalog.Catalogue
	Options Options
	Notes   []string // about what was fetched
	System  []byte   // the manifest of a System in the bundle; nil for none
	fetch   fetch.Options
}

// Load reads all catalogs. A catalog that cannot be read is an error, unless skip returns nil for
// it; skip may be nil.
func Load(ctx context.Context, o Options, skip func(Source, error) error) (*Catalogs, error) {
	named, err := readSettings(ctx, o.Getenv)
	if err != nil {
		return nil, err
	}
	sources, notes := o.local(named)
	for _, address := range o.Addresses {
		sources = append(sources, Source{Address: address, Key: o.Key})
	}
	cache, err := cacheFolder(o.Getenv)
	if err != nil {
		return nil, err
	}
	all := &Catalogs{Catalogue: catalog.Embedded(), Options: o, Notes: notes, fetch: fetch.Options{
		Cache: cache, Offline: o.Offline, Unverified: o.Unverified, PlainHTTP: o.PlainHTTP, Keyring: o.Keyring, UserAgent: o.UserAgent, Transport: o.Transport,
	}}
	for _, from := range sources {
		layer, err := all.layer(ctx, from)
		if err != nil && ctx.Err() == nil && skip != nil {
			err = skip(from, err)
		}
		if err != nil {
			return nil, err
		}
		all.Catalogue = catalog.Merge(all.Catalogue, layer)
	}
	if o.Bundle == "" {
		return all, nil
	}
	layer, err := all.bundleLayer(ctx, Source{Address: o.Bundle, Key: o.Key})
	if err != nil {
		return nil, err
	}
	all.Catalogue = catalog.Merge(all.Catalogue, layer)
	return all, nil
}

// LoadSkipping reads the same, but leaves out a catalog of the settings that cannot be read, and
// passes a note about it: commands must find what was installed without it.
func LoadSkipping(ctx context.Context, o Options, note func(string)) (*Catalogs, error) {
	return Load(ctx, o, func(from Source, err error) error {
		if slices.Contains(o.Addresses, from.Address) {
			return err
		}
		note(fmt.Sprintf("the catalog %s of the settings is ignored: %s", from.Address, err))
		return nil
	})
}

// local leaves out the catalogs of the settings that need a network, if a bundle is used offline.
func (o *Options) local(sources []Source) (local []Source, notes []string) {
	if !o.Offline || o.Bundle == "" {
		return sources, nil
	}
	for _, s := range sources {
		if strings.Contains(s.Address, "://") {
			notes = append(notes, "the catalog "+fetch.Shown(s.Address)+" of the settings is ignored: --offline with a bundle")
			continue
		}
		local = append(local, s)
	}
	return local, notes
}

// maxKeyBytes is above the size of any file of public keys.
const maxKeyBytes = 1 << 20

// reader fetches a further catalog with its key.
func (a *Catalogs) reader(ctx context.Context, from Source) (*fetch.Fetcher, error) {
	options := a.fetch
	if from.Key != "" {
		key, err := userfile.Read(ctx, from.Key, maxKeyBytes, "public key")
		if err != nil {
			return nil, fmt.Errorf("read the key of the catalog %s: %w", fetch.Shown(from.Address), err)
		}
		options.Key, options.Name = key, from.Name
	}
	return fetch.New(options)
}

// layer reads one further catalog.
func (a *Catalogs) layer(ctx context.Context, from Source) (*catalog.Catalogue, error) {
	f, err := a.reader(ctx, from)
	if err != nil {
		return nil, err
	}
	files, artifact, err := f.Catalogue(ctx, from.Address)
	if err != nil {
		return nil, err
	}
	a.Notes = append(a.Notes, artifact.Notes...)
	return parseLayer(files, fetch.Shown(from.Address))
}

// parseLayer parses the entries of a layer. Any problem refuses it.
func parseLayer(files fs.FS, address string) (*catalog.Catalogue, error) {
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

const bundleHint = "kubectl sysop catalog bundle writes one; copy it again, and compare sha256sum on both sides"

// bundleLayer reads a bundle, and verifies each of its files by the checksum; nil for a bundle
// without operators.
func (a *Catalogs) bundleLayer(ctx context.Context, from Source) (*catalog.Catalogue, error) {
	refused := func(err error, help string) (*catalog.Catalogue, error) {
		err = fmt.Errorf("read the bundle %s: %w", fetch.Shown(from.Address), err)
		if help != "" {
			err = hint.With(err, help)
		}
		return nil, err
	}
	f, err := a.reader(ctx, from)
	if err != nil {
		return nil, err
	}
	_, artifact, err := f.Catalogue(ctx, from.Address)
	if err != nil {
		return refused(err, bundleHint)
	}
	if artifact.Data == nil {
		return refused(errors.New("it is a directory, and a bundle is one file"), "--catalog reads a directory")
	}
	a.Notes = append(a.Notes, artifact.Notes...)
	files, err := bundle.Open(artifact.Data, fetch.Limits{})
	if err != nil {
		return refused(err, bundleHint)
	}
	if a.System, err = fs.ReadFile(files, bundle.System); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refused(err, "")
	}
	if _, err := fs.Stat(files, bundle.Entries); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // Merge skips a layer that is nil.
	}
	entries, err := fs.Sub(files, bundle.Entries)
	if err != nil {
		return refused(err, "")
	}
	return parseLayer(entries, fetch.Shown(from.Address))
}

// Files reads the files of a catalog: a directory as it is, an archive unpacked.
func (a *Catalogs) Files(ctx context.Context, address string) (fs.FS, error) {
	f, err := fetch.New(a.fetch)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(address); err != nil && !isAddress(address) {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	files, artifact, err := f.Catalogue(ctx, address)
	if err != nil {
		return nil, err
	}
	a.Notes = append(a.Notes, artifact.Notes...)
	return files, nil
}

// Fetcher returns a fetcher for an entry, which takes the files that the entry names by path from
// the entry's catalog.
func (a *Catalogs) Fetcher(name string) (*fetch.Fetcher, error) {
	options := a.fetch
	if files, ok := a.Catalogue.Files(name); ok {
		options.Local = files
	}
	return fetch.New(options)
}

// Installable returns an entry that has a version.
func (a *Catalogs) Installable(name string) (catalog.Entry, error) {
	e, ok := a.Find(name)
	switch {
	case !ok:
		return e, hint.With(fmt.Errorf("the catalog has no operator %q%s", name, object.DidYouMean(a.Nearest(name))), "kubectl sysop catalog list shows them; --catalog adds another catalog")
	case len(e.Versions) == 0:
		return e, hint.With(fmt.Errorf("the catalog describes %s, but no way to install it", e), "docs/catalog.md describes how to add one; kubectl sysop catalog list --installable shows the others")
	}
	return e, nil
}

// cacheFolder is the directory of the cache of fetched artifacts.
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
