package cli

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// pluginWords are what a user types for the plugin.
const pluginWords = "kubectl sysop"

// calledAs is what the name says by which the binary was called.
type calledAs struct {
	// command is the one that the plugin is; empty for the suite.
	command string
	// words are what a user types for the plugin: kubectl sysop-graph.
	words string
	// completes says that kubectl asks for completions.
	completes bool
}

// parseProgram reads os.Args[0]. kubectl runs kubectl-sysop_graph for kubectl sysop-graph, and
// kubectl-sysop-graph for kubectl sysop graph. Any other name is the suite.
func parseProgram(path string, windows bool) calledAs {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if windows {
		base = strings.ToLower(base[strings.LastIndexByte(base, '\\')+1:])
		base = strings.TrimSuffix(base, ".exe")
	}
	called := calledAs{words: pluginWords}
	rest, ok := strings.CutPrefix(base, completion.CompleterName)
	if called.completes = ok; !ok {
		rest, ok = strings.CutPrefix(base, completion.PluginName)
	}
	if !ok || rest == "" || rest[0] != '_' && rest[0] != '-' || len(rest) == 1 {
		called.completes = called.completes && rest == ""
		return called
	}
	called.command = strings.ReplaceAll(rest[1:], "_", "-")
	called.words += map[byte]string{'_': "-", '-': " "}[rest[0]] + called.command
	return called
}

// begin returns the command that the binary is, by the name that it was called by, and its
// arguments.
func begin(env command.Env, args []string) (*cobra.Command, calledAs, []string) {
	called := parseProgram(env.Program, runtime.GOOS == "windows")
	root := New(env)
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == called.command })
	if i < 0 {
		called.command, called.words = "", pluginWords
	} else {
		root = standalone(root, root.Commands()[i], called)
	}
	switch {
	case called.completes:
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	case called.command != "" && !root.HasSubCommands() && slices.Equal(args, []string{"help"}):
		args = []string{"--help"} // cobra has the command help where there are others
	}
	if completing(args) && len(args) == 1 {
		args = append(args, "")
	}
	return root, called, args
}

// standalone makes a command of the suite a plugin of its own.
func standalone(root, cmd *cobra.Command, called calledAs) *cobra.Command {
	root.RemoveCommand(cmd)
	cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: called.words}
	cmd.PersistentFlags().AddFlagSet(root.PersistentFlags())
	cmd.PersistentPreRun = root.PersistentPreRun
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetIn(root.InOrStdin())
	cmd.SetOut(root.OutOrStdout())
	cmd.SetErr(root.ErrOrStderr())
	cmd.SetFlagErrorFunc(root.FlagErrorFunc())
	rename(cmd, called)
	return cmd
}

// rename has the help of a command and of those below it speak of the plugin.
func rename(cmd *cobra.Command, called calledAs) {
	cmd.Long, cmd.Example = called.in(cmd.Long), called.in(cmd.Example)
	for _, sub := range cmd.Commands() {
		rename(sub, called)
	}
}

// in puts the words of the plugin in the place of those of the suite.
func (c calledAs) in(text string) string {
	if c.command == "" {
		return text
	}
	return strings.ReplaceAll(text, pluginWords+" "+c.command, c.words)
}

// completing says whether a shell asks for completions.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// HushCompletion discards standard error where args (those of the process, with its name) ask
// for completions: what libraries and credential plugins write to it would end up in the line
// that is being typed. It is for main.
func HushCompletion(args []string) {
	if len(args) == 0 || !completing(args[1:]) && !parseProgram(args[0], runtime.GOOS == "windows").completes {
		return
	}
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
}
