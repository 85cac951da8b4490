package systems

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// ObserveLevel is Observe, the level of the System and the drift of its labels, all from one reading.
// source is how commands name the System.
func ObserveLevel(ctx context.Context, in *app.Input, s *system.System, source level.Source) (*View, *level.Report, error) {
	extract := in.Extract
	defer func() { in.Extract = extract }()
	facts, copies := in.CollectFacts(), in.CollectCopies()
	namespace := in.Config.Namespace
	defer func() { in.Config.Namespace = namespace }()
	l, err := Open(ctx, in, s)
	if err != nil {
		return nil, nil, err
	}
	l.everywhere = levelKinds
	if err := l.Observe(ctx); err != nil {
		return nil, nil, err
	}
	w := l.Session.CheckWorld(l.Graph, facts, l.Session.Kinds, l.Session.Inventory)
	w.Copies, w.Now = copies.Copies(l.Graph), l.Session.AsOf()
	roots := make([][]object.Ref, len(s.Apps))
	for i := range l.State.Apps {
		roots[i] = l.State.Apps[i].Roots
	}
	w.System = app.Declared(s, roots)
	w.System.Namespace = l.Namespace
	rules := level.Rules(all.Rules())
	var subjects []*check.Subject
	for i := range w.System.Apps {
		a := &w.System.Apps[i]
		a.Missing, a.Unread = l.State.Apps[i].Absent, l.State.Apps[i].Unread
		if stack := l.stackOf(w, a); stack != nil {
			subjects = append(subjects, stack.Check(rules))
		}
	}
	report := check.NewReport(subjects, all.Rules(), s.Waivers, w, w.Now)
	report.Rules = rules // also of a System without a root that exists
	l.Drift = s.LabelDrift(func(ref object.Ref) (own, pods map[string]string, ok bool) {
		id, found := l.Graph.Find(ref)
		if !found || l.Graph.State(id) != graph.Present || !l.Graph.WasRead(id) {
			return nil, nil, false
		}
		if wl, runs := w.Workload(ref); runs && wl.Ref == ref && wl.Template != nil {
			pods = wl.Template.Labels
			if pods == nil {
				pods = map[string]string{}
			}
		}
		return l.Graph.Labels(id), pods, true
	})
	out, _ := level.Of(w.System, report, source)
	return l, out, nil
}

// levelKinds are the kinds whose objects in any namespace may concern a level of a System.
func levelKinds(kinds *object.Kinds) []schema.GroupKind {
	var out []schema.GroupKind
	for _, gk := range check.WantedEverywhere(kinds) {
		if gk.Group != check.RoleKind.Group {
			out = append(out, gk)
		}
	}
	return out
}

// stackOf is the stack of an app; nil where none of its roots was found.
func (l *View) stackOf(w *check.ClusterState, a *check.SystemApp) *check.Stack {
	opts := l.In.StackOptions()
	opts.SameRoot = map[graph.ID]graph.ID{}
	var ids []graph.ID
	for _, ref := range a.Roots {
		if id, ok := l.Graph.Find(ref); ok {
			ids = append(ids, id)
			opts.SameRoot[id] = ids[0]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return &check.Stack{World: w, Ref: a.Roots[0], Stack: l.Graph.Stack(ids, opts)}
}
