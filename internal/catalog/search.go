package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// Match is an entry that was found.
type Match struct {
	Entry Entry
	// Origin is the layer that it came from.
	Origin string
	// Score says how well it fits: more is better. It means nothing by itself.
	Score int
	// Matched says what was found, in the order of the words: "name", "title", "kind
	// Certificate.cert-manager.io", "group cert-manager.io", "description".
	Matched []string
}

// How much it counts that a word is found somewhere.
const (
	scoreName        = 100 // the whole name
	scoreNamePart    = 60
	scoreKind        = 50 // the whole kind, with or without its group
	scoreTitle       = 40
	scoreKindPart    = 25
	scoreGroup       = 20
	scoreDescription = 10
)

// Search returns the entries in which every word of the query is found, whatever the case:
// in the name, the title, the kinds, their groups or the description. The best is first. A
// query without words finds every entry.
func (c *Catalogue) Search(query string) []Match {
	words := strings.Fields(strings.ToLower(query))
	var all []Match
	for _, i := range c.items {
		m := Match{Entry: i.Entry, Origin: i.origin}
		whole := true
		for _, w := range words {
			score, matched := matchWord(i.Entry, w)
			if whole = whole && score > 0; !whole {
				break
			}
			m.Score += score
			if !slices.Contains(m.Matched, matched) {
				m.Matched = append(m.Matched, matched)
			}
		}
		if whole {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Entry.Name, b.Entry.Name))
	})
	return all
}

// matchWord says where a word in lower case is found best, and how much that counts.
func matchWord(e Entry, word string) (int, string) {
	best, matched := 0, ""
	take := func(found bool, score int, at string) {
		if found && score > best {
			best, matched = score, at
		}
	}
	name, title := strings.ToLower(e.Name), strings.ToLower(e.Title)
	take(name == word, scoreName, "name")
	take(strings.Contains(name, word), scoreNamePart, "name")
	take(strings.Contains(title, word), scoreTitle, "title")
	take(strings.Contains(strings.ToLower(e.Description), word), scoreDescription, "description")
	for _, k := range e.apis() {
		lower := strings.ToLower(k)
		kind, group, _ := strings.Cut(lower, ".")
		_, written, _ := strings.Cut(k, ".")
		take(kind == word || lower == word, scoreKind, "kind "+k)
		take(strings.Contains(kind, word), scoreKindPart, "kind "+k)
		take(strings.Contains(group, word), scoreGroup, "group "+written)
	}
	return best, matched
}

// apis are the kinds of the entry and of its versions.
func (e Entry) apis() []string {
	var all []string
	for _, k := range e.Kinds {
		all = append(all, k.Kind)
	}
	for _, v := range e.Versions {
		for _, a := range v.Provides {
			if !slices.Contains(all, a.Kind) {
				all = append(all, a.Kind)
			}
		}
	}
	return all
}
