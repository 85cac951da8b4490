package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// catalogAddOptions are those of what writes into a catalogue of one's own.
type catalogAddOptions struct {
	*common
	folder  string
	replace bool
}

func (o *catalogAddOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.folder, "catalog", "", "the directory of the catalog; created if it does not exist")
	f.BoolVar(&o.replace, "replace", false, "replace an existing version that has other content")
	must(cmd.MarkFlagDirname("catalog"))
}

func newCatalogAdd(env Env) *cobra.Command {
	o := &catalogAddOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "add FILE... --catalog DIR",
		Short: "Add entries, or versions of entries, to your own catalog",
		Long: `Add the entries of files to the catalog in a directory. If an entry with the name
exists, only the versions are added to it, and the rest of its text, comments included,
stays unchanged. A version that exists with other content is refused, unless --replace
is given. A file is written completely or not at all.`,
		Example: `  # a new version of an operator
  kubectl sysop catalog add hello-1.1.0.yaml --catalog catalog`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeYAML,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.flags(cmd)
	return cmd
}

// maxEntryBytes is more than any file of an entry has.
const maxEntryBytes = 8 << 20

func (o *catalogAddOptions) run(ctx context.Context, files []string) error {
	if o.folder == "" {
		return hint.With(errors.New("name the directory of the catalog: --catalog DIR"), "the embedded one cannot be written")
	}
	var entries []catalog.Entry
	for _, file := range files {
		data, err := app.ReadFile(ctx, file, maxEntryBytes, "entry of a catalog")
		if err != nil {
			return fmt.Errorf("read the entry: %w", err)
		}
		e, problems := catalog.Parse(nameIn(data), data)
		if len(problems) > 0 {
			return hint.With(&hint.Lines{Lines: hint.Placed(file, problems)}, "docs/catalog.md is the format")
		}
		entries = append(entries, e)
	}
	for _, e := range entries {
		if err := o.add(e); err != nil {
			return err
		}
	}
	return nil
}

// nameIn is the name that an entry gives itself: in a catalogue it is that of the file. What is
// wrong in the text is left to who reads the entry; aliases are not written out.
func nameIn(data []byte) string {
	root, problem := strict.Document(data)
	if problem != nil || root == nil {
		return ""
	}
	if name := strict.Value(root, "name"); name != nil && name.Kind == yaml.ScalarNode {
		return name.Value
	}
	return ""
}

// add writes one entry, and tells.
func (o *catalogAddOptions) add(e catalog.Entry) error {
	done, err := catalog.Add(o.folder, e, o.replace)
	if exists, ok := errors.AsType[*catalog.ExistsError](err); ok {
		return hint.With(exists, "--replace puts the new one in its place")
	}
	if err != nil {
		return err
	}
	for _, n := range done.Notes {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(n))
	}
	changeText := "nothing new"
	if changed := slices.Concat(done.Versions, done.Replaced); len(changed) > 0 {
		changeText = strings.Join(changed, ", ")
	}
	_, err = fmt.Fprintf(o.env.Out, "%s: %s\n", safe(done.File), safe(changeText))
	return err
}

func newCatalogImport(env Env) *cobra.Command {
	o := &catalogAddOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "import-csv CSV [MANIFEST...] --catalog DIR",
		Short: "Create an entry from a ClusterServiceVersion of OLM",
		Long: `Create an entry from a ClusterServiceVersion (operators.coreos.com/v1alpha1) and the
other manifests of its bundle, which hold its CRDs. Deployments and permissions become
manifests that are installed unchanged. What only OLM does (webhook certificates, which
version replaces which) is left out and reported.`,
		Example:           `  kubectl sysop catalog import-csv manifests/*.yaml --catalog catalog`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeYAML,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.importCSV(cmd.Context(), args) },
	}
	o.flags(cmd)
	return cmd
}

func (o *catalogAddOptions) importCSV(ctx context.Context, files []string) error {
	if o.folder == "" {
		return hint.With(errors.New("name the directory of the catalog: --catalog DIR"), "the embedded one cannot be written")
	}
	var csv []byte
	var more [][]byte
	names := []string{""} // the file of the ClusterServiceVersion, then those of the others
	for _, file := range files {
		data, err := app.ReadFile(ctx, file, maxEntryBytes, "manifest")
		if err != nil {
			return fmt.Errorf("read the bundle: %w", err)
		}
		if csv == nil && strings.Contains(string(data), "ClusterServiceVersion") {
			csv, names[0] = data, file
			continue
		}
		more, names = append(more, data), append(names, file)
	}
	if csv == nil {
		return hint.With(errors.New("none of the files is a ClusterServiceVersion"), "it is in manifests/ of an OLM bundle")
	}
	im, err := catalog.ParseCSV(csv, more...)
	if invalid, ok := errors.AsType[*catalog.InvalidError](err); ok && invalid.Manifest < len(names) {
		return &catalog.InvalidError{File: names[invalid.Manifest], Manifest: invalid.Manifest, Problems: invalid.Problems}
	}
	if err != nil {
		return err
	}
	for path, data := range im.Files {
		if err := writeAtomically(filepath.Join(o.folder, filepath.FromSlash(path)), data); err != nil {
			return err
		}
	}
	for _, w := range im.Warnings {
		fmt.Fprintf(o.env.ErrOut, "not carried over: %s\n", safe(w))
	}
	return o.add(im.Entry)
}

// writeAtomically writes a file whole, or not at all.
func writeAtomically(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".sysop-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
