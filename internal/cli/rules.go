package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newRules(env Env) *cobra.Command {
	return group("rules", newRulesList(env), newRulesExplain(env), newRulesLint(env), newRulesExport(env))
}

type rulesListOptions struct {
	*common
	rules.ListRequest
}

func newRulesList(env Env) *cobra.Command {
	o := &rulesListOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.newCommand("list [KIND]", between(0, 1, "one KIND, or none"), o.completeOneKind, o.run)
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().StringSliceVar(&o.Origins, "origin", nil, "only rules of these origins: "+strings.Join(rules.Origins(), ", "))
	cmd.Flags().BoolVar(&o.Used, "used", false, "only rules that make an edge here")
	offer(cmd, "origin", rules.Origins()...)
	return cmd
}

func (o *rulesListOptions) run(ctx context.Context, args []string) error {
	o.Kind = first(args)
	for i, w := range o.Origins {
		if w == "catalogue" { // The former spelling.
			o.Origins[i] = "catalog"
		}
	}
	found, err := rules.List(ctx, &o.Input, &o.ListRequest)
	if err != nil {
		return err
	}
	var lines []string
	if len(found.Rules) == 0 {
		lines = []string{"no rules"}
	}
	return o.finish(found.Session, found.Graph, view.Rules(found.Rules, found.Graph.Gaps()), lines...)
}
