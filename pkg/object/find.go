package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// UnknownKindError reports that no served resource has the name, with similar names.
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

// AmbiguousKindError reports that several groups serve the name.
type AmbiguousKindError struct {
	Name    string
	Choices []string
}

func (e *AmbiguousKindError) Error() string {
	return fmt.Sprintf("kind %q is ambiguous: write one of %s", e.Name, strings.Join(e.Choices, ", "))
}

// Find resolves a name as a user types it: plural, singular, short name or kind, in any case, with
// an optional group behind a dot (deploy, Deployment, deployments.apps,
// ingresses.v1.networking.k8s.io). For a kind without a known plural it accepts every plural that
// English could form. As in kubectl, a built-in group wins over others; otherwise a name that
// several groups serve is an *AmbiguousKindError, and one that no group serves an
// *UnknownKindError.
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

// matchPlural matches a name against a kind without a known plural.
func matchPlural(r Resource, name string) bool { return r.Plural == "" && MayBePlural(name, r.Kind) }

// MayBePlural reports whether a name may be the plural of a kind, regardless of case and hyphens:
// an English plural, or the kind itself. Use it only for what people type: the real plural is in
// the CustomResourceDefinition.
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

// nearest returns up to three singular names whose edit distance is at most a third of the length
// of name.
func (k *Kinds) nearest(name string) []string {
	head, _, _ := strings.Cut(strings.ToLower(name), ".")
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, r := range k.list {
		// A name that shares no letter is not similar, however short it is.
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

// Nearest returns up to three of the choices whose edit distance, regardless of case, is at most a
// third of the length of name, nearest first.
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

// DidYouMean returns the end of a message that suggests names, or "" without names.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, ", ") + "?)"
}

// edits returns the Damerau-Levenshtein distance (restricted: swapped neighbours count once), so
// that "moodel" is one edit from "moodle".
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
