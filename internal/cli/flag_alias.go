package cli

import "github.com/spf13/cobra"

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
