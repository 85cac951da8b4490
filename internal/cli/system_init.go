package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

type initOptions struct {
	*common
	catalogueOptions
	args     []string
	selector string
	name     string
	file     string
	force    bool
}

func newSystemInit(env Env) *cobra.Command {
	o := &initOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "init [ROOT...]",
		Short: "Write the manifest of a System from running stacks",
		Long: `Write a manifest: each ROOT is an app, or without a ROOT each application stack in the
namespace (as kubectl sysop stacks finds them). Comments say which app needs which other
one and on what evidence, what a Stop would do to each, and which tools revert changes
of its objects. Nothing is written to the cluster.

A stack that is an ApplySet has its parent object as a root, and that of an instance
(app.kubernetes.io/instance) has the custom resource that it comes from as one: the app
is unhealthy when these are.

The manifest is a start: add what no object says (an app that calls another by an
address in its own settings). It is written to standard output, or with --write to a
file.`,
		Example: `  # all stacks of the namespace
  kubectl sysop system init --from demo

  # some of them, under a name
  kubectl sysop system init moodle/moodle-1 mysqlcluster/cluster1 --name lms --from demo`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVar(&o.file, "write", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	return cmd
}

func (o *initOptions) run(ctx context.Context) error {
	request, err := o.request()
	if err != nil {
		return err
	}
	draft, err := systems.Draft(ctx, request)
	if err != nil {
		return err
	}
	return o.print(draft, fmt.Sprintf("%s of the System %s", plural(draft.Apps, "app"), safe(draft.Name)))
}

// print writes a manifest to standard output or to the file, and a summary to standard error.
func (o *initOptions) print(d *systems.Manifest, summary string) error {
	var err error
	if o.file == "" {
		_, err = o.env.Out.Write(d.Text)
	} else {
		err = writeNew("manifest", o.file, d.Text, o.force)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(o.env.ErrOut, summary)
	d.PrintTimings()
	return nil
}

// request checks the flags, before anything is read.
func (o *initOptions) request() (systems.DraftRequest, error) {
	r := systems.DraftRequest{Input: &o.Input, Name: o.name, Roots: o.args}
	if err := o.validate(); err != nil {
		return r, err
	}
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
