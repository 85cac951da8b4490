package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// Query is a question about the apps of a System, instead of about roots.
type Query struct {
	Name string // the FILE of a manifest, or the NAME of an adopted System; empty for none
	app.SystemRows
	// dir is where the manifest lies; empty for one that was adopted.
	dir string
}

// Read reads the System, and returns the arguments that its roots are.
func (o *Query) Read(ctx context.Context, in *app.Input, args []string) ([]string, error) {
	switch {
	case o.Name == "":
		return args, nil
	case len(args) > 0:
		return nil, hint.With(fmt.Errorf("--system has its own roots, and %s is another one", args[0]), "leave out one of them")
	case in.AllNamespaces:
		return nil, errors.New("-A: a System names its roots with their namespaces")
	}
	var err error
	if o.isFile() {
		o.dir = filepath.Dir(o.Name)
		o.System, err = Read(ctx, in, o.Name)
	} else {
		o.System, err = Named(ctx, in, o.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := Enter(in, o.System); err != nil {
		return nil, err
	}
	var roots []string
	o.Apps = nil
	for i := range o.System.Apps {
		for _, r := range o.System.Apps[i].Roots {
			roots, o.Apps = append(roots, r.String()), append(o.Apps, i)
		}
	}
	return roots, nil
}

// isFile says whether --system means a file: what is there, or cannot be a name.
func (o *Query) isFile() bool {
	if o.Name == "-" || o.Name == Demo || strings.Contains(o.Name, ".") {
		return true
	}
	_, err := os.Stat(o.Name)
	return err == nil
}

// Source is how commands name the System.
func (o *Query) Source() level.Source {
	s := level.Source{Query: o.Name, File: o.Name != "" && o.isFile()}
	if o.System != nil {
		s.Namespace = o.System.Namespace
	}
	return s
}

// Prices is the price book of the System: beside its manifest, unless it is somewhere else.
func (o *Query) Prices(given string) string {
	if o.System == nil || given != "" || o.System.Chargeback.Prices == "" {
		return given
	}
	book := o.System.Chargeback.Prices
	if book == "default" || filepath.IsAbs(book) {
		return book
	}
	return filepath.Join(o.dir, book)
}

// Sharing is how the System shares what several of its apps need.
func (o *Query) Sharing(given string, chosen bool) string {
	if o.System == nil || chosen {
		return given
	}
	return cmp.Or(string(o.System.Chargeback.Sharing), given, string(cost.ShareEven))
}
