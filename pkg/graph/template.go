package graph

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// labelPair is a label with its value.
type labelPair struct{ key, value string }

// idle are the workloads of a namespace without pods, by the labels of their pod templates.
type idle struct {
	rows   []inventory.ID
	labels []labels.Set
	by     map[labelPair][]int
}

func (w *idle) add(row inventory.ID, l labels.Set) {
	for k, v := range l {
		w.by[labelPair{k, v}] = append(w.by[labelPair{k, v}], len(w.rows))
	}
	w.rows, w.labels = append(w.rows, row), append(w.labels, l)
}

// templates links what selects pods to the workloads without pods whose template matches: scaled to
// 0, between two runs, or a manifest that was never applied.
func (r *resolver) templates() {
	if len(r.fronts) == 0 {
		return
	}
	in := r.idle()
	for i := range r.fronts {
		f := &r.fronts[i]
		t := r.selectors[f.link.target]
		switch {
		case t.Namespaces != nil:
			chosen := inventory.Query{Labels: t.Namespaces.Labels, Expressions: t.Namespaces.Expressions}
			for _, ns := range r.index.Select(namespaceKind, "", true, chosen) {
				r.front(f, t.Selector, in[r.inv.Ref(ns).Name])
			}
		case t.AllNamespaces:
			for _, w := range in {
				r.front(f, t.Selector, w)
			}
		default:
			r.front(f, t.Selector, in[t.Namespace])
		}
	}
}

// idle returns the workloads without pods, by namespace.
func (r *resolver) idle() map[string]*idle {
	busy, out := r.busy(), map[string]*idle{}
	for i := range r.evidence {
		e := &r.evidence[i]
		if r.rules.Rules()[e.link.rule].Name != relation.WorkloadTemplate || busy[e.row] || r.canonical(e.row) != e.row {
			continue
		}
		ns := r.inv.Ref(e.row).Namespace
		if out[ns] == nil {
			out[ns] = &idle{by: map[labelPair][]int{}}
		}
		out[ns].add(e.row, r.selections.selector(r.inv, uint32(e.link.target)).Labels)
	}
	return out
}

// busy returns the owners of pods, direct or through a ReplicaSet of a Deployment or a Job of a
// CronJob.
func (r *resolver) busy() map[inventory.ID]bool {
	busy := map[inventory.ID]bool{}
	for _, between := range []bool{false, true} {
		for i := range r.edges {
			e := &r.edges[i]
			if rule := &r.rules.Rules()[e.rule]; rule.Relation != relation.Owns || rule.Manages {
				continue
			}
			if between && busy[e.to] || !between && r.inv.Ref(e.to).GroupKind() == podKind {
				busy[e.from] = true
			}
		}
	}
	return busy
}

// front adds the edges from an object to the workloads that its selector of pods matches.
func (r *resolver) front(f *said, s *relation.Selector, w *idle) {
	if w == nil || s.Annotation != "" || s.Name != nil || s.Key != "" {
		return
	}
	fits, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: s.Labels, MatchExpressions: s.Expressions})
	if err != nil {
		return
	}
	l := f.link
	l.flags |= byTemplate
	try := func(i int) {
		if fits.Matches(w.labels[i]) && known(s.Expressions, w.labels[i]) {
			r.add(f.row, w.rows[i], &l)
		}
	}
	if rarest, ok := w.rarest(s.Labels); ok {
		for _, i := range rarest {
			try(i)
		}
		return
	}
	for i := range w.rows {
		try(i)
	}
}

// rarest returns the workloads with the label that the fewest have; false without labels.
func (w *idle) rarest(labels map[string]string) (best []int, ok bool) {
	for k, v := range labels {
		if with := w.by[labelPair{k, v}]; !ok || len(with) < len(best) {
			best, ok = with, true
		}
	}
	return best, ok
}

// known reports whether a template decides the expressions of a selector. Controllers and admission
// add labels to pods, so the absence of a label is unknown.
func known(expressions []metav1.LabelSelectorRequirement, l labels.Set) bool {
	return !slices.ContainsFunc(expressions, func(e metav1.LabelSelectorRequirement) bool { return !l.Has(e.Key) })
}
