package solve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func joined(words []string) string { return strings.Join(words, ", ") }

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return joined(words)
	}
	return joined(words[:len(words)-1]) + " and " + words[len(words)-1]
}

// words says what is needed.
func words(r Requirement) string {
	if r.Package == "" {
		return r.API.String()
	}
	if r.Range == "" {
		return short(r.Package)
	}
	return short(r.Package) + " " + r.Range
}

// short keeps a name that is no name at all from filling the screen.
func short(name string) string {
	if len(name) > 100 {
		return name[:100] + "..."
	}
	return name
}

func didYouMean(name string, names []string) string {
	return object.DidYouMean(object.Nearest(name, names))
}

func byName(installed []Installed) []Installed {
	return slices.SortedFunc(slices.Values(installed), func(a, b Installed) int { return cmp.Compare(a.Name, b.Name) })
}

// several joins versions, the oldest first, and leaves out the middle of many.
func several(newestFirst []*version) string {
	var out []string
	for _, v := range slices.Backward(newestFirst) {
		out = append(out, v.Version)
	}
	if len(out) > 6 {
		out = append(append(out[:3:3], "..."), out[len(out)-2:]...)
	}
	return joined(out)
}
