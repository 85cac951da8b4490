package cli

import "github.com/spf13/cobra"

func newSystem(env Env) *cobra.Command {
	cmd := &cobra.Command{Use: "system", Short: "Write, check and adopt Systems"}
	holds(cmd)
	cmd.AddCommand(newSystemAdopt(env), newSystemInit(env), newSystemList(env), newSystemRelease(env))
	return cmd
}
