package command

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/luahealth"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

// Complete gives a flag its completion.
func Complete(cmd *cobra.Command, flag string, with Completer) {
	Must(cmd.RegisterFlagCompletionFunc(flag, with))
}

// Offer completes a flag with these values.
func Offer(cmd *cobra.Command, flag string, values ...string) {
	Complete(cmd, flag, cobra.FixedCompletions(values, NoFiles))
}

// AddSelectorFlags adds the flags that choose roots and the relations from them.
func (c *Common) AddSelectorFlags(cmd *cobra.Command, selector *string, usage string) {
	cmd.Flags().StringVarP(selector, "selector", "l", "", usage)
	Complete(cmd, "selector", c.CompleteWith(completion.Selector))
	c.AddInferredFlag(cmd)
}

// AddInferredFlag adds the flag that leaves out inferred relations.
func (c *Common) AddInferredFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.NoInferred, "no-inferred", false, "leave out inferred relations")
}

// OfType is the usage of --selector where it chooses among the objects of a type.
const OfType = "select the roots of a TYPE by label"

// AddHealthRuleFlags adds the flags of the rules that health is evaluated by.
func AddHealthRuleFlags(cmd *cobra.Command, o *app.HealthRuleOptions, c *Common) {
	f := cmd.Flags()
	f.StringVar(&o.File, "health-rules", "", "your own health rules: a YAML FILE of rules (CEL), a FILE with Argo CD's ConfigMap argocd-cm, or a directory like its resource_customizations (Lua)")
	f.StringVar(&o.Argocd, "argocd", "", "also use the health rules (Lua) of Argo CD's ConfigMap argocd-cm; --argocd=NAMESPACE if its namespace is not argocd")
	f.Lookup("argocd").NoOptDefVal = luahealth.Namespace
	Complete(cmd, "argocd", c.CompleteNamespaces)
}

// AliasFlag keeps the former name of a flag as a hidden alias, for scripts. It prints nothing:
// cobra writes its notice of deprecation to standard output, where the answer is.
func AliasFlag(cmd *cobra.Command, former, name string) {
	alias := *cmd.Flags().Lookup(name)
	alias.Name, alias.Shorthand, alias.Hidden = former, "", true
	alias.Usage = "deprecated: use --" + name
	cmd.Flags().AddFlag(&alias)
	if values, ok := cmd.GetFlagCompletionFunc(name); ok {
		Complete(cmd, former, values)
	}
}

// AddSystemFlag adds -f, for one manifest.
func AddSystemFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVarP(into, "filename", "f", "", `read the manifest of a System from this FILE, "-" or "demo"`)
	Complete(cmd, "filename", CompleteManifests)
}

func CompleteManifests(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return CompleteFileOr(systems.Demo+"\tthe System of the example", "yaml", "yml", "json")(cmd, args, typed)
}

// AddSystemQueryFlag adds --system.
func (c *Common) AddSystemQueryFlag(cmd *cobra.Command, into *string, subject string) {
	cmd.Flags().StringVar(into, "system", "", "instead of a ROOT, the apps of a System, "+subject+": the FILE of a manifest, or the NAME of an adopted one")
	Complete(cmd, "system", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, _ := c.CompleteSystem(cmd, nil, typed)
		return names, cobra.ShellCompDirectiveDefault // or a file
	})
}
