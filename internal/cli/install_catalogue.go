package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

// catalogueOptions say which catalogues are read, and what is taken from where.
type catalogueOptions struct{ catalogs.Options }

func (o *catalogueOptions) catalogueFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.Addresses, "catalog", nil, "another catalog: a directory, a .tar or .tgz, or an http(s) or OCI address; may be repeated")
	f.StringVar(&o.Key, "key", "", "the public key (PEM) that other catalogs must be signed with")
	f.StringVar(&o.Keyring, "keyring", "", "public keys (OpenPGP) that charts with provenance must be signed with")
	f.BoolVar(&o.Offline, "offline", false, "use only the bundle and the cache; send requests to the cluster only")
	f.StringVar(&o.Bundle, "bundle", "", "take the catalog, charts and manifests from a bundle of catalog bundle")
	f.BoolVar(&o.Unverified, "unverified", false, "also fetch artifacts without a digest in the catalog")
	f.BoolVar(&o.PlainHTTP, "plain-http", false, "use registries without TLS")
}

// findingFlags are of commands that take from catalogues only where an operator is.
func (o *catalogueOptions) findingFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.Addresses, "catalog", nil, "another catalog that says where an operator is: a directory, a .tar or .tgz, or an http(s) or OCI address; may be repeated")
	f.StringVar(&o.Key, "key", "", "the public key (PEM) that other catalogs must be signed with")
}

// further says whether other catalogues than the usual ones are named.
func (o *catalogueOptions) further() bool { return len(o.Addresses) > 0 || o.Bundle != "" }

func (o *catalogueOptions) read(c *command.Common) catalogs.Options {
	read := o.Options
	read.UserAgent, read.Getenv = "kubectl-sysop/"+c.Env.Version, c.Env.Getenv
	return read
}

// load reads all catalogues; one that cannot be read is an error.
func (o *catalogueOptions) load(ctx context.Context, c *command.Common) (*catalogs.Catalogs, error) {
	return catalogs.Load(ctx, o.read(c), nil)
}

// catalogued reads the same, to know of operators by their names: a catalogue of the settings that
// cannot be read is left out with a note.
func (o *catalogueOptions) catalogued(ctx context.Context, c *command.Common) (*catalogs.Catalogs, error) {
	return catalogs.LoadSkipping(ctx, o.read(c), c.Note)
}

// installedVersions are the versions of the operators that are installed.
func installedVersions(ctx context.Context, c *command.Common, cats *catalogs.Catalogs) (map[string]string, error) {
	return (&installer.Installer{Input: &c.Input, Catalogs: cats}).InstalledVersions(ctx)
}

// installable offers the operators that can be installed, and behind "@" their versions.
func (o *catalogueOptions) installable(c *command.Common) completion.Completer {
	return completion.Entries(func() catalogs.Options { return o.read(c) }, func(e catalog.Entry) bool { return len(e.Versions) > 0 })
}

func (o *catalogueOptions) completeInstallable(c *command.Common) command.Completer {
	return c.CompleteWith(o.installable(c))
}
