package health

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Assessment is how the nodes of a graph fare: what each says of itself, and for those
// that say nothing what follows from what they own. It is safe for use by several at once
// once it is made.
type Assessment struct {
	g   *graph.Graph
	own []Health
	// owned is the worst of a node and of what it owns, as far as that was asked for.
	owned map[graph.ID]Health
}

// Assess puts together what was judged of single objects. own returns that, and false
// for one that did not pass.
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

// unread is what is said of an object that is named and could not be read. Of a kind
// that has no state nothing but its existence is in doubt. Of the cluster's ground, which
// the users of a namespace may not read, those tell that stand on it: a pod that is ready
// has a node that runs it, and a claim that is bound its volume.
func (a *Assessment) unread(id graph.ID) Health {
	h := Health{Reason: ReasonUnread, Message: "it could not be read"}
	if ref := a.g.Ref(id); !Stateless(ref.GroupKind()) && !graph.IsBoundary(ref) && !isVolume(ref) {
		h.Status = Unknown
	}
	return h
}

func isVolume(r object.Ref) bool { return r.Group == "" && r.Kind == "PersistentVolume" }

// OwnHealth returns how a node fares by itself. Its Status is empty for what was not read and
// would say nothing.
func (a *Assessment) OwnHealth(id graph.ID) Health { return a.own[id] }
