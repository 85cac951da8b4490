package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// checkSelectors finds members whose selectors match nothing.
func (d *diagnosis) checkSelectors() {
	var resting map[string][]scaledToZero
	for i := range d.g.emptySelectors {
		h := &d.g.emptySelectors[i]
		id := d.g.number[h.row]
		if id < 0 || !d.s.Has(id) || d.g.rows[id] != h.row {
			continue
		}
		t := d.g.selectors[h.link.target]
		if !d.g.readWhole(t) {
			continue
		}
		if resting == nil {
			resting = d.g.resting()
		}
		d.selectsNothing(id, &h.link, t, resting[t.Namespace])
	}
}

// readWhole reports whether everything that a selector could match was read.
func (g *Graph) readWhole(t relation.Target) bool {
	if g.kinds.NotServed(t.Kind) {
		return true
	}
	if t.Namespaces != nil {
		return g.inv.Covered(namespaceKind, "") && g.inv.Covered(t.Kind, "")
	}
	if t.AllNamespaces {
		return g.inv.Covered(t.Kind, "")
	}
	return g.inv.Covered(t.Kind, t.Namespace)
}

// scaledToZero is a workload that is scaled to 0, with the labels of its pod template.
type scaledToZero struct {
	id     ID
	labels labels.Set
}

// resting returns the workloads that are scaled to 0, by namespace, in order.
func (g *Graph) resting() map[string][]scaledToZero {
	out := map[string][]scaledToZero{}
	still := map[ID]bool{}
	for id := range g.evidenceLinks(relation.WorkloadAtRest) {
		still[id] = true
	}
	for id, l := range g.evidenceLinks(relation.WorkloadTemplate) {
		if ns := g.Ref(id).Namespace; still[id] {
			out[ns] = append(out[ns], scaledToZero{id, g.selector(l).Labels})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b scaledToZero) int { return int(a.id - b.id) })
	}
	return out
}

func (d *diagnosis) selectsNothing(id ID, l *link, t relation.Target, resting []scaledToZero) {
	self, field := d.g.Ref(id), d.g.inv.Text(l.field)
	p := Problem{Object: self, Reason: SelectorMatchesNothing, Severity: Info, Field: field}
	evidence := fmt.Sprintf("%s %q", field, d.g.inv.Text(l.value))
	if self.GroupKind() != serviceKind || t.Kind != podKind {
		p.Message = fmt.Sprintf("%s selects no %s%s: it has no effect today", evidence, t.Kind, scopeText(t))
		d.problems = append(d.problems, p)
		return
	}
	p.Reason, p.Severity = ServiceSelectsNothing, Warning
	s, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: t.Selector.Labels, MatchExpressions: t.Selector.Expressions})
	for _, w := range resting {
		if err == nil && s.Matches(w.labels) {
			p.Severity, p.Related = Info, d.g.Ref(w.id)
			p.Message = fmt.Sprintf("selects no pod: %s, which it serves, is scaled to 0", near(p.Related, self))
			d.problems = append(d.problems, p)
			return
		}
	}
	if role, ok := d.standby(t); ok {
		p.Severity = Info
		p.Message = fmt.Sprintf("selects no pod: there is no %s today", role)
		d.problems = append(d.problems, p)
		return
	}
	reason, out := d.emptyReason(t)
	p.Message = fmt.Sprintf("selects no pod, so no endpoint serves it: %s (%s); %s -n %s", reason, evidence, out, self.Namespace)
	d.problems = append(d.problems, p)
}

// standby reports whether a Service is for replicas of running pods: without the label for the role
// its selector matches pods. A database of one instance has no replicas.
func (d *diagnosis) standby(t relation.Target) (string, bool) {
	rest, role := maps.Clone(t.Selector.Labels), ""
	for key, value := range rest {
		switch strings.ToLower(value) {
		case "replica", "replicas", "secondary", "standby", "slave", "follower":
			role = value
			delete(rest, key)
		}
	}
	if role == "" || len(rest) == 0 {
		return "", false
	}
	one := inventory.Query{Labels: rest, Expressions: t.Selector.Expressions}
	return role, len(d.index().Select(t.Kind, t.Namespace, false, one)) > 0
}

// emptyReason says which labels no pod has, and what to check.
func (d *diagnosis) emptyReason(t relation.Target) (reason, out string) {
	all := len(d.index().OfKind(t.Kind, t.Namespace, false))
	if all == 0 {
		return "there are no pods in " + t.Namespace, "see why none is created: kubectl get events"
	}
	var none []string
	for _, k := range slices.Sorted(maps.Keys(t.Selector.Labels)) {
		one := inventory.Query{Labels: map[string]string{k: t.Selector.Labels[k]}}
		if len(d.index().Select(t.Kind, t.Namespace, false, one)) == 0 {
			none = append(none, k+"="+t.Selector.Labels[k])
		}
	}
	if len(none) == 0 {
		none = []string{"all of the labels"}
	}
	return fmt.Sprintf("of %s none has %s", count(all, "pod"), strings.Join(none, " or ")), "compare kubectl get pods --show-labels"
}

func scopeText(t relation.Target) string {
	if t.AllNamespaces || t.Namespaces != nil || t.Namespace == "" {
		return ""
	}
	return " in " + t.Namespace
}
