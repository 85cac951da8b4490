package check

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Operators returns the operators of the cluster, as FindOperators finds them the first
// time.
func (w *ClusterState) Operators() []*Operator {
	if w.FindOperators != nil {
		w.operators.once.Do(func() { w.operators.all = w.FindOperators(w) })
	}
	return w.operators.all
}

// findOperators finds the operators of the cluster: the workloads that act on the custom
// resources of each definition. A definition of which that is not known makes an operator
// without workloads, together with the others of its group. They are in the order of their
// names.
func findOperators(w *ClusterState) []*Operator { return newOperatorSearch(w).operators() }

// OperatorOf returns what acts on the custom resources of a kind; nil where no definition
// of it was read.
func (w *ClusterState) OperatorOf(gk schema.GroupKind) *Operator {
	for _, o := range w.Operators() {
		if slices.Contains(o.Kinds, gk) {
			return o
		}
	}
	return nil
}

// FindOperator returns the operators that go by a name, in any case: their own, that of the
// catalogue, of a workload (with its namespace or without), of a Helm release or of an API
// group. The first of these that means any operator counts.
func (w *ClusterState) FindOperator(name string) []*Operator {
	all := w.Operators()
	for _, names := range []func(*Operator) []string{
		func(o *Operator) []string { return append([]string{o.Name}, w.operatorCatalogued(o)...) },
		operatorWorkloadNames, w.operatorReleases, operatorGroups,
	} {
		var found []*Operator
		for _, o := range all {
			if slices.ContainsFunc(names(o), func(n string) bool { return strings.EqualFold(n, name) }) {
				found = append(found, o)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// NearOperators returns names of operators that come close to one that none goes by, the
// nearest first, three at most.
func (w *ClusterState) NearOperators(name string) []string {
	var names []string
	for _, o := range w.Operators() {
		names = append(names, o.Name)
		names = append(names, w.operatorCatalogued(o)...)
		names = append(names, operatorWorkloadNames(o)...)
		names = append(names, w.operatorReleases(o)...)
	}
	slices.Sort(names)
	return object.Nearest(name, slices.Compact(names))
}

func (w *ClusterState) operatorCatalogued(o *Operator) []string {
	var out []string
	for _, gk := range o.Kinds {
		if name := w.catalogueName(gk); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// catalogueName returns the name that the catalogue has for the operator of a kind.
func (w *ClusterState) catalogueName(gk schema.GroupKind) string {
	if w.Catalogued == nil {
		return ""
	}
	name, _ := w.Catalogued(gk)
	return name
}

func operatorWorkloadNames(o *Operator) []string {
	var out []string
	for _, wl := range o.Workloads {
		out = append(out, wl.Ref.Name, wl.Ref.Namespace+"/"+wl.Ref.Name)
	}
	return out
}

func (w *ClusterState) operatorReleases(o *Operator) []string {
	var out []string
	for _, wl := range o.Workloads {
		if name, _ := w.releaseOf(wl.Ref); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func operatorGroups(o *Operator) []string {
	var out []string
	for _, gk := range o.Kinds {
		out = append(out, gk.Group)
	}
	return out
}

// operatorDefinition is a CustomResourceDefinition as far as its name and labels go.
type operatorDefinition struct {
	ref    object.Ref
	group  string
	plural string
	kind   schema.GroupKind
	labels map[string]string
	// own is what the catalogue calls its operator.
	own string
}

// definitionsThere returns the definitions that there are, in order.
func (w *ClusterState) definitionsThere() []operatorDefinition {
	var out []operatorDefinition
	for _, ref := range w.Instances(definitionKind) {
		plural, group, ok := strings.Cut(ref.Name, ".")
		if !ok {
			continue
		}
		d := operatorDefinition{ref: ref, group: group, plural: plural, labels: w.labelsOf(ref)}
		if r, ok := w.Kinds.Resource(schema.GroupResource{Group: group, Resource: plural}); ok {
			d.kind = r.GroupKind()
			d.own = w.catalogueName(d.kind)
		}
		out = append(out, d)
	}
	return out
}

func (w *ClusterState) labelsOf(ref object.Ref) map[string]string {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	return w.Graph.Labels(id)
}

// compareOperators orders them by name, and those of one name by what they are called in
// reports.
func compareOperators(a, b *Operator) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), object.Compare(a.Ref(), b.Ref()))
}
