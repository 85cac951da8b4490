package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
)

var update = flag.Bool("update", false, "write the generated files anew")

// TestMain makes the plugin a command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-sysop": func() {
			demo := examples.Demo()
			if dir := os.Getenv(demoVariable); dir != "" {
				demo = os.DirFS(dir)
			}
			os.Exit(cli.Main(context.Background(), cli.Process(demo), os.Args[1:]))
		},
	})
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

func env(in io.Reader, out, talk io.Writer) cli.Env {
	return cli.Env{
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: talk},
		Getenv:    os.Getenv, Demo: demotest.FS(),
		Now: func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) },
	}
}

// walk calls f for every command that a user can run.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			if c.Runnable() && !c.HasSubCommands() {
				f(c)
			}
			walk(c, f)
		}
	}
}

func newRoot() *cobra.Command {
	root := cli.New(env(strings.NewReader(""), io.Discard, io.Discard))
	root.InitDefaultCompletionCmd()
	return root
}

// live are the commands whose examples need a cluster, and what they say of a snapshot. An
// example that comes to that has been read whole.
var live = map[string]string{"adopt": "error: --from: a snapshot is no cluster", "release": "error: --from: a snapshot is no cluster", "logs": "error: --from: a snapshot holds no logs"}

// TestExamples runs each example of each command's help, as it stands there.
func TestExamples(t *testing.T) {
	walk(newRoot(), func(c *cobra.Command) {
		if c.Parent().Name() == "completion" {
			return // cobra's own
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
				if refusal, ok := live[c.Name()]; ok {
					code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), append(strings.Fields(text), "--from", "demo"))
					if code != cli.ExitError || !strings.HasPrefix(talk.String(), refusal) {
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
	b, err := os.ReadFile("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Commands []struct{ Name, Short string }
	}
	if err := yaml.Unmarshal(b, &suite); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, c := range suite.Commands {
		listed[c.Name] = c.Short
	}
	for _, c := range newRoot().Commands() {
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
}

// TestReference holds docs/commands.md equal to the help; -update writes it.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made from the help of the commands (`go test ./internal/cli -run TestReference -update`).\n")
	walk(newRoot(), func(c *cobra.Command) {
		if c.Parent().Name() == "completion" {
			return
		}
		b.WriteString("\n## " + strings.TrimSuffix(c.UseLine(), " [flags]") + "\n\n" + c.Short + ".\n")
		if c.Long != "" {
			b.WriteString("\n" + c.Long + "\n")
		}
		b.WriteString("\n```console\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString(strings.TrimPrefix(line, "  "))
		}
		b.WriteString("\n```\n\n```text\n" + flags(c) + "```\n")
	})
	golden(t, "../../docs/commands.md", b.String())
}

// flags is the usage of a command's own flags, without those of the connection,
// which are kubectl's.
func flags(c *cobra.Command) string {
	var out []string
	for line := range strings.Lines(c.LocalNonPersistentFlags().FlagUsages()) {
		name := strings.TrimSpace(line)
		if i := strings.Index(name, "--"); i >= 0 {
			name, _, _ = strings.Cut(name[i+2:], " ")
		}
		if !slices.Contains(kubectlFlags, name) {
			out = append(out, strings.ReplaceAll(line, os.Getenv("HOME"), "~"))
		}
	}
	return strings.Join(out, "")
}

var kubectlFlags = []string{
	"as", "as-group", "as-uid", "as-user-extra", "cache-dir", "certificate-authority", "client-certificate", "client-key", "cluster", "context",
	"disable-compression", "insecure-skip-tls-verify", "kubeconfig", "request-timeout", "server", "tls-server-name", "token", "user",
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
