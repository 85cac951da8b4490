package regulatecmd

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
)

// Every command of regulation takes the System first, or by -f or --system, and the app behind
// it, or by --app.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		args             string
		named, file, app string
		system, is, err  string
	}{
		{args: "shop web", system: "shop", is: "web"},
		{args: "shop", app: "web", system: "shop", is: "web"},
		{args: "web", named: "shop", system: "shop", is: "web"},
		{named: "shop", app: "web", system: "shop", is: "web"},
		{args: "web", file: "shop.yaml", is: "web"},
		{file: "shop.yaml", app: "web", is: "web"},
		{args: "web", is: "web"}, // of the only System of the namespace
		{app: "web", is: "web"},
		{args: "shop web", app: "db", err: `"web": too many apps`},
		{args: "shop web", named: "shop", err: `"web": too many apps`},
		{args: "web", file: "shop.yaml", app: "db", err: `"web": too many apps`},
		{named: "shop", err: "which app?"},
		{err: "which app?"},
	} {
		o := &regulateOptions{systemName: c.named, file: c.file, app: c.app}
		system, app, err := o.splitOne(strings.Fields(c.args))
		switch {
		case c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)), c.err == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case system != c.system || app != c.is:
			t.Errorf("%+v: %q %q", c, system, app)
		}
	}
	o := &regulateOptions{}
	if system, apps, err := o.split([]string{"shop", "web", "db"}, 0); err != nil || system != "shop" || !slices.Equal(apps, []string{"web", "db"}) {
		t.Errorf("%s %v %v", system, apps, err)
	}
	o.systemName = "shop"
	if name, err := o.systemOf(nil); name != "shop" || err != nil {
		t.Errorf("%s %v", name, err)
	}
	if _, err := o.systemOf([]string{"shop"}); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Error(err)
	}
}

// All of them have the flags, and what is written on the line is one and the same.
func TestRegulateNaming(t *testing.T) {
	env := func(out io.Writer) command.Env {
		return command.Env{
			IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard},
			Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Time{} },
		}
	}
	for _, cmd := range New(env(io.Discard)).Commands() {
		if name := cmd.Name(); name == "signals" {
			continue // it is about kinds
		}
		if cmd.Flags().Lookup("system") == nil || !strings.Contains(cmd.Use, "[SYSTEM]") {
			t.Errorf("%s: the System is named otherwise", cmd.Use)
		}
		if takes := strings.Contains(cmd.Use, "APP"); takes != (cmd.Flags().Lookup("app") != nil) {
			t.Errorf("%s: the app is named otherwise", cmd.Use)
		}
	}
	run := func(args string) string {
		var out bytes.Buffer
		cmd := New(env(&out))
		cmd.SetArgs(strings.Fields(args + " -f demo --from demo"))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		return out.String()
	}
	for _, same := range [][2]string{
		{"stop wordpress --dry-run=client", "stop --app wordpress --dry-run=client"},
		{"recover wordpress --dry-run=client", "recover --app wordpress --dry-run=client"},
		{"neighbours db", "neighbours --app db"},
	} {
		if a, b := run(same[0]), run(same[1]); a != b || a == "" {
			t.Errorf("%s:\n%s\n%s:\n%s", same[0], a, same[1], b)
		}
	}
}
