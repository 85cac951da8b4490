package health

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// derivedStage is the Stage of derived health.
const derivedStage = "derived"

// derive gives objects without a health of their own that of what they own.
func (a *Assessment) derive(quiet []graph.ID) {
	for _, id := range quiet {
		a.worstOwned(id, map[graph.ID]bool{})
	}
}

// worstOwned returns the worst of a node and of all that it owns, at any depth; the status is empty
// if unknown. A node without a health of its own takes over the worst of the others. In a cycle of
// owners each is visited once. What a healthy owner owns is still visited: the owner may not have
// noticed yet.
func (a *Assessment) worstOwned(id graph.ID, open map[graph.ID]bool) Health {
	if h, known := a.owned[id]; known {
		return h
	}
	if open[id] {
		return Health{}
	}
	open[id] = true
	defer delete(open, id)
	var worst Health
	if a.countsForOwner(id) {
		worst = a.own[id]
	}
	owned := a.g.Owned(id)
	for _, c := range owned {
		if h := a.worstOwned(c, open); h.Status.Worse(worst.Status) {
			worst = h
		}
	}
	if own := a.own[id]; own.Unreported {
		a.own[id] = a.takenOver(own, worst, len(owned))
	}
	a.owned[id] = worst
	return worst
}

// countsForOwner reports whether the health of a node counts for its owner.
func (a *Assessment) countsForOwner(id graph.ID) bool {
	h := a.own[id]
	return h.Status != "" && h.Reason != Exists && !h.Unreported && a.weighs(id)
}

func (a *Assessment) takenOver(own, worst Health, owned int) Health {
	message := strings.TrimSuffix(own.Message, " yet")
	if worst.Status == "" {
		if owned > 0 && own.Status == Unknown {
			own.Message += ", and its parts have no state of their own"
		}
		return own
	}
	worst.Unreported, worst.Ended, worst.Stage, worst.Reason = true, false, derivedStage, Derived
	worst.Message = message + ": worst of its parts"
	return worst
}

// DerivedFrom returns the objects from which the health of a node was derived, in order: the
// nearest ones with a health of their own. It returns none for a node with a health of its own.
func (a *Assessment) DerivedFrom(id graph.ID) []graph.ID {
	if a.own[id].Stage != derivedStage {
		return nil
	}
	seen := map[graph.ID]bool{id: true}
	var from []graph.ID
	for next := []graph.ID{id}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, c := range a.g.Owned(at) {
			switch {
			case seen[c]:
				continue
			case a.countsForOwner(c):
				from = append(from, c)
			default:
				next = append(next, c)
			}
			seen[c] = true
		}
	}
	slices.Sort(from)
	return from
}
