package graph

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selecting is the rule by which Services select pods.
const selecting = "service-selector"

var jobKind = schema.GroupKind{Group: "batch", Kind: "Job"}

// ended reports Services whose pods have all finished: a finished pod has no endpoint. It requires
// that all pods of the namespace were read.
func (d *diagnosis) ended() {
	finished := map[ID]bool{}
	for id := range d.g.evidenceLinks(relation.PodFinished) {
		finished[id] = true
	}
	if len(finished) == 0 {
		return
	}
	for _, id := range d.s.members {
		r := d.g.Ref(id)
		if r.GroupKind() != serviceKind || !d.g.inv.Covered(podKind, r.Namespace) {
			continue
		}
		if found, jobs := d.behind(id, finished); found.n > 0 {
			d.unanswered(id, found, jobs)
		}
	}
}

// behind returns the pods that a Service selects, if all of them have finished; jobs is set if they
// belong to Jobs, which are meant to end.
func (d *diagnosis) behind(id ID, finished map[ID]bool) (found pods, jobs bool) {
	jobs = true
	for i := d.g.out[id]; i < d.g.out[id+1]; i++ {
		e := &d.g.edges[i]
		switch {
		case d.g.rules[e.rule].Name != selecting:
		case e.flags&byTemplate != 0:
		case !finished[e.to]:
			return pods{}, false
		default:
			found.add(e.to)
			owner, has, _ := d.controllerOf(e.to)
			jobs = jobs && has && d.g.Ref(owner).GroupKind() == jobKind
		}
	}
	return found, jobs
}

func (d *diagnosis) unanswered(id ID, found pods, jobs bool) {
	p := Problem{Object: d.g.Ref(id), Reason: ServiceSelectsEnded, Severity: Warning, Related: d.g.Ref(found.first), Field: selectorField}
	p.Message = fmt.Sprintf("selects %s, which will not run again, so no endpoint serves it: see how they ended, and what creates new ones", found.text(d.g))
	if jobs {
		p.Severity = Info
		p.Message = fmt.Sprintf("selects %s of a Job that has run, so no endpoint serves it today", found.text(d.g))
	}
	d.problems = append(d.problems, p)
}
