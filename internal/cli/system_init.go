package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type initOptions struct {
	*command.Common
	catalogueOptions
	args     []string
	selector string
	name     string
	file     string
	force    bool
}

func newSystemInit(env command.Env) *cobra.Command {
	o := &initOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("init [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVar(&o.file, "write", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	return cmd
}

func (o *initOptions) run(ctx context.Context, args []string) error {
	o.args = args
	request, err := o.request()
	if err != nil {
		return err
	}
	request.Monitoring = monitoring.Draft
	draft, err := systems.Draft(ctx, request)
	if err != nil {
		return err
	}
	return o.print(draft, fmt.Sprintf("%s of the System %s", object.Count(draft.Apps, "app"), command.Safe(draft.Name)))
}

// print writes a manifest to standard output or to the file, and a summary to standard error.
func (o *initOptions) print(d *systems.Manifest, summary string) error {
	var err error
	if o.file == "" {
		_, err = o.Env.Out.Write(d.Text)
	} else {
		err = userfile.WriteNew("manifest", o.file, d.Text, o.force)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(o.Env.ErrOut, summary)
	d.PrintTimings()
	return nil
}

// request checks the flags, before anything is read.
func (o *initOptions) request() (systems.DraftRequest, error) {
	r := systems.DraftRequest{Input: &o.Input, Name: o.name, Roots: o.args}
	if o.name != "" {
		if wrong := validation.IsDNS1123Label(o.name); len(wrong) > 0 {
			return r, fmt.Errorf("--name %q: %s", o.name, wrong[0])
		}
	}
	if o.force && o.file == "" {
		return r, errors.New("--force replaces the file of --write: there is none")
	}
	var err error
	r.Selector, err = app.ParseSelector(o.selector)
	if err == nil && r.Selector != nil && len(o.args) == 0 {
		err = errors.New("--selector chooses among all of a TYPE: name one")
	}
	return r, err
}

func newSystemExport(env command.Env) *cobra.Command {
	o := &initOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("export [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.export)
	o.AddReadFlags(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVarP(&o.file, "write", "O", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	return cmd
}

// export writes the System of the stacks.
func (o *initOptions) export(ctx context.Context, args []string) error {
	o.args = args
	request, err := o.request()
	if err != nil {
		return err
	}
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	done, err := systems.Export(ctx, systems.ExportRequest{DraftRequest: request, Catalogue: cats.Catalogue, Versions: func(ctx context.Context) (map[string]string, error) {
		return installedVersions(ctx, o.Common, cats)
	}})
	if err != nil {
		return err
	}
	return o.print(done, fmt.Sprintf("%s of the System %s, %s", object.Count(done.Apps, "app"), command.Safe(done.Name), object.Count(done.Inputs, "input")))
}
