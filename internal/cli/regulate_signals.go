package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

type regulateSignalsOptions struct {
	*common
	args []string
	all  bool
}

func newRegulateSignals(env Env) *cobra.Command {
	o := &regulateSignalsOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.command("signals [KIND]", between(0, 1, "one KIND, or none"), o.completeOneKind, o.run)
	o.connecting(cmd)
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "show the signals of all known kinds, without a cluster")
	return cmd
}

func (o *regulateSignalsOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if o.all {
		if o.From != "" {
			return hint.With(fmt.Errorf("--all reads no cluster and no snapshot"), "leave out --from, or --all")
		}
		return o.show(o.known())
	}
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	o.Gaps(s.Gaps)
	kinds := s.Kinds.All()
	if len(o.args) == 1 {
		k, err := s.Kinds.Find(o.args[0])
		if err != nil {
			return err
		}
		kinds = []object.Resource{k}
	}
	return o.show(app.SignalsOf(kinds, s.Kinds), s.Gaps...)
}

// known returns the signals of the catalogue as they are written, patterns and all.
func (o *regulateSignalsOptions) known() []regulate.Signal {
	all := slices.Concat(catalog.Signals(nil), regulate.BuiltInSignals())
	if len(o.args) == 1 {
		all = slices.DeleteFunc(all, func(s regulate.Signal) bool { return !calls(o.args[0], s) })
	}
	slices.SortStableFunc(all, app.BySignalKind)
	return all
}

// calls says whether a signal is about a kind: by its name, with or without its group, or by its
// plural.
func calls(name string, s regulate.Signal) bool {
	kind, _, _ := strings.Cut(s.Kind, ".")
	if strings.EqualFold(s.Kind, name) || object.MayBePlural(name, kind) {
		return true
	}
	_, _, grouped := strings.Cut(name, ".")
	return grouped && strings.HasPrefix(s.Kind, "*.") && s.AppliesTo(schema.ParseGroupKind(name))
}

func (o *regulateSignalsOptions) show(signals []regulate.Signal, gaps ...object.Gap) error {
	if err := o.write(view.Signals(signals, gaps)); err != nil {
		return err
	}
	switch {
	case len(signals) == 0 && o.all:
		fmt.Fprintf(o.env.ErrOut, "no signal is known for %s: use an action patch, annotate or scale\n", safe(o.args[0]))
	case len(signals) == 0:
		fmt.Fprintf(o.env.ErrOut, "no signal is known for %s: use an action patch, annotate or scale (--all shows the signals of other kinds)\n", safe(strings.Join(o.args, " ")))
	}
	return nil
}
