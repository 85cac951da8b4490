package graph

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

var entryKind = schema.GroupKind{Group: "networking.istio.io", Kind: "ServiceEntry"}

// unrouted reports the hosts of Istio that are neither a Service, if all were read, nor in a
// ServiceEntry that was read. Each object is reported once for each Service.
func (d *diagnosis) unrouted() {
	type named struct{ from, to object.Ref }
	reported, known := map[named]bool{}, d.g.kinds.NotServed(entryKind) || d.g.inv.Covered(entryKind, "")
	var entries []string
	for id, l := range d.g.evidenceLinks(relation.IstioHost) {
		to := d.g.inv.Ref(inventory.ID(l.target))
		from := d.g.Ref(id)
		if !d.s.Has(id) || reported[named{from, to}] || d.g.StateOf(to) != Missing {
			continue
		}
		reported[named{from, to}] = true
		if entries == nil {
			entries = d.g.entries()
		}
		if !slices.ContainsFunc(entries, func(host string) bool { return has(host, to, d.g.inv.Text(l.value)) }) {
			d.nowhere(from, to, l, known)
		}
	}
}

// entries returns the hosts of all ServiceEntries.
func (g *Graph) entries() []string {
	hosts := []string{}
	for _, l := range g.evidenceLinks(relation.IstioEntry) {
		hosts = append(hosts, g.inv.Text(l.value))
	}
	return hosts
}

// has reports whether a host of a ServiceEntry is a Service's, as written or in full. It may start
// with a wildcard.
func has(host string, service object.Ref, written string) bool {
	full := service.Name + "." + service.Namespace + ".svc.cluster.local"
	if end, ok := strings.CutPrefix(host, "*"); ok {
		return strings.HasSuffix(full, end)
	}
	return host == full || host == written
}

func (d *diagnosis) nowhere(from, to object.Ref, l *link, known bool) {
	p := Problem{Object: from, Reason: ReferenceMissing, Severity: Warning, Related: to, Field: d.g.inv.Text(l.field)}
	p.Message = fmt.Sprintf("refers to %s, which does not exist, and no ServiceEntry has that host: requests for it fail; create it, or correct %s", near(to, from), p.Field)
	if !known {
		p.Severity = Info
		p.Message = fmt.Sprintf("refers to %s, which does not exist; whether a ServiceEntry has the host is unknown, since not all were read", near(to, from))
	}
	d.problems = append(d.problems, p)
}
