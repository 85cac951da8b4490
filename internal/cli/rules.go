package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newRules(env command.Env) *cobra.Command {
	return command.Group("rules", newRulesList(env), newRulesExplain(env), newRulesLint(env), newRulesExport(env))
}

type rulesListOptions struct {
	*command.Common
	rules.ListRequest
}

func newRulesList(env command.Env) *cobra.Command {
	o := &rulesListOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("list [KIND]", command.RangeArgs(0, 1, "one KIND, or none"), o.CompleteOneKind, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	cmd.Flags().StringSliceVar(&o.Origins, "origin", nil, "only rules of these origins: "+strings.Join(rules.Origins(), ", "))
	cmd.Flags().BoolVar(&o.Used, "used", false, "only rules that make an edge here")
	command.Offer(cmd, "origin", rules.Origins()...)
	return cmd
}

func (o *rulesListOptions) run(ctx context.Context, args []string) error {
	o.Kind = command.FirstArg(args)
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
	return o.Finish(found.Session, found.Graph, view.Rules(found.Rules, found.Graph.Gaps()), lines...)
}
