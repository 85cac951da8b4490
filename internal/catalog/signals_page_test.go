package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

const signalsPage = "../../docs/signals.md"

// TestSignalsPage holds the page of signals equal to the entries; -update writes it.
func TestSignalsPage(t *testing.T) {
	got := pageOfSignals()
	if *update {
		if err := os.WriteFile(signalsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(signalsPage)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./internal/catalog", signalsPage)
	}
}

const aboutSignals = `# How objects are paused and stopped

This page is made from the entries of the catalog (` + "`go generate ./internal/catalog`" + `): %d signals of %d
kinds and patterns of kinds. ` + "`kubectl sysop regulate signals`" + ` shows those of the kinds that a
cluster serves; an action ` + "`preset: pause`" + ` or ` + "`preset: stop`" + ` of a System sends one.

A **pause** leaves the workload running, and a **stop** does not, or ends a run. The same word means
opposite things: ` + "`spec.pause`" + ` of Percona's operators stops the database, ` + "`spec.paused`" + ` of others only
their operator. So each signal says what it does, by its mode:

| mode | what it does |
|---|---|
| pause-reconcile | the operator leaves the object alone; what it runs goes on |
| pause-rollout | no change is rolled out; what runs goes on |
| pause-scaling | nothing is scaled; what runs goes on |
| hold-admission | nothing new is let in; of a stop, what was let in may be put out |
| suspend-run | no new runs; of a stop, a run that is on may end |
| stop-workload | pods go, or what runs in them |

What is marked **allowStop** stops what keeps data, or its operator warns of it: a manifest must allow it.
A preset in brackets is another way to the same end: no preset means it, and who wants it
writes it as a patch. "Back" is what operators document for the way back; what Recover puts back
is what was there before, to the byte. A kind is written Kind.group; ` + "`*.group`" + ` is any kind of a group,
` + "`*.*.group`" + ` any kind of the groups below one.

An operator that is older than a signal ignores it (in an entry, ` + "`since`" + ` is the release that first reads it). Where
its status says that it has read the signal, the entry has an expression that is true then
(` + "`reacted`" + `, in the language of [health rules](health-rules.md)), and an app is held only when it is: [how](regulation.md#actions).
Where no status says so, a plan says that it cannot be verified.

## Kinds of Kubernetes, and whatever has the subresource scale

`

// noSignals is what was looked for and not found.
const noSignals = `
## What has none

In the sources of these operators nothing was found that pauses or stops an object: cert-manager,
External Secrets, Knative Serving, Longhorn, MongoDB (community), MinIO, the Redis operator of
Spotahome, VitessCluster. An action ` + "`patch`, `scale` or `annotate`" + ` does what you write.
`

func pageOfSignals() string {
	var b strings.Builder
	count, kinds := 0, map[string]bool{}
	table := func(all []signals.Signal) {
		b.WriteString("| kind | preset | mode | writes | back | effect | to be known | source |\n|---|---|---|---|---|---|---|---|\n")
		for _, s := range all {
			count++
			kinds[s.Kind] = true
			row(&b, signalRow(s)...)
		}
	}
	table(signals.BuiltIn())
	for _, e := range catalog.All() {
		var own []signals.Signal
		for _, s := range catalog.Signals(nil) {
			if s.Origin == e.Origin() {
				own = append(own, s)
			}
		}
		if len(own) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n`catalog/%s.yaml`.\n\n", e.Title, e.Name)
			table(own)
		}
	}
	return fmt.Sprintf(aboutSignals, count, len(kinds)) + b.String() + noSignals
}

func signalRow(s signals.Signal) []string {
	kind, preset := "`"+s.Kind+"`", s.Preset
	if len(s.Except) > 0 {
		kind += " but " + strings.Join(s.Except, ", ")
	}
	if len(s.Categories) > 0 {
		kind += "; and custom kinds of the categories " + strings.Join(s.Categories, ", ")
	}
	if s.Other {
		preset = "(" + preset + ")"
	}
	if s.NeedsAllowStop() {
		preset += ", **allowStop**"
	}
	known := s.Warning()
	if s.Requires != "" {
		known = strings.TrimPrefix(known+"; only where `"+s.Requires+"` is set", "; ")
	}
	if len(s.Versions) > 0 {
		known = strings.TrimPrefix(known+"; in "+strings.Join(s.Versions, ", "), "; ")
	}
	return []string{kind, preset, string(s.Mode), "`" + s.Text() + "`", "`" + s.ResumeText() + "`", s.Effect, known, s.Source}
}
