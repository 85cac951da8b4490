package cli

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/spf13/cobra"
)

func newSystem(env Env) *cobra.Command {
	return group("system", newSystemAdopt(env), newSystemExport(env), newSystemInit(env), newSystemList(env), newSystemRelease(env), newSystemShow(env), newSystemValidate(env))
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
