package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type rulesLintOptions struct {
	*command.Common
	rules.LintRequest
	exitCode bool
	all      bool
}

func newRulesLint(env command.Env) *cobra.Command {
	o := &rulesLintOptions{Common: command.NewCommon(env, "tree", "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("lint", command.RangeArgs(0, 0, "files with -f FILE, and no arguments"), cobra.NoFileCompletions, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	cmd.Flags().StringArrayVarP(&o.Files, "filename", "f", nil, "check this file of rules, health rules, or catalog entry; may be repeated")
	cmd.Flags().StringVar(&o.CRDs, "crds", "", "check against the CRDs in this directory, not against a cluster")
	cmd.Flags().BoolVar(&o.all, "all", false, "also show the notes on the catalog: entries that do not fit the schemas here")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if there is an error or a warning")
	return cmd
}

func (o *rulesLintOptions) run(ctx context.Context, _ []string) error {
	if o.CRDs != "" && o.From != "" {
		return errors.New("--crds names CRDs, and --from a snapshot that has them: they exclude each other")
	}
	found, err := rules.Lint(ctx, &o.Input, &o.LintRequest)
	if err != nil {
		return err
	}
	if err := o.print(found); err != nil {
		return err
	}
	if found.Session != nil {
		found.Session.PrintTimings(found.Graph)
	}
	bad := slices.ContainsFunc(found.Findings, func(f view.LintFinding) bool { return f.Severity != "info" })
	if o.exitCode && bad {
		return command.ErrNotFine
	}
	return nil
}

// print writes the findings, and sums up on stderr.
func (o *rulesLintOptions) print(found *rules.Linted) error {
	shown := found.Findings
	if o.Output != "json" && o.Output != "yaml" && !o.all {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f view.LintFinding) bool {
			return f.Severity == "info" && strings.HasPrefix(f.Origin, "catalog ")
		})
	}
	if err := o.Write(view.Lint(found.Relations, shown, found.Gaps())); err != nil {
		return err
	}
	if hidden := len(found.Findings) - len(shown); hidden > 0 {
		fmt.Fprintf(o.Env.ErrOut, "%d notes on the catalog are not shown: operators here may be of another version (--all shows them)\n", hidden)
	}
	summary := object.Count(found.Relations, "relation")
	if found.HealthRules > 0 {
		summary += " and " + object.Count(found.HealthRules, "health rule")
	}
	fmt.Fprintf(o.Env.ErrOut, "%s checked, %s\n", summary, object.Count(len(found.Findings), "finding"))
	return nil
}
