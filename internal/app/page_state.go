package app

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// stateOf returns the input of the UIState of one observation.
func (v *Page) stateOf(l *PageState, costs []uistate.Grouping) uistate.Input {
	input := uistate.Input{
		Head: v.head(l), Graph: l.Graph, Assessment: l.Assessment,
		Report: l.Report, Ledger: l.Ledger, Placement: l.Attribution, Reading: l.Reading, Costs: costs,
		Events: map[object.Ref][]uistate.Event{}, CreatedAt: v.Created.CreatedAt, PortsOf: v.services.ports, NoInferred: v.Input.NoInferred,
	}
	for ref, events := range l.events {
		for _, e := range events {
			input.Events[ref] = append(input.Events[ref], uistate.NewEvent(e.Reason, e.Message, e.Count, e.Last))
		}
	}
	switch {
	case !v.Members, v.All:
		input.Here = func(id graph.ID) bool { return l.asked || l.inNamespace(l.Graph.Ref(id)) }
	case !l.asked && len(v.Among) == 0:
		input.Here = func(id graph.ID) bool {
			return l.inNamespace(l.Graph.Ref(id)) && l.Assessment.OwnHealth(id).Status.Worse(health.Progressing)
		}
	}
	for i := range l.Found {
		input.Stacks = append(input.Stacks, l.Found[i].Found)
	}
	return input
}

func (v *Page) head(l *PageState) uistate.State {
	p := uistate.State{
		Version: v.Input.Version, Title: v.title(l), At: l.Session.AsOf().UTC().Format(time.RFC3339), Mode: v.Mode, Source: v.Input.sourceText(), Flags: v.Flags, View: v.Shown, Address: v.Address,
		Currency: l.Report.Currency, Prices: l.Request.Book.Name, SharedAmong: l.SharedAmong(), Parts: v.parts(l), Gaps: l.Graph.Gaps(),
		Window: document.WindowOf(l.Reading), Notes: document.NotesOf(l.Reading),
	}
	if !l.everywhere() {
		p.Namespace = l.Session.Namespace
	}
	for _, f := range l.Session.Findings {
		p.Notes = append(p.Notes, document.Note{About: f.CRD, Reason: "Rules", Message: f.Message})
	}
	return p
}

// EscapeTexts escapes invisible and direction-changing characters in text from objects, so that a
// status reads the same on the page and on a terminal. Ends of lines become blanks.
func EscapeTexts(p *uistate.State) *uistate.State {
	text := func(s *string) { *s = render.Escape(oneLine.Replace(*s)) }
	for _, n := range p.Nodes {
		if n == nil {
			continue
		}
		text(&n.Reason)
		text(&n.Message)
		for i := range n.Events {
			text(&n.Events[i].Reason)
			text(&n.Events[i].Message)
		}
	}
	return p
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// title is the scope of the request.
func (v *Page) title(l *PageState) string {
	switch {
	case len(v.Request.Args)+len(v.Among) > 0:
		return strings.Join(append(v.Among, v.Request.Args...), " ")
	case l.everywhere():
		return "all namespaces"
	}
	return "namespace " + l.Session.Namespace
}

// sourceText is the context of the kubeconfig, or the snapshot. An exported page shows no
// directory.
func (c *Input) sourceText() string {
	if c.From != "" {
		return "snapshot " + filepath.Base(c.From)
	}
	if Given(c.Config.Context) {
		return "context " + *c.Config.Context
	}
	raw, err := c.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil || raw.CurrentContext == "" {
		return "cluster"
	}
	return "context " + raw.CurrentContext
}

// parts returns for each missing part of a UIState why it is missing, and how to get it.
func (v *Page) parts(l *PageState) map[string]string {
	parts := map[string]string{}
	maps.Copy(parts, v.MissingSources)
	if reason := l.unmeasuredAll(); reason != "" {
		parts["usage"] = reason
	}
	if !l.Report.Total.Priced() {
		parts["cost"] = "nothing has a cost: no pod on a node, no volume claim, no load balancer"
	}
	if l.EventsGap != nil {
		parts["events"] = "warnings could not be read: " + l.EventsGap.Message
	}
	return parts
}

// MissingInFile gives the remedy for each thing that a file lacks.
func MissingInFile() map[string]string {
	const live = "a file has no server: "
	return map[string]string{
		"history":    live + "kubectl sysop ui --prometheus URL shows costs over time",
		"checks":     live + "kubectl sysop ui, or kubectl sysop check",
		"regulation": live + "kubectl sysop ui, or kubectl sysop regulate status",
		"manifest":   live + "kubectl sysop ui, or kubectl get -o yaml",
		"compose":    live + "kubectl sysop ui, or kubectl sysop system init",
	}
}

// unmeasuredAll is why the usage of every pod is unknown; empty if that of one is known, or without
// pods.
func (l *PageState) unmeasuredAll() string {
	pods := l.Reading.Pods
	if len(pods) == 0 || slices.ContainsFunc(pods, func(p metrics.Pod) bool { return p.Unmeasured == "" }) {
		return ""
	}
	i := slices.IndexFunc(l.Reading.Notes, func(n metrics.Note) bool { return n.LowersFigures })
	if i < 0 {
		return "usage is unknown: " + pods[0].Unmeasured
	}
	n := l.Reading.Notes[i]
	return fmt.Sprintf("usage is unknown (%s): %s; kubectl top pods shows whether a metrics server exists, and whether you may read it", cmp.Or(n.Source, n.Reason), n.Message)
}
