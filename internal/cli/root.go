package cli

import (
	"cmp"
	"embed"
	"flag"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/regulatecmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// New returns the root command.
func New(env command.Env) *cobra.Command {
	env.Version = cmp.Or(env.Version, buildVersion())
	root := &cobra.Command{
		Use:           "kubectl-sysop",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl sysop"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.MakeGroup(root)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); command.IsGroup(cmd) && len(args) > 0 {
			return command.UnknownCommand(cmd, args[0]) // The flag would be one of its.
		}
		return hint.With(err, cmd.CommandPath()+" --help lists the flags")
	})
	logs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logs)
	v := root.PersistentFlags()
	v.AddGoFlag(logs.Lookup("v"))
	v.Lookup("v").Usage = "log level: 6 shows each request"
	root.PersistentPreRun = func(*cobra.Command, []string) {
		// The libraries log what they return as errors as well: who does not ask for
		// logs reads it once, from us.
		if v.Lookup("v").Value.String() == "0" {
			quietLogs()
		}
	}
	root.AddCommand(newAutoscale(env), newBackup(env), newCatalog(env), newGraph(env), newCheck(env), newDiff(env), newHealth(env), newHistory(env), newPath(env), newImpact(env), newInstall(env), newLogs(env), metricscmd.New(env), newMan(env), newMonitor(env), metricscmd.NewPrices(env), regulatecmd.New(env), newRestore(env), newRollback(env), newRules(env), newSnapshot(env), newStacks(env), newSystem(env), newUI(env), newUninstall(env), newUpgrade(env), newVersion(env))
	addCompletion(env, root)
	describe(root)
	return root
}

// quietLogs is for the whole process.
var quietLogs = sync.OnceFunc(func() {
	klog.SetLogger(logr.Discard())
	slog.SetDefault(slog.New(slog.DiscardHandler)) // which Helm's library uses now and then
})

// helpTexts has a file for each command, by its path: help/regulate_plan.txt. The first line is
// the short text; the long one follows, and the examples under "Examples:".
//
//go:embed help/*.txt
var helpTexts embed.FS

// describe gives a command and all below it the texts of help.
func describe(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.Short != "" {
			return // cobra describes its own
		}
		path := strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()+" ")
		if cmd == root {
			path = root.Name()
		}
		text, err := helpTexts.ReadFile("help/" + strings.ReplaceAll(path, " ", "_") + ".txt")
		command.Must(err)
		about, examples, _ := strings.Cut(string(text), "\nExamples:\n\n")
		short, long, _ := strings.Cut(about, "\n")
		cmd.Short, cmd.Long, cmd.Example = short, strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	})
}
