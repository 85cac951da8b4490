package skeleton

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Replace replaces the definitions of the kinds in crds, and inserts new kinds in order. source
// (repo=... tag=...) replaces the source of the same repository.
func (f *File) Replace(source string, crds []map[string]any) {
	slices.SortFunc(f.Kinds, compareKinds)
	repository, _, _ := strings.Cut(source, " ")
	at := slices.IndexFunc(f.Sources, func(s string) bool { return strings.HasPrefix(s+" ", repository+" ") })
	if at < 0 {
		at = len(f.Sources)
		f.Sources = append(f.Sources, source)
	}
	f.Sources[at] = source
	for _, crd := range crds {
		k := Kind{Source: at, Definition: crd}
		i, found := slices.BinarySearchFunc(f.Kinds, k, compareKinds)
		if found {
			f.Kinds[i] = k
		} else {
			f.Kinds = slices.Insert(f.Kinds, i, k)
		}
	}
	f.count()
}

// compareKinds orders by group, then by kind.
func compareKinds(a, b Kind) int {
	return slices.Compare(nameOf(a), nameOf(b))
}

func nameOf(k Kind) []string {
	spec, _ := k.Definition["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	return []string{fmt.Sprint(spec["group"]), fmt.Sprint(names["kind"])}
}

var kindsCount = regexp.MustCompile(` kinds=\d+`)

// count writes the number of its kinds into each source, and drops sources without kinds.
func (f *File) count() {
	slices.SortFunc(f.Kinds, compareKinds)
	n := make([]int, len(f.Sources))
	for _, k := range f.Kinds {
		n[k.Source]++
	}
	var sources []string
	moved := make([]int, len(n))
	for i, s := range f.Sources {
		if n[i] == 0 {
			continue
		}
		moved[i] = len(sources)
		sources = append(sources, kindsCount.ReplaceAllString(s, "")+fmt.Sprintf(" kinds=%d", n[i]))
	}
	for i := range f.Kinds {
		f.Kinds[i].Source = moved[f.Kinds[i].Source]
	}
	f.Sources = sources
}
