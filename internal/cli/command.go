package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/luahealth"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
)

// runner runs a command with its arguments.
type runner = func(ctx context.Context, args []string) error

// command is a command without flags; its help is a file.
func command(use string, args cobra.PositionalArgs, complete completer, run runner) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args, ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// command is a command that runs after the flags of c are checked.
func (c *common) command(use string, args cobra.PositionalArgs, complete completer, run runner) *cobra.Command {
	return command(use, args, complete, func(ctx context.Context, args []string) error {
		if err := c.validate(); err != nil {
			return err
		}
		return run(ctx, args)
	})
}

// group is a command that only holds others.
func group(use string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use}
	holds(cmd)
	cmd.AddCommand(commands...)
	return cmd
}

// exactly takes n arguments.
func exactly(n int, expected string) cobra.PositionalArgs { return between(n, n, expected) }

// between takes some arguments, and says what they are.
func between(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return hint.With(fmt.Errorf("expected %s", expected), cmd.CommandPath()+" --help has examples")
		}
		return nil
	}
}

// first is the first argument; empty for none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// complete gives a flag its completion.
func complete(cmd *cobra.Command, flag string, with completer) {
	must(cmd.RegisterFlagCompletionFunc(flag, with))
}

// offer completes a flag with these values.
func offer(cmd *cobra.Command, flag string, values ...string) {
	complete(cmd, flag, cobra.FixedCompletions(values, noFiles))
}

// selecting adds the flags that choose roots and the relations from them.
func (c *common) selecting(cmd *cobra.Command, selector *string, usage string) {
	cmd.Flags().StringVarP(selector, "selector", "l", "", usage)
	complete(cmd, "selector", c.completeSelector)
	c.inferring(cmd)
}

// inferring adds the flag that leaves out inferred relations.
func (c *common) inferring(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.NoInferred, "no-inferred", false, "leave out inferred relations")
}

// ofType is the usage of --selector where it chooses among the objects of a type.
const ofType = "select the roots of a TYPE by label"

// healthRuleFlags adds the flags of the rules that health is evaluated by.
func healthRuleFlags(cmd *cobra.Command, o *app.HealthRuleOptions, c *common) {
	f := cmd.Flags()
	f.StringVar(&o.File, "health-rules", "", "your own health rules: a YAML FILE of rules (CEL), a FILE with Argo CD's ConfigMap argocd-cm, or a directory like its resource_customizations (Lua)")
	f.StringVar(&o.Argocd, "argocd", "", "also use the health rules (Lua) of Argo CD's ConfigMap argocd-cm; --argocd=NAMESPACE if its namespace is not argocd")
	f.Lookup("argocd").NoOptDefVal = luahealth.Namespace
	complete(cmd, "argocd", c.completeNamespaces)
}
