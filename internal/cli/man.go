package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manpage"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

type manOptions struct {
	*command.Common
	kind        string
	fields      string
	apiVersion  string
	example     bool
	noInstances bool
}

func newMan(env command.Env) *cobra.Command {
	o := &manOptions{Common: command.NewCommon(env, "text", "json", "yaml")}
	cmd := o.NewCommand("man KIND", command.ExactArgs(1, "one kind"), o.CompleteOneKind, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.fields, "fields", "", `the fields to show: "all", or a PATH with the fields under it (spec.backup)`)
	f.StringVar(&o.apiVersion, "api-version", "", "describe this version of the kind, not the preferred one")
	f.BoolVar(&o.example, "example", false, "write the example manifest and nothing else, as for kubectl apply -f -")
	f.BoolVar(&o.noInstances, "no-instances", false, "do not read the objects of the kind")
	command.Offer(cmd, "fields", "all")
	command.Complete(cmd, "api-version", cobra.NoFileCompletions)
	return cmd
}

func (o *manOptions) run(ctx context.Context, args []string) error {
	o.kind = args[0]
	choice, err := o.choice()
	if err != nil {
		return err
	}
	m, err := o.Manual(ctx, app.ManualRequest{Kind: o.kind, Version: o.apiVersion, Instances: !o.noInstances})
	if err != nil {
		return err
	}
	if o.example {
		return o.writeExample(ctx, m)
	}
	man, err := m.Read(ctx, choice)
	if err != nil {
		return o.wayOut(err)
	}
	if err := o.Write(manpage.New(man, m.Gaps)); err != nil {
		return err
	}
	m.ReportGaps()
	if o.ShowTimings {
		o.Timings(o.Clock.Text(m.Session.Inventory.Objects(), 0))
	}
	return nil
}

// choice turns --fields into a value.
func (o *manOptions) choice() (manual.FieldSelection, error) {
	switch o.fields {
	case "":
		return manual.FieldSelection{}, nil
	case "all":
		return manual.FieldSelection{All: true}, nil
	}
	if _, err := field.Parse(o.fields); err != nil {
		return manual.FieldSelection{}, hint.With(fmt.Errorf("--fields: %w", err), `write "all", or a path such as spec.backup`)
	}
	return manual.FieldSelection{Path: o.fields}, nil
}

func (o *manOptions) wayOut(err error) error {
	if _, ok := errors.AsType[*field.Error](err); ok {
		return hint.With(fmt.Errorf("--fields: %w", err), "kubectl sysop man "+o.kind+" --fields all shows all of them")
	}
	return err
}

// writeExample writes the manifest. What is to be known of it goes before it,
// where a reader of YAML passes over it.
func (o *manOptions) writeExample(ctx context.Context, m *app.ManualReader) error {
	e, notes, err := m.Example(ctx)
	if err != nil {
		return err
	}
	if e.Object == nil {
		return fmt.Errorf("there is no example of %s: %s", m.Kind, strings.TrimSuffix(strings.Join(m.Notes, " "), "."))
	}
	for _, n := range notes {
		fmt.Fprintf(o.Env.ErrOut, "warning: %s\n", command.Safe(n))
	}
	if o.Output == "json" {
		return o.Write(view.Output{Document: e.Object})
	}
	for _, n := range slices.Concat([]string{e.Origin}, e.Notes) {
		fmt.Fprintf(o.Env.Out, "# %s\n", command.Safe(n))
	}
	o.Output = "yaml"
	m.ReportGaps()
	return o.Write(view.Output{Document: e.Object})
}
