package view

import (
	"iter"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// names writes objects for people: with the namespace where it is not theirs,
// with the group where two groups have a kind of that name.
type names struct {
	g     *graph.Graph
	home  string
	twice map[string]bool
}

// newNames returns the names of the objects, of which home is the namespace that
// need not be written.
func newNames(g *graph.Graph, home string, ids []graph.ID) names {
	return names{g, home, twiceKinds(func(yield func(object.Ref) bool) {
		for _, id := range ids {
			if !yield(g.Ref(id)) {
				return
			}
		}
	})}
}

// twiceKinds are the kinds that two groups have.
func twiceKinds(refs iter.Seq[object.Ref]) map[string]bool {
	twice, group := map[string]bool{}, map[string]string{}
	for r := range refs {
		if first, ok := group[r.Kind]; ok && first != r.Group {
			twice[r.Kind] = true
		}
		group[r.Kind] = r.Group
	}
	return twice
}

func (n names) text(id graph.ID) string { return Written(n.g.Ref(id), n.home, n.twice) }

// written is an object for people: with the namespace where it is not home, with the group
// where two groups have a kind of that name.
func Written(r object.Ref, home string, twice map[string]bool) string {
	kind := r.Kind
	if twice[kind] && r.Group != "" {
		kind += "." + r.Group
	}
	if r.Namespace != "" && r.Namespace != home {
		return kind + "/" + r.Namespace + "/" + r.Name
	}
	return kind + "/" + r.Name
}

// mark is the word that follows a name: what is wrong with the object, and that
// others hold it too.
func mark(s graph.State, shared bool) Cell {
	var words []string
	var tone Tone
	switch s {
	case graph.Missing:
		words, tone = append(words, "✖ missing"), Bad
	case graph.Unread:
		words, tone = append(words, "? unread"), Warn
	case graph.Virtual:
		words, tone = append(words, "virtual"), Faint
	}
	if shared {
		words = append(words, "⇄ shared")
	}
	return Cell{strings.Join(words, " "), tone}
}

// surely adds to a word that the edge behind it is optional or a guess.
func Surely(word string, e graph.Edge) string {
	if e.Optional {
		word += " (optional)"
	}
	if e.Inferred {
		word += " (inferred)"
	}
	return word
}

// refID is the id of an object in documents; empty for none.
func refID(r object.Ref) string {
	if r.Kind == "" {
		return ""
	}
	return r.String()
}
