package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// addCompletion adds the kubectl plugin's completion to cobra's scripts for shells.
func addCompletion(env Env, root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "completion" })
	cmd := root.Commands()[i]
	cmd.Short = "Set up shell completion"
	cmd.Long = `kubectl completes its own commands with its own script, and runs a file beside the
plugin, kubectl_complete-sysop, to complete what follows kubectl sysop. "completion
install" writes that file, which is a link to the plugin.

The other commands write scripts for those who run kubectl-sysop directly, without
kubectl. See docs/completion.md.`
	holds(cmd)
	cmd.AddCommand(newCompletionInstall(env), newCompletionUninstall(env))
}

// completionOptions are those of completion install and uninstall.
type completionOptions struct {
	completion.Links
	env Env
}

func newCompletionInstall(env Env) *cobra.Command {
	o := &completionOptions{Links: completion.Links{Program: env.Program, Windows: runtime.GOOS == "windows"}, env: env}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the link that lets kubectl complete the plugin",
		Long: `Write the link kubectl_complete-sysop beside the plugin, to the name of the plugin, so
that it stays valid when krew upgrades the file behind that name. On Windows it is a
small command file. Single commands of the suite that are already installed as plugins
(kubectl-sysop_graph) get a link of their own; --aliases makes all of them.

A file that is no such link is not replaced, unless --force is given. Either all links
are written, or none.`,
		Example: `  # beside the plugin
  kubectl sysop completion install

  # with kubectl sysop-graph and the others as plugins of their own
  kubectl sysop completion install --aliases`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.install(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "the directory to write to, which should be on PATH (default: that of the plugin)")
	f.BoolVar(&o.Aliases, "aliases", false, "also make separate plugins of the commands: "+strings.Join(completion.Published(), ", "))
	f.BoolVar(&o.Force, "force", false, "replace files that are not such links")
	return cmd
}

func newCompletionUninstall(env Env) *cobra.Command {
	o := &completionOptions{Links: completion.Links{Program: env.Program, Windows: runtime.GOOS == "windows"}, env: env}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the links of completion install",
		Example: `  # beside the plugin
  kubectl sysop completion uninstall`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.uninstall() },
	}
	cmd.Flags().StringVar(&o.Dir, "dir", "", "the directory to remove them from (default: that of the plugin)")
	return cmd
}

func (o *completionOptions) install(ctx context.Context) error {
	links, err := o.Install(ctx)
	if err != nil {
		return err
	}
	for _, l := range links.Files {
		word := "is there"
		if slices.Contains(links.Written, l) {
			word = "linked"
		}
		fmt.Fprintf(o.env.Out, "%s %s\n", word, safe(l))
	}
	if !completion.OnPath(o.env.Getenv("PATH"), links.Dir) {
		fmt.Fprintf(o.env.ErrOut, "note: %s is not on PATH: kubectl does not find it there\n", safe(links.Dir))
	}
	return nil
}

func (o *completionOptions) uninstall() error {
	links, err := o.Uninstall()
	for _, file := range links.Written {
		fmt.Fprintf(o.env.Out, "removed %s\n", safe(file))
	}
	if err == nil && len(links.Written) == 0 {
		fmt.Fprintf(o.env.ErrOut, "nothing was linked in %s\n", safe(links.Dir))
	}
	return err
}
