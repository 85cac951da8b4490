package cli

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/luahealth"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

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
	complete(cmd, "selector", c.offers(completion.Selector))
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

// aliasFlag keeps the former name of a flag as a hidden alias, for scripts. It prints nothing:
// cobra writes its notice of deprecation to standard output, where the answer is.
func aliasFlag(cmd *cobra.Command, former, name string) {
	alias := *cmd.Flags().Lookup(name)
	alias.Name, alias.Shorthand, alias.Hidden = former, "", true
	alias.Usage = "deprecated: use --" + name
	cmd.Flags().AddFlag(&alias)
	if values, ok := cmd.GetFlagCompletionFunc(name); ok {
		complete(cmd, former, values)
	}
}

// systemFlag adds -f, for one manifest.
func systemFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVarP(into, "filename", "f", "", `read the manifest of a System from this FILE, "-" or "demo"`)
	complete(cmd, "filename", completeManifests)
}

func completeManifests(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return fileOr(systems.Demo+"\tthe System of the example", "yaml", "yml", "json")(cmd, args, typed)
}

// systemQueryFlag adds --system.
func (c *common) systemQueryFlag(cmd *cobra.Command, into *string, subject string) {
	cmd.Flags().StringVar(into, "system", "", "instead of a ROOT, the apps of a System, "+subject+": the FILE of a manifest, or the NAME of an adopted one")
	complete(cmd, "system", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, _ := c.completeSystem(cmd, nil, typed)
		return names, cobra.ShellCompDirectiveDefault // or a file
	})
}
