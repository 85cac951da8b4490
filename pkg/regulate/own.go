package regulate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// root finds the roots of an app.
func (o *stateObserver) root(a *observed) {
	for _, r := range a.app.Roots {
		ref, state, problem := o.find(r)
		switch state {
		case graph.Missing:
			a.state.Absent = append(a.state.Absent, problem)
			a.absent = cmp.Or(a.absent, ref)
		case graph.Unread:
			a.state.Unread = append(a.state.Unread, problem)
			a.unread = cmp.Or(a.unread, ref)
		}
		id, in := o.Graph.Find(ref)
		if !in || slices.Contains(a.nodes, id) {
			continue
		}
		a.nodes = append(a.nodes, id)
		if state == graph.Present {
			a.roots = append(a.roots, id)
			a.state.Roots = append(a.state.Roots, ref)
		}
	}
}

// find resolves a root as it is written. For a missing or unread one it returns the reason.
func (o *stateObserver) find(r system.Root) (object.Ref, graph.State, string) {
	kind, err := o.Kinds.Find(r.Type)
	if err != nil {
		var unknown *object.UnknownKindError
		// A name close to that of another kind is a typo, and no reason to hold an app.
		if errors.As(err, &unknown) && o.Kinds.Whole() && len(unknown.Nearest) == 0 {
			return object.Ref{}, graph.Missing, fmt.Sprintf("%s: %v", r.String(), err)
		}
		return object.Ref{}, graph.Unread, fmt.Sprintf("%s: %v", r.String(), err)
	}
	ref := object.Ref{Group: kind.Group, Kind: kind.Kind, Name: r.Name}
	switch {
	case !kind.Namespaced && r.Namespace != "":
		return object.Ref{}, graph.Unread, fmt.Sprintf("%s: %s are not namespaced: write %s/%s", r.String(), kind, r.Type, r.Name)
	case !kind.Namespaced:
	case r.Namespace != "":
		ref.Namespace = r.Namespace
	case o.System.Namespace != "":
		ref.Namespace = o.System.Namespace
	case o.Namespace != "":
		ref.Namespace = o.Namespace
	default:
		return o.anywhere(r, ref)
	}
	return ref, o.Graph.StateOf(ref), o.absenceReason(ref)
}

// absenceReason returns why a root is not present; empty for a present one.
func (o *stateObserver) absenceReason(ref object.Ref) string {
	switch o.Graph.StateOf(ref) {
	case graph.Present:
		return ""
	case graph.Missing:
		return ref.String()
	}
	kind, _ := o.Kinds.Kind(ref.GroupKind())
	for _, gap := range o.Graph.Gaps() {
		if gap.Resource == kind.String() && (gap.Namespace == "" || gap.Namespace == ref.Namespace) {
			return ref.String() + ": " + gap.Message
		}
	}
	return ref.String()
}

// anywhere finds a root by its name alone, if no namespace is given.
func (o *stateObserver) anywhere(r system.Root, ref object.Ref) (object.Ref, graph.State, string) {
	var found []string
	for id := range o.Graph.OfKind(ref.GroupKind()) {
		if at := o.Graph.Ref(id); at.Name == r.Name && o.Graph.State(id) == graph.Present {
			found = append(found, at.Namespace)
		}
	}
	switch len(found) {
	case 0:
		return object.Ref{}, o.Graph.StateOf(ref), r.String()
	case 1:
		ref.Namespace = found[0]
		return ref, graph.Present, ""
	}
	return object.Ref{}, graph.Unread, fmt.Sprintf("%s is in several namespaces (%s): write %s/NAMESPACE/%s, or give the System a namespace", r.String(), strings.Join(found, ", "), r.Type, r.Name)
}

// divide assigns objects to apps. A Service whose pods are gone selects nothing, and still
// belongs to the workload whose template it matches: an app that needs the Service needs that
// app, most of all when it is down.
func (o *stateObserver) divide() {
	var groups [][]graph.ID
	o.opts.SameRoot = map[graph.ID]graph.ID{}
	for _, a := range o.apps {
		if len(a.nodes) == 0 {
			continue
		}
		groups = append(groups, a.nodes)
		for _, id := range a.nodes {
			if _, taken := o.opts.SameRoot[id]; !taken {
				o.opts.SameRoot[id] = a.nodes[0]
			}
		}
		if _, taken := o.appOf[a.nodes[0]]; !taken {
			o.appOf[a.nodes[0]] = a
		}
	}
	narrow := graph.StackOptions{NoInferred: o.NoInferred}
	part := o.Graph.Divide(groups, nil, narrow)
	if fronts := o.fronts(part); len(fronts) > 0 {
		part = o.Graph.Divide(groups, fronts, narrow)
	}
	o.opts.PartOf = part
	for id, group := range part {
		if a, in := o.appOf[group]; in {
			a.own = append(a.own, id)
		}
	}
	for _, a := range o.apps {
		a.own = append(a.own, a.nodes...)
		slices.Sort(a.own)
		a.own = slices.Compact(a.own)
	}
}

var serviceKind = schema.GroupKind{Kind: "Service"}

// fronts returns the Services whose selector matches the templates of workloads of exactly one
// group.
func (o *stateObserver) fronts(part map[graph.ID]graph.ID) map[graph.ID]graph.ID {
	out := map[graph.ID]graph.ID{}
	templates := o.templates()
	for id := range o.Graph.OfKind(serviceKind) {
		if _, taken := part[id]; taken {
			continue
		}
		ref := o.Graph.Ref(id)
		f, known := o.Facts.factOf(ref)
		if !known || f.service == nil || len(f.service.selector) == 0 {
			continue
		}
		group, found, single := graph.ID(0), false, true
		for _, t := range templates[ref.Namespace] {
			if !f.service.selects(t.labels) {
				continue
			}
			g, in := part[t.id]
			if !in || found && g != group {
				single = false
				break
			}
			group, found = g, true
		}
		if found && single {
			out[id] = group
		}
	}
	return out
}

// template is the labels of the pods of a workload.
type template struct {
	id     graph.ID
	labels map[string]string
}

// templates returns those of the workloads that were read, by namespace.
func (o *stateObserver) templates() map[string][]template {
	out := map[string][]template{}
	for _, gk := range serving {
		for id := range o.Graph.OfKind(gk) {
			ref := o.Graph.Ref(id)
			if f, known := o.Facts.factOf(ref); known && len(f.labels) > 0 {
				out[ref.Namespace] = append(out[ref.Namespace], template{id, f.labels})
			}
		}
	}
	return out
}
