package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newCatalog(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Browse the operator catalog, and maintain your own",
		Long: `Browse the operator catalog: what operators define, which versions can be installed,
from where, and what they require. One catalog is embedded; --catalog adds others (a
directory, a .tar or .tgz, or an http(s) or OCI address), and an entry there replaces
the embedded one. Only what you name is fetched.

docs/catalog.md describes the format, and how to add an operator.`,
	}
	holds(cmd)
	cmd.AddCommand(newCatalogList(env), newCatalogSearch(env), newCatalogShow(env), newCatalogAdd(env), newCatalogBundle(env), newCatalogValidate(env), newCatalogOutdated(env), newCatalogImport(env))
	return cmd
}

// catalogListOptions are those of catalog list and catalog search.
type catalogListOptions struct {
	*common
	catalogueOptions
	installable bool
}

func newCatalogList(env Env) *cobra.Command {
	o := &catalogListOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the operators of the catalog",
		Long:  `List the operators of the catalog, with the newest version that can be installed.`,
		Example: `  # the operators that can be installed
  kubectl sysop catalog list --installable

  # with all their versions, and the catalog that each is from
  kubectl sysop catalog list -o wide`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), "") },
	}
	o.flags(cmd)
	return cmd
}

func newCatalogSearch(env Env) *cobra.Command {
	o := &catalogListOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Find operators by name, kind, group or description",
		Long:  `Find the operators that match every word in the name, the title, a kind, its group or the description. The best match comes first.`,
		Example: `  # who runs MySQL?
  kubectl sysop catalog search mysql

  # who defines this kind?
  kubectl sysop catalog search certificate -o wide`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), strings.Join(args, " ")) },
	}
	o.flags(cmd)
	return cmd
}

func (o *catalogListOptions) flags(cmd *cobra.Command) {
	o.writing(cmd)
	o.catalogueFlags(cmd)
	cmd.Flags().BoolVar(&o.installable, "installable", false, "only those that can be installed")
}

func (o *catalogListOptions) run(ctx context.Context, query string) error {
	if err := o.validate(); err != nil {
		return err
	}
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	var rows []view.CatalogRow
	for _, m := range cats.Search(query) {
		if o.installable && len(m.Entry.Versions) == 0 {
			continue
		}
		rows = append(rows, view.CatalogRow{Entry: m.Entry, Origin: m.Origin, Matched: m.Matched})
	}
	o.notes(cats.Notes)
	if err := o.write(view.Catalog(rows)); err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(o.env.ErrOut, "no operator has %s\n", safe(fmt.Sprintf("%q", query)))
	}
	return nil
}

type catalogShowOptions struct {
	*common
	catalogueOptions
}

func newCatalogShow(env Env) *cobra.Command {
	o := &catalogShowOptions{common: newCommon(env, "text", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "show OPERATOR[@VERSION]",
		Short: "Show an operator: its kinds, and how it is installed",
		Long: `Show an operator of the catalog: the kinds that it defines and what they create, and
for its newest version, or the one you name, its source, its requirements, and how the
artifacts are verified.`,
		Example: `  # how would cert-manager be installed?
  kubectl sysop catalog show cert-manager`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, noFiles
			}
			return o.completeEntries(o.common, func(catalog.Entry) bool { return true })(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writing(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogShowOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	targets, err := parseTargets(args)
	if err != nil {
		return err
	}
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	e, ok := cats.Find(targets[0].Name)
	if !ok {
		return hint.With(errors.New(cats.Unknown(targets[0].Name)), "kubectl sysop catalog search finds one by its kinds")
	}
	v, _ := e.Latest()
	if at := targets[0].Version; at != "" {
		if v, ok = e.Version(at); !ok {
			return hint.With(fmt.Errorf("the catalog has no version %s of %s", at, e.Name), "kubectl sysop catalog list -o wide shows the versions")
		}
	}
	o.notes(cats.Notes)
	return o.write(view.CatalogEntry(view.CatalogRow{Entry: e, Origin: cats.Origin(e.Name)}, v))
}

type catalogValidateOptions struct {
	*common
	catalogueOptions
	crds string
}

func newCatalogValidate(env Env) *cobra.Command {
	o := &catalogValidateOptions{common: newCommon(env, "table", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "validate [CATALOG]",
		Short: "Validate a catalog, or all catalogs merged",
		Long: `Validate a catalog: a directory, a .tar or .tgz, or an address. Every problem of every
entry is reported with its position. The catalog is then merged with the embedded one,
and what the entries need is checked: packages, version ranges, and providers of APIs.

With --crds, every field that an entry names is checked against the CRDs in a
directory: those of relations, health rules, signals and examples.`,
		Example: `  # is what is embedded in order?
  kubectl sysop catalog validate`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault), // a directory, or an archive
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writing(cmd)
	o.catalogueFlags(cmd)
	cmd.Flags().StringVar(&o.crds, "crds", "", "check every field against the CRDs in this directory")
	return cmd
}

// fields checks the entries against the definitions of the directory; without one it finds nothing.
func (o *catalogValidateOptions) fields(c *catalog.Catalogue, allOrigins bool) ([]string, error) {
	if o.crds == "" {
		return nil, nil
	}
	defs, err := app.DefinitionsIn(o.crds)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, e := range c.Entries() {
		if allOrigins && c.Origin(e.Name) == catalog.EmbeddedOrigin || !app.DefinesKind(defs, &e) {
			continue // the entry of another catalogue, or of an operator that the directory does not define
		}
		file, text := c.Text(e.Name)
		for _, f := range lint.Entry(defs, &e, lint.ReadDocument(text)) {
			if !f.Unknown {
				p := catalog.Problem{Origin: c.Origin(e.Name), File: file, Entry: e.Name, Line: f.Line, Column: f.Column, Message: f.Message}
				problems = append(problems, p.String())
			}
		}
	}
	return problems, nil
}

func (o *catalogValidateOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	entries := len(cats.Entries())
	var problems, warnings []string
	if len(args) == 1 {
		files, err := cats.Files(ctx, args[0])
		if err != nil {
			return err
		}
		layer, wrong, err := catalog.Load(files, fetch.Shown(args[0]))
		if err != nil {
			return fmt.Errorf("read the catalog %s: %w", fetch.Shown(args[0]), err)
		}
		for _, p := range wrong {
			problems = append(problems, p.String())
		}
		if layer != nil {
			entries = len(layer.Entries())
			cats.Catalogue = catalog.Merge(cats.Catalogue, layer)
		}
	}
	for _, p := range cats.Check() {
		if p.Warning {
			if p.Origin == catalog.EmbeddedOrigin && (len(args) > 0 || o.further()) {
				continue // the file was not written by this command
			}
			warnings = append(warnings, p.String())
			continue
		}
		problems = append(problems, p.String())
	}
	wrong, err := o.fields(cats.Catalogue, len(args) > 0 || o.further())
	if err != nil {
		return err
	}
	problems = append(problems, wrong...)
	for _, w := range warnings {
		fmt.Fprintf(o.env.ErrOut, "warning: %s\n", safe(w))
	}
	o.notes(cats.Notes)
	if err := o.write(view.CatalogProblems(entries, problems)); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s", plural(len(problems), "problem"))
	}
	if o.human() {
		_, err = fmt.Fprintf(o.env.Out, "%s: no problem\n", pluralEntries(entries))
	}
	return err
}

func pluralEntries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
