package graph

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// bereavements are what an object loses with one that served it, by rule; "" is nothing.
var bereavements = map[string]string{
	"service-selector":           "is no longer reached by its name",
	"ingress-backend":            "is no longer reached from outside by it",
	"route-backend":              "is no longer reached by it",
	"autoscaler-target":          "is no longer scaled: it keeps the replicas that it has",
	"disruption-budget-selector": "is no longer kept from eviction",
	"network-policy-selector":    "is no longer shielded by it",
	"binding-subject":            "loses the permissions that it grants",
	"policy-binding-policy":      "is no longer enforced where it was bound",
	"grant-target":               "is no longer open to the references that it grants",
	"endpointslice-service":      "", "endpointslice-pod": "", "endpoints-service": "", "endpoints-pod": "",
	"webhook-service": "", "api-service": "", "conversion-service": "", "migration-definition": "", "attachment-volume": "",
}

// bereft finds the objects that the deleted ones served, and which work without them.
func (h *harm) bereft(gone []ID) []Dependent {
	g := h.g
	var out []Dependent
	for _, at := range gone {
		served := map[ID]*Dependent{}
		for i := g.out[at]; i < g.out[at+1]; i++ {
			e := &g.edges[i]
			text, known := bereavements[g.rules[e.rule].Name]
			if g.relation(e) != relation.Serves || !h.opts.follows(g, e) || h.gone[e.to] || g.State(e.to) != Present || e.flags&dormant != 0 || known && text == "" {
				continue
			}
			if !known {
				text = "is no longer served by it"
			}
			served[e.to] = &Dependent{ID: e.to, Effect: Bereaved, Inferred: e.flags&inferred != 0, Cause: at, Edge: g.edge(*e), Follows: text}
		}
		out = append(out, h.byWorkload(served)...)
	}
	slices.SortFunc(out, func(a, b Dependent) int { return cmp.Or(compareDependents(a, b), cmp.Compare(a.Cause, b.Cause)) })
	return slices.CompactFunc(out, func(a, b Dependent) bool { return a.ID == b.ID })
}

// byWorkload merges the effects on pods into those on their workloads.
func (h *harm) byWorkload(all map[ID]*Dependent) []Dependent {
	d := diagnosis{g: h.g, wrong: h.misowned}
	tops := map[ID]*Dependent{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		top := d.topmost(id, func(id ID) bool { return isWorkload(h.g.Ref(id)) && !h.gone[id] })
		if tops[top] == nil {
			tops[top] = all[id]
			tops[top].ID = top
		}
		if top != id {
			tops[top].Below = append(tops[top].Below, id)
		}
	}
	out := make([]Dependent, 0, len(tops))
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		out = append(out, *tops[top])
	}
	return out
}
