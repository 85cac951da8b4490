package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// UnknownKindError says that no served resource has the name, and which come
// close to it.
type UnknownKindError struct {
	Name    string
	Nearest []string
}

func (e *UnknownKindError) Error() string {
	if len(e.Nearest) == 0 {
		return fmt.Sprintf("unknown kind %q", e.Name)
	}
	return fmt.Sprintf("unknown kind %q (did you mean %s?)", e.Name, strings.Join(e.Nearest, ", "))
}

// AmbiguousKindError says that several groups serve the name.
type AmbiguousKindError struct {
	Name    string
	Choices []string
}

func (e *AmbiguousKindError) Error() string {
	return fmt.Sprintf("kind %q is ambiguous: write one of %s", e.Name, strings.Join(e.Choices, ", "))
}

// Find resolves a name as a user types it: plural, singular, short name or
// kind, in any case, with the group behind a dot where one is meant
// (deploy, Deployment, deployments.apps, ingresses.v1.networking.k8s.io).
// Where the plural of a kind is not known, each that English could make of it is taken.
// A name that a built-in group serves means that one, as it does to kubectl;
// otherwise a name that several groups serve is an *AmbiguousKindError, one
// that nobody serves an *UnknownKindError.
func (k *Kinds) Find(name string) (Resource, error) {
	for _, match := range []func(Resource, string) bool{matchName, matchShort, matchPlural} {
		var found []Resource
		for _, r := range k.list {
			if matchGrouped(r, name, match) {
				found = append(found, r)
			}
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) == 1:
			return found[0], nil
		}
		if i := slices.IndexFunc(found, func(r Resource) bool { return !r.Custom }); i >= 0 {
			return found[i], nil
		}
		var choices []string
		for _, r := range found {
			choices = append(choices, r.String())
		}
		return Resource{}, &AmbiguousKindError{Name: name, Choices: choices}
	}
	return Resource{}, &UnknownKindError{Name: name, Nearest: k.nearest(name)}
}

func matchName(r Resource, name string) bool {
	if name == "" { // some APIs serve no singular names
		return false
	}
	return strings.EqualFold(name, r.Plural) || strings.EqualFold(name, r.Singular) || strings.EqualFold(name, r.Kind)
}

// matchPlural takes a name for a plural that is not known.
func matchPlural(r Resource, name string) bool { return r.Plural == "" && MayBePlural(name, r.Kind) }

// MayBePlural says whether a name may be how several of a kind are written: as English does
// it, or as they are, hyphens and case aside. It is for what people type: the plural that a
// server knows is in its definition only.
func MayBePlural(name, kind string) bool {
	name, kind = strings.ToLower(strings.ReplaceAll(name, "-", "")), strings.ToLower(kind)
	stem, y := strings.CutSuffix(kind, "y")
	return name == kind || name == kind+"s" || name == kind+"es" || y && name == stem+"ies"
}

func matchShort(r Resource, name string) bool {
	return slices.ContainsFunc(r.ShortNames, func(s string) bool { return strings.EqualFold(s, name) })
}

// matchGrouped matches name, name.group and name.version.group.
func matchGrouped(r Resource, name string, match func(Resource, string) bool) bool {
	if match(r, name) {
		return true
	}
	head, group, ok := strings.Cut(name, ".")
	if !ok || !match(r, head) {
		return false
	}
	return strings.EqualFold(group, r.Group) || strings.EqualFold(group, r.Version+"."+r.Group) || (r.Group == "" && strings.EqualFold(group, r.Version))
}

// nearest returns up to three singular names within a third of the length of
// name in edits.
func (k *Kinds) nearest(name string) []string {
	head, _, _ := strings.Cut(strings.ToLower(name), ".")
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, r := range k.list {
		// What shares no letter with the name is not near it, however short that is.
		best := len(head)
		for _, n := range append([]string{r.Plural, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...) {
			if n != "" {
				best = min(best, edits(head, n))
			}
		}
		if best < len(head) && best <= max(1, len(head)/3) {
			found = append(found, candidate{strings.ToLower(r.Kind), best})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, c := range found {
		if len(names) < 3 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Nearest returns up to three of the choices that are within a third of the
// length of name in edits, case aside, nearest first.
func Nearest(name string, choices []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	lower := strings.ToLower(name)
	for _, c := range choices {
		if far := edits(lower, strings.ToLower(c)); far < len(lower) && far <= max(1, len(lower)/3) {
			found = append(found, candidate{c, far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.far-b.far, cmp.Compare(a.name, b.name)) })
	var names []string
	for _, c := range found {
		if len(names) < 3 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// DidYouMean is the end of a message that offers names; nothing without any.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, ", ") + "?)"
}

// edits is the Damerau-Levenshtein distance (restricted: neighbours swapped
// count once), so that "moodel" is one edit from "moodle".
func edits(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
