package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// runEvents are events of an installation, with a signal to an app meanwhile.
func runEvents() []journal.Event {
	web := &journal.EventObject{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", UID: "1"}
	all := []journal.Event{
		journal.WaitingForLock("shop", "bob", time.Time{}),
		{Kind: journal.EventStarted, Action: string(install.Upgrade)},
		{Kind: journal.EventStarted, Signal: "Stop", Action: "scale", App: "web", Object: web},
		{Kind: journal.EventDone, Signal: "Stop", Action: "scale", App: "web", Object: web, Message: "spec.replicas = 0", Reason: "an upgrade"},
		{Kind: journal.EventFailed, Signal: "drain", App: "web", Message: "not sent: \x1b[2J"},
		{Kind: journal.EventStarted, Action: string(install.UpgradeRelease), App: "db", Step: "release/shop/db"},
		{Kind: journal.EventDone, Action: string(install.UpgradeRelease), App: "db", Step: "release/shop/db"},
		{Kind: journal.EventUndoing, Step: "release/shop/db", Message: "not Healthy"},
		{Kind: journal.EventNotUndone, Step: "release/shop/db", Message: "forbidden"},
		{Kind: journal.EventUndone, Step: "namespace/shop"},
		{Kind: journal.EventNoted, Message: "a claim stays"},
		{Kind: journal.EventNotUndone, Action: string(install.Upgrade), Message: "not Healthy"},
	}
	for i := range all {
		all[i].At = time.Date(2026, 5, 1, 10, 0, i, 0, time.UTC)
	}
	return all
}

// Signals are printed where a terminal is, or if that is requested.
func TestProgress(t *testing.T) {
	signals := "Stop web Deployment.apps/shop/web: spec.replicas = 0\ndrain web: not sent: \\x1b[2J\n"
	before := "  waiting for the lock of shop: bob holds it\n"
	after := "upgrade release: release/shop/db\nundoing: not Healthy\n  left: release/shop/db: forbidden\n  undone: namespace/shop\nnote: a claim stays\n"
	for _, c := range []struct {
		mode     string
		terminal bool
		want     string
	}{
		{"auto", true, before + signals + after},
		{"auto", false, before + after},
		{"plain", false, before + signals + after},
		{"none", true, ""},
	} {
		var out bytes.Buffer
		p := NewProgressPrinter(Env{IOStreams: genericiooptions.IOStreams{ErrOut: &out}, Talk: c.terminal})
		p.mode = c.mode
		for _, e := range runEvents() {
			p.Print(e)
		}
		if out.String() != c.want {
			t.Errorf("%s, a terminal %v: got\n%swant\n%s", c.mode, c.terminal, &out, c.want)
		}
	}
}

// Each event is a line of JSON by the published schema.
func TestProgressJSON(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../docs/schema/event.json")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := NewProgressPrinter(Env{IOStreams: genericiooptions.IOStreams{ErrOut: &out}})
	p.mode = "json"
	for _, e := range runEvents() {
		p.Print(e)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(runEvents()) {
		t.Fatalf("%d lines for %d events", len(lines), len(runEvents()))
	}
	for _, line := range lines {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	p.mode = "loud"
	if err := p.Validate(); err == nil {
		t.Error("an unknown mode is accepted")
	}
}
