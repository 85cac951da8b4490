package operator

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Find finds the operators of the cluster: the workloads that act on the custom resources of
// each definition. Definitions of one group whose operator is unknown make an operator without
// workloads. The result is in the order of names.
func Find(w *check.ClusterState) []*check.Operator { return newSearch(w).operators() }

// Named returns the operators of a name, in any case: their own, that of the catalog, of a
// workload (with its namespace or without), of a Helm release or of an API group. The first of
// these that matches any operator counts.
func Named(w *check.ClusterState, name string) []*check.Operator {
	all := w.Operators()
	for _, names := range []func(*check.Operator) []string{
		func(o *check.Operator) []string { return append([]string{o.Name}, catalogued(w, o)...) },
		workloadNames, func(o *check.Operator) []string { return releases(w, o) }, groups,
	} {
		var found []*check.Operator
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

// Near returns up to three operator names that are similar to an unknown one, the most similar
// first.
func Near(w *check.ClusterState, name string) []string {
	var names []string
	for _, o := range w.Operators() {
		names = append(names, o.Name)
		names = append(names, catalogued(w, o)...)
		names = append(names, workloadNames(o)...)
		names = append(names, releases(w, o)...)
	}
	slices.Sort(names)
	return object.Nearest(name, slices.Compact(names))
}

func catalogued(w *check.ClusterState, o *check.Operator) []string {
	var out []string
	for _, gk := range o.Kinds {
		if name := catalogueName(w, gk); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// catalogueName returns the name that the catalog has for the operator of a kind.
func catalogueName(w *check.ClusterState, gk schema.GroupKind) string {
	if w.Catalogued == nil {
		return ""
	}
	name, _ := w.Catalogued(gk)
	return name
}

func workloadNames(o *check.Operator) []string {
	var out []string
	for _, wl := range o.Workloads {
		out = append(out, wl.Ref.Name, wl.Ref.Namespace+"/"+wl.Ref.Name)
	}
	return out
}

func releases(w *check.ClusterState, o *check.Operator) []string {
	var out []string
	for _, wl := range o.Workloads {
		if name, _ := w.HelmRelease(wl.Ref); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func groups(o *check.Operator) []string {
	var out []string
	for _, gk := range o.Kinds {
		out = append(out, gk.Group)
	}
	return out
}

// definition is the name and the labels of a CustomResourceDefinition.
type definition struct {
	ref    object.Ref
	group  string
	plural string
	kind   schema.GroupKind
	labels map[string]string
	// own is the operator's name in the catalog.
	own string
}

// definitionsThere returns the existing definitions, in order.
func definitionsThere(w *check.ClusterState) []definition {
	var out []definition
	for _, ref := range w.Instances(check.DefinitionKind) {
		plural, group, ok := strings.Cut(ref.Name, ".")
		if !ok {
			continue
		}
		d := definition{ref: ref, group: group, plural: plural, labels: w.Labels(ref)}
		if r, ok := w.Kinds.Resource(schema.GroupResource{Group: group, Resource: plural}); ok {
			d.kind = r.GroupKind()
			d.own = catalogueName(w, d.kind)
		}
		out = append(out, d)
	}
	return out
}

// compareOperators orders operators by name, and then by their reference in reports.
func compareOperators(a, b *check.Operator) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), object.Compare(a.Ref(), b.Ref()))
}
