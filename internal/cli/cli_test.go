package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

var update = flag.Bool("update", false, "write the generated files anew")

// TestMain makes the plugin a command of the scripts, by every name that they call it by.
func TestMain(m *testing.M) {
	plugin := func() {
		demo := examples.Demo()
		if dir := os.Getenv(demoVariable); dir != "" {
			demo = os.DirFS(dir)
		}
		cli.HushCompletion(os.Args)
		os.Exit(cli.Main(context.Background(), command.Process(demo), os.Args[1:]))
	}
	commands := map[string]func(){"foo": plugin}
	for _, name := range []string{"kubectl-sysop", "kubectl_complete-sysop"} {
		for _, alias := range []string{"", "_graph", "_stacks", "_regulate"} {
			commands[name+alias] = plugin
		}
	}
	testscript.Main(m, commands)
}

// demoVariable names where the example is as JSON. To parse its YAML is half of what a
// command on it takes, and under the race detector that is most of what the scripts do.
const demoVariable = "SYSOP_TEST_DEMO"

// TestScripts is the third ring: every command, on snapshots.
func TestScripts(t *testing.T) {
	dir := demoAsJSON(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata", UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(demoVariable, dir)
			// A link to it is the plugin under another name.
			self, err := os.Executable()
			if err != nil {
				return err
			}
			e.Setenv("SELF", self)
			// The race detector waits a second before a process ends, unless told not to.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("NO_FILE", noFile(t)) // in the words of the operating system
			return nil
		},
	})
}

// noFile is what the operating system says of a file that is not there.
func noFile(t *testing.T) string {
	t.Helper()
	_, err := os.Open(filepath.Join(t.TempDir(), "gone"))
	wrong, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		t.Fatalf("a file that is not there: %v", err)
	}
	return wrong.Err.Error()
}

// demoAsJSON writes the example as JSON.
func demoAsJSON(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, demotest.FS()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func env(in io.Reader, out, talk io.Writer) command.Env {
	return command.Env{
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: talk},
		Getenv:    os.Getenv, Demo: demotest.FS(),
		Now: func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) },
	}
}

// walk calls f for every command that a user can run.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			// completion is cobra's own, and only holds others.
			if c.Runnable() && c.Name() != "completion" && (!c.HasSubCommands() || c.ValidArgsFunction != nil) {
				f(c)
			}
			walk(c, f)
		}
	}
}

func newRoot() *cobra.Command {
	return cli.New(env(strings.NewReader(""), io.Discard, io.Discard))
}

// live are the commands whose examples need a cluster, and what they say of a snapshot. An
// example that comes to that has been read whole.
var live = map[string]string{"adopt": "error: --from: a snapshot is read-only", "release": "error: --from: a snapshot is read-only", "logs": "error: --from: a snapshot holds no logs"}

// wanting are the examples that want a cluster or files that are not there, unless they are
// asked of the demo. Their flags are parsed, and that is all.
var wanting = regexp.MustCompile(`^(autoscale|backup (run|schedule|delete|show|list|verify)|monitor (apply|remove|status)|restore|install|upgrade|diff|rollback|history|uninstall|catalog (add|import-csv|bundle|outdated)|metrics doctor|regulate|system (export|list))\b`)

// served runs a command that serves, of the demo, until it has said where.
func served(t *testing.T, text string) {
	t.Helper()
	args := strings.Fields(strings.Replace(text, " --open", "", 1)) // No test opens a browser.
	if !slices.Contains(args, "--from") {
		args = append(args, "--from", "demo")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, talk := &ending{end: stop}, &bytes.Buffer{}
	if code := cli.Main(ctx, env(strings.NewReader(""), out, talk), args); code != command.ExitDone || !strings.Contains(out.String(), "http://127.0.0.1:") {
		t.Errorf("%s: exit code %d: %s%s", text, code, out, talk)
	}
}

// ending ends something once something was written.
type ending struct {
	bytes.Buffer
	end func()
}

func (e *ending) Write(p []byte) (int, error) {
	defer e.end()
	return e.Buffer.Write(p)
}

// TestHelpExamples runs each example of each command's help, as it stands there.
func TestHelpExamples(t *testing.T) {
	walk(newRoot(), func(c *cobra.Command) {
		if c.Parent().Name() == "completion" {
			return // cobra's own, and those that write: see testdata/completion-install.txtar
		}
		t.Run(c.Name(), func(t *testing.T) {
			if c.Example == "" {
				t.Fatal("no example")
			}
			t.Chdir(t.TempDir())
			if err := os.WriteFile("shop.yaml", []byte("{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: moodle}, spec: {ports: [{port: 80}]}}"), 0o600); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(c.Example) {
				text, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl sysop ")
				if !ok {
					continue
				}
				var out, talk bytes.Buffer
				if wanting.MatchString(text) && !strings.Contains(text, " --from ") {
					text, _, _ = strings.Cut(text, " | ")
					text, _, _ = strings.Cut(text, " -- ")
					code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), append(strings.Fields(text), "--help"))
					if code != 0 || !strings.Contains(out.String(), "\nUsage:\n") {
						t.Errorf("%s: exit code %d: %s", line, code, talk.String())
					}
					continue
				}
				if c.Name() == "ui" {
					served(t, text)
					continue
				}
				if refusal, ok := live[c.Name()]; ok {
					code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), append(strings.Fields(text), "--from", "demo"))
					if code != command.ExitError || !strings.HasPrefix(talk.String(), refusal) {
						t.Errorf("%s: exit code %d: %s", line, code, talk.String())
					}
					continue
				}
				if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), strings.Fields(text)); code != 0 {
					t.Errorf("%s: exit code %d: %s", line, code, talk.String())
				}
				if !strings.Contains(text, " -o m") && out.Len() == 0 {
					t.Errorf("%s: no output", line)
				}
			}
		})
	})
}

// TestSuite holds plugins.yaml equal to the commands, both ways.
func TestSuite(t *testing.T) {
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	if root.Name() != s.Binary || root.CommandPath() != "kubectl "+s.Name || root.Short != s.ShortDescription {
		t.Errorf("the root is %s (%s): %q; plugins.yaml has %s, %s: %q", root.Name(), root.CommandPath(), root.Short, s.Binary, s.Name, s.ShortDescription)
	}
	listed := map[string]string{}
	for _, c := range s.Commands {
		listed[c.Name] = c.Short
	}
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			continue
		}
		if listed[c.Name()] != c.Short {
			t.Errorf("plugins.yaml says %q of %s, its help says %q", listed[c.Name()], c.Name(), c.Short)
		}
		delete(listed, c.Name())
	}
	for name := range listed {
		t.Errorf("plugins.yaml lists %s, which is no command", name)
	}
	for _, a := range s.Aliases {
		if cmd, _, err := root.Find([]string{a.Command}); err != nil || cmd.Name() != a.Command {
			t.Errorf("plugins.yaml has the alias %s of %s, which is no command", a.Name, a.Command)
		}
	}
}

// TestReference holds docs/commands.md equal to the help; -update writes it.
func TestReference(t *testing.T) {
	root := newRoot()
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made from the help of the commands (`go test ./internal/cli -run TestReference -update`).\n")
	writeTree(&b, root)
	walk(root, func(c *cobra.Command) {
		b.WriteString("\n## " + strings.TrimSuffix(c.UseLine(), " [flags]") + "\n\n" + c.Short + ".\n")
		long := strings.TrimSpace(c.Long)
		switch scripts := c.Parent().Name() == "completion" && c.Example == ""; {
		case scripts:
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", long)
		case long != "":
			b.WriteString("\n" + long + "\n")
		}
		if len(c.Aliases) > 0 {
			b.WriteString("\nAlso: " + strings.Join(c.Aliases, ", ") + ".\n")
		}
		ranBy := "TestHelpExamples"
		if c.Parent().Name() == "completion" {
			ranBy = "TestScripts"
		}
		if c.Example != "" {
			b.WriteString("\n```sh elsewhere=" + ranBy + "\n")
			for line := range strings.Lines(c.Example) {
				b.WriteString(strings.TrimPrefix(line, "  "))
			}
			b.WriteString("\n```\n")
		}
		if own := flags(c); own != "" {
			b.WriteString("\n```text\n" + own + "```\n")
		}
	})
	graph, _, err := root.Find([]string{"graph"})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n## Flags of the connection\n\nThose of kubectl, of every command that asks a cluster:\n\n```text\n" + usages(graph, func(name string) bool { return slices.Contains(kubectlFlags, name) }) + "```\n")
	b.WriteString("\n## Flags of every command\n\n```text\n" + root.PersistentFlags().FlagUsages() + "  -h, --help        help for the command\n```\n")
	golden(t, "../../docs/commands.md", b.String())
}

// writeTree lists the commands, and which of them are plugins of their own.
func writeTree(b *strings.Builder, root *cobra.Command) {
	b.WriteString("\n| command | what it does |\n|---|---|\n")
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			continue
		}
		name := "`" + c.Name() + "`"
		if c.HasAvailableSubCommands() {
			var below []string
			for _, s := range c.Commands() {
				if s.IsAvailableCommand() {
					below = append(below, s.Name())
				}
			}
			name += ": " + strings.Join(below, ", ")
		}
		b.WriteString("| " + name + " | " + c.Short + " |\n")
	}
	b.WriteString("\nA link to the binary that is called `kubectl-sysop_COMMAND` makes a command a plugin of its own,\n`kubectl sysop-COMMAND`: see [completion](completion.md).\n")
}

// flags is the usage of a command's own flags, without those of the connection,
// which are kubectl's.
func flags(c *cobra.Command) string {
	return usages(c, func(name string) bool { return !slices.Contains(kubectlFlags, name) })
}

// usages is the usage of the flags of a command that are wanted.
func usages(c *cobra.Command, wanted func(string) bool) string {
	var out []string
	for line := range strings.Lines(c.LocalNonPersistentFlags().FlagUsages()) {
		name := strings.TrimSpace(line)
		if i := strings.Index(name, "--"); i >= 0 {
			name, _, _ = strings.Cut(name[i+2:], " ")
		}
		if wanted(name) {
			out = append(out, strings.ReplaceAll(line, os.Getenv("HOME"), "~"))
		}
	}
	return strings.Join(out, "")
}

var kubectlFlags = []string{
	"as", "as-group", "as-uid", "as-user-extra", "cache-dir", "certificate-authority", "client-certificate", "client-key", "cluster", "context",
	"disable-compression", "insecure-skip-tls-verify", "kubeconfig", "proxy-url", "request-timeout", "server", "tls-server-name", "token", "user",
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Clean(name), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go test ./internal/cli -update", name)
	}
}
