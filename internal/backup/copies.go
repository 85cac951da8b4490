package backup

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TimeOf is the time in the name of a backup; false where it has none.
func TimeOf(name string) (time.Time, bool) {
	if i := len(name) - len(StampFormat); i > 0 && name[i-1] == '-' {
		at, err := time.Parse(StampFormat, name[i:])
		return at, err == nil
	}
	return time.Time{}, false
}

// Copies are the backups of which a graph has a record that lists their parts, the newest first.
// healthOf is the health of the objects that save a part: a part is saved when its object is Healthy.
func Copies(g *graph.Graph, healthOf func(graph.ID) health.Health) []check.Copy {
	var out []check.Copy
	for id := range g.OfKind(schema.GroupKind{Kind: "ConfigMap"}) {
		ref := g.Ref(id)
		at, named := TimeOf(ref.Name)
		_, labelled := g.Label(id, SourceLabel)
		text, _ := g.Annotation(id, PartsKey)
		var parts []recordedPart
		if !named || !labelled || g.State(id) != graph.Present || json.Unmarshal([]byte(text), &parts) != nil {
			continue
		}
		c := check.Copy{Record: ref, Time: at}
		for _, p := range parts {
			c.Parts = append(c.Parts, copied(g, p, healthOf))
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b check.Copy) int {
		return cmp.Or(b.Time.Compare(a.Time), object.Compare(a.Record, b.Record))
	})
	return out
}

// copied says whether a part of a backup is saved.
func copied(g *graph.Graph, p recordedPart, healthOf func(graph.ID) health.Health) check.CopiedPart {
	out := check.CopiedPart{Object: p.Object}
	if p.Backup == (object.Ref{}) {
		out.Incomplete = p.Object.String() + " was not saved"
		return out
	}
	switch g.StateOf(p.Backup) {
	case graph.Present:
	case graph.Missing:
		out.Incomplete = p.Backup.String() + " does not exist"
		return out
	default:
		out.Unread = p.Backup.String() + " was not read"
		return out
	}
	id, _ := g.Find(p.Backup)
	switch h := healthOf(id); h.Status {
	case health.Healthy:
	case "", health.Unknown:
		out.Unread = "the state of " + p.Backup.String() + " is unknown"
	default:
		out.Incomplete = p.Backup.String() + " is " + strings.ToLower(string(h.Status)) + wordsOf(h)
	}
	return out
}

func wordsOf(h health.Health) string {
	if h.Message == "" {
		return ""
	}
	return ": " + h.Message
}
