package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// stateOf is what the UIState of a look is made from.
func (v *uiSource) stateOf(l *uiSnapshot, costs []view.UIGrouping) view.UIInput {
	of := view.UIInput{
		Head: v.head(l), Graph: l.graph, Assessment: l.assessment,
		Report: l.report, Ledger: l.ledger, Placement: l.place, Reading: l.reading, Costs: costs,
		Events: l.events, CreatedAt: v.created.createdAt, NoInferred: v.in.noInferred,
	}
	switch {
	case !v.members, v.all:
		of.Here = func(id graph.ID) bool { return l.asked || l.inNamespace(l.graph.Ref(id)) }
	case !l.asked:
		of.Here = func(id graph.ID) bool {
			return l.inNamespace(l.graph.Ref(id)) && l.assessment.OwnHealth(id).Status.Worse(health.Progressing)
		}
	}
	for i := range l.found {
		of.Stacks = append(of.Stacks, l.found[i].UIFound)
	}
	return of
}

func (v *uiSource) head(l *uiSnapshot) view.UIState {
	p := view.UIState{
		Version: v.in.version, Title: v.title(l), At: l.session.moment().UTC().Format(time.RFC3339), Mode: v.mode, Source: v.in.sourceText(), View: v.shown,
		Currency: l.report.Currency, Prices: l.q.book.Name, Parts: v.parts(l), Gaps: l.graph.Gaps(),
	}
	if !l.everywhere() {
		p.Namespace = l.session.namespace
	}
	if r := l.reading; !r.Instant() {
		p.Window = view.WindowOf(r)
	}
	for _, n := range l.reading.Notes {
		p.Notes = append(p.Notes, view.NoteDocument{Source: n.Source, About: n.Subject, Reason: n.Reason, Message: n.Message, Partial: n.LowersFigures})
	}
	for _, f := range l.session.findings {
		p.Notes = append(p.Notes, view.NoteDocument{About: f.CRD, Reason: "Rules", Message: f.Message})
	}
	return p
}

// legible makes visible what hides in what others wrote freely, or turns it around: somebody's
// status says on a page what it says on a terminal. The ends of lines are blanks there.
func legible(p *view.UIState) *view.UIState {
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

// title is what is asked about.
func (v *uiSource) title(l *uiSnapshot) string {
	switch {
	case len(v.q.args) > 0:
		return strings.Join(v.q.args, " ")
	case l.everywhere():
		return "all namespaces"
	}
	return "namespace " + l.session.namespace
}

// sourceText is what is read: the context of the kubeconfig, or the snapshot, of which a page that is
// handed on tells no directory.
func (c *input) sourceText() string {
	if c.from != "" {
		return "snapshot " + filepath.Base(c.from)
	}
	if given(c.config.Context) {
		return "context " + *c.config.Context
	}
	raw, err := c.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil || raw.CurrentContext == "" {
		return "cluster"
	}
	return "context " + raw.CurrentContext
}

// parts says of what a UIState lacks why, and how it can be had.
func (v *uiSource) parts(l *uiSnapshot) map[string]string {
	parts := map[string]string{}
	maps.Copy(parts, v.missingSources)
	if why := l.unmeasuredAll(); why != "" {
		parts["usage"] = why
	}
	if !l.report.Total.Priced() {
		parts["cost"] = "nothing has a cost: no pod on a node, no volume claim, no load balancer"
	}
	if l.deaf != nil {
		parts["events"] = "warnings could not be read: " + l.deaf.Message
	}
	return parts
}

// unmeasuredAll is why the usage of no pod is known; empty where that of one is, or where there
// are none.
func (l *uiSnapshot) unmeasuredAll() string {
	pods := l.reading.Pods
	if len(pods) == 0 || slices.ContainsFunc(pods, func(p metrics.Pod) bool { return p.Unmeasured == "" }) {
		return ""
	}
	i := slices.IndexFunc(l.reading.Notes, func(n metrics.Note) bool { return n.LowersFigures })
	if i < 0 {
		return "usage is unknown: " + pods[0].Unmeasured
	}
	n := l.reading.Notes[i]
	return fmt.Sprintf("usage is unknown (%s): %s; kubectl top pods shows whether a metrics server exists, and whether you may read it", cmp.Or(n.Source, n.Reason), n.Message)
}
