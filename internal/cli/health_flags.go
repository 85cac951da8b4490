package cli

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/luahealth"
)

// healthRuleFlags adds the flags of the rules that health is evaluated by.
func healthRuleFlags(cmd *cobra.Command, o *app.HealthRuleOptions, c *common) {
	f := cmd.Flags()
	f.StringVar(&o.File, "health-rules", "", "your own health rules: a YAML FILE of rules (CEL), a FILE with Argo CD's ConfigMap argocd-cm, or a directory like its resource_customizations (Lua)")
	f.StringVar(&o.Argocd, "argocd", "", "also use the health rules (Lua) of Argo CD's ConfigMap argocd-cm; --argocd=NAMESPACE if its namespace is not argocd")
	f.Lookup("argocd").NoOptDefVal = luahealth.Namespace
	must(cmd.RegisterFlagCompletionFunc("argocd", c.completeNamespaces))
}
