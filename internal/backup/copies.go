package backup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TimeOf is the time in the name of a backup; false where it has none.
func TimeOf(name string) (time.Time, bool) {
	if i := len(name) - len(StampFormat); i > 0 && name[i-1] == '-' {
		at, err := time.Parse(StampFormat, name[i:])
		return at, err == nil
	}
	return time.Time{}, false
}

// labelledObjects are the records of backups in a graph, and the objects that save their parts, by
// namespace and name of the backup.
func labelledObjects(g *graph.Graph) (records []graph.ID, saving map[object.Ref][]graph.ID) {
	saving = map[object.Ref][]graph.ID{}
	for id := range graph.ID(g.Len()) {
		name, labelled := g.Label(id, NameLabel)
		if !labelled || g.State(id) != graph.Present {
			continue
		}
		if ref := g.Ref(id); ref.Group == "" && ref.Kind == "ConfigMap" {
			records = append(records, id)
		} else {
			at := object.Ref{Namespace: ref.Namespace, Name: name}
			saving[at] = append(saving[at], id)
		}
	}
	return records, saving
}

// Copies are the backups of which a graph has a record, the newest first. healthOf is the health of
// the objects that save a part: a part is saved when its object is Healthy.
func Copies(g *graph.Graph, healthOf func(graph.ID) health.Health) []check.Copy {
	records, saving := labelledObjects(g)
	var out []check.Copy
	for _, record := range records {
		ref := g.Ref(record)
		at, named := TimeOf(ref.Name)
		if _, labelled := g.Label(record, SourceLabel); !named || !labelled {
			continue
		}
		c := check.Copy{Record: ref, Time: at}
		for _, id := range saving[object.Ref{Namespace: ref.Namespace, Name: ref.Name}] {
			for e := range g.Out(id) {
				if e.Relation != relation.Owns && !graph.IsBoundary(g.Ref(e.To)) {
					c.Saved = append(c.Saved, g.Ref(e.To))
				}
			}
			h := healthOf(id)
			switch {
			case h.Status == "" || h.Status == health.Unknown:
				c.Unread = cmp.Or(c.Unread, "the state of "+g.Ref(id).String()+" is unknown")
			case h.Status != health.Healthy:
				c.Incomplete = cmp.Or(c.Incomplete, g.Ref(id).String()+" is "+strings.ToLower(string(h.Status))+wordsOf(h))
			}
		}
		slices.SortFunc(c.Saved, object.Compare)
		c.Saved = slices.Compact(c.Saved)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b check.Copy) int {
		return cmp.Or(b.Time.Compare(a.Time), object.Compare(a.Record, b.Record))
	})
	return out
}

func wordsOf(h health.Health) string {
	if h.Message == "" {
		return ""
	}
	return ": " + h.Message
}
