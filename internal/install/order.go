package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installOrder is the dependency graph of parts, by their index in a list, with reasons.
type installOrder struct {
	parts []*Part
	needs []map[int]string
}

// orderOf finds the dependencies of parts: the declared ones (Needs), the definitions of their
// custom resources, and the sources of their connections.
func orderOf(parts []*Part) *installOrder {
	o := &installOrder{parts: parts, needs: make([]map[int]string, len(parts))}
	named, makes, brings := map[string]int{}, map[object.Ref]int{}, map[schema.GroupKind]int{}
	for i, p := range parts {
		o.needs[i] = map[int]string{}
		first(named, p.Name, i)
		for _, u := range rendered(p).Definitions {
			first(brings, kindOf(u), i)
		}
		for _, u := range rendered(p).Objects {
			first(makes, object.RefOf(u), i)
		}
	}
	for i, p := range parts {
		for _, n := range p.Needs {
			if at, ok := named[n]; ok {
				o.add(i, at, "")
			}
		}
		for _, u := range madeBy(p) {
			gk := u.GroupVersionKind().GroupKind()
			if at, ok := brings[gk]; ok && !o.brings(i, gk) {
				o.add(i, at, "it provides "+kindText(gk))
			}
		}
		for _, c := range p.Connections {
			at, ok := makes[c.From]
			if !ok {
				at, ok = named[c.Name]
			}
			if ok {
				o.add(i, at, "it has "+c.From.String())
			}
		}
	}
	return o
}

func first[K comparable](m map[K]int, k K, i int) {
	if _, have := m[k]; !have {
		m[k] = i
	}
}

// brings reports whether a part itself has the definition of a kind.
func (o *installOrder) brings(i int, gk schema.GroupKind) bool {
	return slices.ContainsFunc(rendered(o.parts[i]).Definitions, func(u *unstructured.Unstructured) bool { return kindOf(u) == gk })
}

func (o *installOrder) add(from, to int, reason string) {
	if from == to {
		return
	}
	if _, have := o.needs[from][to]; !have {
		o.needs[from][to] = reason
	}
}

// sorted returns the parts with dependencies first, otherwise in the given order; parts in a cycle
// come last, in the given order.
func (o *installOrder) sorted() (order, cyclic []int) {
	done := make([]bool, len(o.parts))
	for len(order) < len(o.parts) {
		next := -1
		for i := range o.parts {
			if !done[i] && o.ready(i, done) {
				next = i
				break
			}
		}
		if next < 0 {
			break
		}
		done[next] = true
		order = append(order, next)
	}
	for i := range o.parts {
		if !done[i] {
			cyclic = append(cyclic, i)
		}
	}
	return order, cyclic
}

func (o *installOrder) ready(i int, done []bool) bool {
	for at := range o.needs[i] {
		if !done[at] {
			return false
		}
	}
	return true
}

// loop returns a cycle among the remaining parts, with its first part repeated at the end.
func (o *installOrder) loop(cyclic []int) []int {
	var way []int
	at := cyclic[0]
	for {
		if i := slices.Index(way, at); i >= 0 {
			return append(way[i:], at)
		}
		way = append(way, at)
		at = slices.Min(slices.DeleteFunc(slices.Collect(maps.Keys(o.needs[at])), func(n int) bool { return !slices.Contains(cyclic, n) }))
	}
}

// inOrder returns the parts with dependencies first, or a refusal if there is a cycle.
func inOrder(parts []*Part) (sorted []*Part, o *installOrder, refused []Refusal) {
	o = orderOf(parts)
	order, cyclic := o.sorted()
	for _, i := range append(order, cyclic...) {
		sorted = append(sorted, parts[i])
	}
	if len(cyclic) > 0 {
		refused = append(refused, o.refuse(o.loop(cyclic)))
	}
	return sorted, o, refused
}

func (o *installOrder) refuse(loop []int) Refusal {
	var texts []string
	for i, at := range loop[:len(loop)-1] {
		to := loop[i+1]
		text := fmt.Sprintf("%s needs %s", o.parts[at].Name, o.parts[to].Name)
		if reason := o.needs[at][to]; reason != "" {
			text += " (" + reason + ")"
		}
		texts = append(texts, text)
	}
	return Refusal{
		Topic: "dependants", Part: o.parts[loop[0]].Name,
		Message: "circular dependency: " + strings.Join(texts, ", "),
		Hint:    "use the values of one to install it without the other, and upgrade it afterwards",
	}
}

// needed reports whether a dependant of the named part satisfies wanted.
func (o *installOrder) needed(name string, wanted func(*Part) bool) bool {
	for i, p := range o.parts {
		for at := range o.needs[i] {
			if o.parts[at].Name == name && wanted(p) {
				return true
			}
		}
	}
	return false
}

// checkParts refuses parts that are not distinct, that need an unknown part, or that would create
// the same object.
func checkParts(parts []*Part, action Action) []Refusal {
	var out []Refusal
	names, releases, makes := map[string]bool{}, map[[2]string]string{}, map[object.Ref]string{}
	for _, p := range parts {
		at := [2]string{p.Namespace, p.Release}
		switch other, taken := releases[at]; {
		case names[p.Name]:
			out = append(out, Refusal{Topic: "release", Part: p.Name, Message: fmt.Sprintf("two parts have the name %s", p.Name), Hint: "give the app another name"})
		case taken:
			out = append(out, Refusal{
				Topic: "release", Part: p.Name,
				Message: fmt.Sprintf("%s and %s would use the same release, %s in %s", other, p.Name, p.Release, p.Namespace), Hint: "give one of them another name or namespace",
			})
		}
		names[p.Name], releases[at] = true, p.Name
	}
	for _, p := range parts {
		for _, n := range p.Needs {
			if !names[n] && action != Uninstall && action != Rollback {
				out = append(out, Refusal{
					Topic: "dependants", Part: p.Name, Message: fmt.Sprintf("%s needs %s, which is not part of this installation", p.Name, n),
					Hint: "add it to the operators or apps of the System",
				})
			}
		}
		for _, u := range madeBy(p) {
			ref := object.RefOf(u)
			if other, have := makes[ref]; have && other != p.Name {
				out = append(out, Refusal{
					Topic: "ownership", Part: p.Name, Object: ref, Message: fmt.Sprintf("%s and %s would both create %s", other, p.Name, ref),
					Hint: "leave it out of one by its values, or use another name or namespace",
				})
				continue
			}
			makes[ref] = p.Name
		}
	}
	return out
}

// rendered returns the rendered chart of a part; never nil.
func rendered(p *Part) *chart.Rendered {
	if p.Rendered == nil {
		return &chart.Rendered{}
	}
	return p.Rendered
}

// madeBy returns the objects and hooks of the release of a part.
func madeBy(p *Part) []*unstructured.Unstructured {
	r := rendered(p)
	out := slices.Clone(r.Objects)
	for _, h := range r.Hooks {
		out = append(out, h.Object)
	}
	return out
}

func sortRefs(refs []object.Ref) []object.Ref {
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
}
