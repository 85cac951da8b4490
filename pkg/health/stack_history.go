package health

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// anyOwner matches all kinds of owners but the kind itself: the Workflows of a Workflow are steps,
// and no history.
const anyOwner = "*"

// outlived reports whether an object has ended and its result no longer matters: its owner is well,
// or has made a newer one. A ReplicaSet replaces an evicted pod, a Job a failed one.
func (a *Assessment) outlived(id graph.ID) bool {
	if a.past(id) {
		return true
	}
	if !a.own[id].Ended {
		return false
	}
	for _, owner := range a.g.OwnersOf(id) {
		switch h := a.own[owner]; {
		case a.g.State(owner) != graph.Present:
		case isJob(a.g, id):
			return a.succeeded(owner, id)
		case !h.Unreported && h.Status != Degraded:
			return true
		}
	}
	return false
}

func isJob(g *graph.Graph, id graph.ID) bool {
	r := g.Ref(id)
	return r.Group == "batch" && r.Kind == "Job"
}

// succeeded reports whether the owner of a Job has a newer one.
func (a *Assessment) succeeded(owner, id graph.ID) bool {
	for _, other := range a.g.Owned(owner) {
		h := a.own[other]
		if other != id && isJob(a.g, other) && a.g.State(other) == graph.Present && (!h.Ended || h.Since.After(a.own[id].Since)) {
			return true
		}
	}
	return false
}

// past reports whether an owner keeps the object as a history, and it is not the last one at the
// owner's current revision.
func (a *Assessment) past(id graph.ID) bool {
	h := a.own[id].History
	if h == nil || len(h.Owners) == 0 {
		return false
	}
	listed := false
	for _, owner := range a.g.OwnersOf(id) {
		if a.g.State(owner) != graph.Present || !h.keptBy(a.g.Ref(owner), a.g.Ref(id)) {
			continue
		}
		if a.isLast(owner, id) {
			return false
		}
		listed = true
	}
	return listed
}

// keptBy reports whether an owner keeps objects of this kind as a history.
func (h *History) keptBy(owner, item object.Ref) bool {
	if slices.Contains(h.Owners, owner.GroupKind().String()) {
		return true
	}
	return slices.Contains(h.Owners, anyOwner) && owner.GroupKind() != item.GroupKind()
}

// isLast reports whether an object has the current revision of its owner, and none of its kind was
// made later for that.
func (a *Assessment) isLast(owner, id graph.ID) bool {
	history := a.own[id].History
	revision := history.Revision
	if at := a.own[owner].History; at != nil && at.Revision != "" && revision != "" && revision != at.Revision {
		return false
	}
	for _, other := range a.g.Owned(owner) {
		h := a.own[other].History
		if other == id || h == nil || a.g.State(other) != graph.Present || a.g.Ref(other).GroupKind() != a.g.Ref(id).GroupKind() {
			continue
		}
		if h.Revision == revision && h.Made.After(history.Made) {
			return false
		}
	}
	return true
}
