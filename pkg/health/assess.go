package health

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Assessment has the health of the nodes of a graph: their own, or what follows from what they own.
// It is safe for concurrent use.
type Assessment struct {
	g   *graph.Graph
	own []Health
	// owned caches the worst of a node and of what it owns.
	owned map[graph.ID]Health
}

// Assess returns the assessment of a graph. own returns the health of a single object, and false if
// it was not evaluated.
func Assess(g *graph.Graph, own func(graph.ID) (Health, bool)) *Assessment {
	a := &Assessment{g: g, own: make([]Health, g.Len()), owned: map[graph.ID]Health{}}
	var quiet []graph.ID
	for id := range graph.ID(g.Len()) {
		switch g.State(id) {
		case graph.Missing:
			a.own[id] = Health{Status: Missing, Reason: ReasonNotFound, Message: "not found"}
		case graph.Unread:
			a.own[id] = a.unread(id)
		case graph.Virtual: // a name has no health
		default:
			h, ok := own(id)
			if !ok {
				h = Health{Status: Unknown, Reason: ReasonUnread, Message: "it was not read"}
			}
			a.own[id] = h
			if h.Unreported {
				quiet = append(quiet, id)
			}
		}
	}
	a.derive(quiet)
	return a
}

// unread returns the health of an object that another refers to and that could not be read. A kind
// without state gives no health. Nor does a boundary, which the users of a namespace may not read:
// its users show its state. A ready pod has a node that runs it, and a bound claim its volume.
func (a *Assessment) unread(id graph.ID) Health {
	h := Health{Reason: ReasonUnread, Message: "it could not be read"}
	if ref := a.g.Ref(id); !Stateless(ref.GroupKind()) && !graph.IsBoundary(ref) && !isVolume(ref) {
		h.Status = Unknown
	}
	return h
}

func isVolume(r object.Ref) bool { return r.Group == "" && r.Kind == "PersistentVolume" }

// OwnHealth returns the health of a node itself. Its Status is empty for what was not read and has
// no state.
func (a *Assessment) OwnHealth(id graph.ID) Health { return a.own[id] }
