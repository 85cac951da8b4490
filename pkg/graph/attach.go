package graph

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// refused reports routes that no listener of a Gateway accepts, by its allowedRoutes. It skips a
// Gateway whose listeners were not read, or that selects by labels of a Namespace that was not
// read.
func (d *diagnosis) refused() {
	var listeners map[ID][]*link
	for id, asks := range d.g.evidenceLinks(relation.RouteListener) {
		if !d.s.Has(id) {
			continue
		}
		if listeners == nil {
			listeners = map[ID][]*link{}
			for gateway, l := range d.g.evidenceLinks(relation.GatewayListener) {
				listeners[gateway] = append(listeners[gateway], l)
			}
		}
		if gateway := d.g.number[asks.target]; gateway >= 0 {
			d.attached(id, gateway, asks, listeners[gateway])
		}
	}
}

// attached reports a route if the Gateway has the listeners that it requests, and none of them
// accepts it.
func (d *diagnosis) attached(id, gateway ID, asks *link, listeners []*link) {
	route, reason, first := d.g.Ref(id), "", ""
	for _, l := range listeners {
		t := d.g.selectors[l.target]
		switch {
		case !d.chooses(asks, l):
			continue
		case t.Kind != route.GroupKind():
			if reason == "" {
				reason, first = "takes no "+route.Kind, d.g.inv.Text(l.field)
			}
		case d.admits(t, route):
			return
		default:
			reason, first = fmt.Sprintf("takes no %s of the namespace %s", route.Kind, route.Namespace), d.g.inv.Text(l.field)
		}
	}
	if reason == "" {
		return
	}
	it := d.g.Ref(gateway)
	d.problems = append(d.problems, Problem{
		Object: route, Reason: NotAllowedByListeners, Severity: Error, Related: it, Field: d.g.inv.Text(asks.field),
		Message: fmt.Sprintf("%s %s, so no endpoint serves it: see %s.allowedRoutes there", near(it, route), reason, first),
	})
}

// chooses reports whether a route requests a listener: by name, by port, or any.
func (d *diagnosis) chooses(asks, listener *link) bool {
	name, port, _ := strings.Cut(d.g.inv.Text(asks.value), ":")
	its, at, _ := strings.Cut(d.g.inv.Text(listener.value), ":")
	return (name == "" || name == its) && (port == "" || port == at)
}

// admits reports whether a listener may accept routes of the route's namespace. It may if that
// depends on labels that were not read.
func (d *diagnosis) admits(t relation.Target, route object.Ref) bool {
	switch {
	case t.Namespaces == nil:
		return t.AllNamespaces || t.Namespace == route.Namespace
	case d.g.StateOf(object.Ref{Kind: namespaceKind.Kind, Name: route.Namespace}) != Present:
		return true
	}
	chosen := inventory.Query{Labels: t.Namespaces.Labels, Expressions: t.Namespaces.Expressions}
	for _, row := range d.index().Select(namespaceKind, "", true, chosen) {
		if d.g.inv.Ref(row).Name == route.Namespace {
			return true
		}
	}
	return false
}
