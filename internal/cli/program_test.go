package cli

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

func TestParseProgram(t *testing.T) {
	whole := calledAs{words: "kubectl sysop"}
	for _, c := range []struct {
		path    string
		windows bool
		want    calledAs
	}{
		{"", false, whole},
		{"kubectl-sysop", false, whole},
		{"/usr/bin/kubectl-sysop", false, whole},
		{"foo", false, whole},
		{"kubectl-sysopx", false, whole},
		{"kubectl-sysop_", false, whole},
		{"/usr/bin/kubectl-sysop_graph", false, calledAs{command: "graph", words: "kubectl sysop-graph"}},
		{"./kubectl-sysop-graph", false, calledAs{command: "graph", words: "kubectl sysop graph"}},
		{"kubectl_complete-sysop", false, calledAs{words: "kubectl sysop", completes: true}},
		{"kubectl_complete-sysopx", false, whole},
		{"/a/kubectl_complete-sysop_graph", false, calledAs{command: "graph", words: "kubectl sysop-graph", completes: true}},
		{"kubectl_complete-sysop-graph", false, calledAs{command: "graph", words: "kubectl sysop graph", completes: true}},
		{`C:\krew\bin\Kubectl-Sysop_Graph.EXE`, true, calledAs{command: "graph", words: "kubectl sysop-graph"}},
		{`C:\krew\bin\kubectl-sysop.exe`, true, whole},
		{"Kubectl-sysop_graph", false, whole},
	} {
		if got := parseProgram(c.path, c.windows); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.path, got, c.want)
		}
	}
}

// run runs the binary by a name.
func run(t *testing.T, program string, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	env := command.Process(os.DirFS("."))
	env.IOStreams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: &o, ErrOut: &e}
	env.Program = program
	code = Main(t.Context(), env, args)
	return code, o.String(), e.String()
}

// TestAliases calls the binary by each name that is published, as both kubectl and krew do.
func TestAliases(t *testing.T) {
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, a := range s.Aliases {
		commands = append(commands, a.Command)
		for program, words := range map[string]string{
			"/bin/kubectl-" + strings.ReplaceAll(a.Name, "-", "_"): "kubectl " + a.Name,
			"/bin/kubectl-" + a.Name:                               "kubectl " + strings.ReplaceAll(a.Name, "-", " "),
		} {
			code, out, talk := run(t, program, "--help")
			if code != 0 || talk != "" || !strings.Contains(out, "Usage:\n  "+words+" ") || strings.Contains(out, "kubectl sysop "+a.Command+" ") && !strings.HasSuffix(words, " "+a.Command) {
				t.Errorf("%s --help: %d %s\n%s", program, code, talk, out)
			}
			if code, _, talk := run(t, program, "--nonsense"); code != command.ExitError || !strings.Contains(talk, "hint: "+words+" --help") && !strings.Contains(talk, words) {
				t.Errorf("%s --nonsense: %d %s", program, code, talk)
			}
			if _, out, _ := run(t, strings.Replace(program, "kubectl-", "kubectl_complete-", 1), "--hel"); !strings.Contains(out, "--help\t") {
				t.Errorf("%s does not complete: %q", program, out)
			}
			if code, _, talk := run(t, program, "shop", "--from", "nowhere.yaml"); code != command.ExitError || strings.Contains(talk, "unknown command") {
				t.Errorf("%s shop: %d %s: the alias takes no arguments", program, code, talk)
			}
			if code, out, _ := run(t, program, "help"); code != 0 || !strings.Contains(out, words) {
				t.Errorf("%s help: %d %s", program, code, out)
			}
		}
	}
	if !slices.Equal(commands, completion.Published()) {
		t.Errorf("plugins.yaml has aliases for %q, published has %q", commands, completion.Published())
	}
}

// TestAliasKeepsItsOwn holds that what the suite gives its commands is there in an alias, too.
func TestAliasKeepsItsOwn(t *testing.T) {
	for program, want := range map[string]string{"kubectl-sysop_version": "kubectl-sysop ", "kubectl-sysop_nonsense": "kubectl sysop finds", "foo": "kubectl sysop finds"} {
		if code, out, talk := run(t, program, "-v=0"); code != 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%s: %d %s%s", program, code, out, talk)
		}
	}
	if code, out, _ := run(t, "kubectl-sysop_regulate", "plan", "--help"); code != 0 || !strings.Contains(out, "Usage:\n  kubectl sysop-regulate plan") {
		t.Errorf("%d %s", code, out)
	}
	if _, out, _ := run(t, "kubectl_complete-sysop_regulate", "pla"); !strings.HasPrefix(out, "plan\t") {
		t.Errorf("%q", out)
	}
	if _, out, _ := run(t, "kubectl_complete-sysop"); !strings.Contains(out, "graph\t") {
		t.Errorf("with no argument at all: %q", out)
	}
}

// TestEveryFlagCompletes walks the tree: each flag that takes a value offers something, or is
// in the table of those that do not; each command says what its arguments are.
func TestEveryFlagCompletes(t *testing.T) {
	used := map[string]bool{}
	root := New(command.Process(os.DirFS(".")))
	completeFlags(root)
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.HasSubCommands() && cmd.ValidArgsFunction == nil || cmd.Name() == "help" {
			return // it only holds others
		}
		if cmd.ValidArgsFunction == nil {
			t.Errorf("%s: nothing completes its arguments", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			used[f.Name] = true
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && f.Value.Type() != "bool" {
				t.Errorf("%s --%s (%s): nothing completes it, and no table says why", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	})
	for name, why := range plainFlags() {
		if why == "" || !used[name] && name != "v" {
			t.Errorf("plainFlags has %s (%q), which is no flag of any command", name, why)
		}
	}
	for name := range fileFlags() {
		if !used[name] {
			t.Errorf("fileFlags has %s, which is no flag of any command", name)
		}
	}
}

// TestCompletionPanics holds that a panic is no answer, in the process and beside it.
func TestCompletionPanics(t *testing.T) {
	var out bytes.Buffer
	env := command.Env{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &out}}
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}, ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { panic("no") }}
	root.SetArgs([]string{cobra.ShellCompRequestCmd, ""})
	if code := runCompletion(t.Context(), env, root); code != 0 || out.String() != ":4\n" {
		t.Errorf("%d %q", code, out.String())
	}
	c := &command.Common{}
	if got := c.Shell().Within(t.Context(), func(context.Context) []string { panic("no") }); got != nil {
		t.Errorf("%q", got)
	}
}
