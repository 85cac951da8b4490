package cli

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// addCompletion adds the kubectl plugin's completion to cobra's scripts for shells.
func addCompletion(env command.Env, root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "completion" })
	cmd := root.Commands()[i]
	cmd.Short, cmd.Long = "", "" // those of help stand in their place
	command.MakeGroup(cmd)
	cmd.AddCommand(newCompletionInstall(env), newCompletionUninstall(env))
}

// completionOptions are those of completion install and uninstall.
type completionOptions struct {
	completion.Links
	env command.Env
}

func newCompletionInstall(env command.Env) *cobra.Command {
	o := &completionOptions{Links: completion.Links{Program: env.Program, Windows: runtime.GOOS == "windows"}, env: env}
	cmd := command.New("install", cobra.NoArgs, cobra.NoFileCompletions, o.install)
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "the directory to write to, which should be on PATH (default: that of the plugin)")
	f.BoolVar(&o.Aliases, "aliases", false, "also make separate plugins of the commands: "+strings.Join(completion.Published(), ", "))
	f.BoolVar(&o.Force, "force", false, "replace files that are not such links")
	return cmd
}

func newCompletionUninstall(env command.Env) *cobra.Command {
	o := &completionOptions{Links: completion.Links{Program: env.Program, Windows: runtime.GOOS == "windows"}, env: env}
	cmd := command.New("uninstall", cobra.NoArgs, cobra.NoFileCompletions, o.uninstall)
	cmd.Flags().StringVar(&o.Dir, "dir", "", "the directory to remove them from (default: that of the plugin)")
	return cmd
}

func (o *completionOptions) install(ctx context.Context, _ []string) error {
	links, err := o.Install(ctx)
	if err != nil {
		return err
	}
	for _, l := range links.Files {
		word := "is there"
		if slices.Contains(links.Written, l) {
			word = "linked"
		}
		fmt.Fprintf(o.env.Out, "%s %s\n", word, command.Safe(l))
	}
	if !completion.OnPath(o.env.Getenv("PATH"), links.Dir) {
		fmt.Fprintf(o.env.ErrOut, "note: %s is not on PATH: kubectl does not find it there\n", command.Safe(links.Dir))
	}
	return nil
}

func (o *completionOptions) uninstall(context.Context, []string) error {
	links, err := o.Uninstall()
	for _, file := range links.Written {
		fmt.Fprintf(o.env.Out, "removed %s\n", command.Safe(file))
	}
	if err == nil && len(links.Written) == 0 {
		fmt.Fprintf(o.env.ErrOut, "nothing was linked in %s\n", command.Safe(links.Dir))
	}
	return err
}

// runCompletion answers a shell. Whatever happens, nothing but completions and the directive
// comes out, and the exit code is 0: kubectl and the shells put the rest into the line.
func runCompletion(ctx context.Context, env command.Env, root *cobra.Command) int {
	var out bytes.Buffer
	root.SetOut(&out)
	if err := executed(ctx, root); err != nil {
		out.Reset()
		fmt.Fprintf(&out, ":%d\n", command.NoFiles)
	}
	var clean bytes.Buffer
	for line := range bytes.Lines(out.Bytes()) {
		if harmless(line) {
			clean.Write(line)
		}
	}
	_, _ = env.Out.Write(clean.Bytes()) // a closed output needs no completions
	return command.ExitDone
}

// executed runs a command, and makes a panic an error.
func executed(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return root.ExecuteContext(ctx)
}

// harmless says whether a line of completions does nothing to a terminal.
func harmless(line []byte) bool {
	word, description, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
	return utf8.Valid(line) && command.Safe(word) == word && command.Safe(description) == description
}
