package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Compatibility says whether a definition may take the place of another.
type Compatibility struct {
	// Changes are all, safe ones too; Broken is what they break of the objects that are there,
	// which the former definition took.
	Changes []Change
	Broken  []InvalidObject
	// Refused are reasons that hold whoever asks: what the API server refuses, what could
	// not be read any more, objects that break. Unsafe are those that a caller may be told to
	// pass over (force). Both are sentences.
	Refused, Unsafe []string
	// UnevaluatedRules is what could not be told of the objects.
	UnevaluatedRules []string
}

// Reasons returns why the definition must not take the place of the other; none for yes.
// With force unsafe changes pass, as long as no object that is there breaks.
func (v Compatibility) Reasons(force bool) []string {
	if force {
		return v.Refused
	}
	return append(slices.Clone(v.Refused), v.Unsafe...)
}

// CheckUpgrade compares two definitions, and holds the objects that are there against the new one.
// It reads nothing: live are all objects of the definition, of every namespace, each in a
// version that is served; without them an object that breaks is not found.
//
// An unsafe change is refused even where no object breaks: manifests, clients and backups
// are not seen from here. What was broken by the former definition already is not told.
func CheckUpgrade(former, next *unstructured.Unstructured, live []*unstructured.Unstructured) (Compatibility, error) {
	var v Compatibility
	var err error
	if v.Changes, err = Compare(former, next); err != nil {
		return Compatibility{}, err
	}
	final := map[string]bool{}
	for _, r := range Rules() {
		final[r.ID] = r.Final
	}
	another := false
	for _, c := range v.Changes {
		switch {
		case c.Severity == Safe:
		case final[c.Rule]:
			v.Refused = append(v.Refused, c.Message)
			another = another || c.Rule == groupChanged || c.Rule == kindChanged
		default:
			v.Unsafe = append(v.Unsafe, c.Message)
		}
	}
	if another || len(live) == 0 {
		return v, nil // of another group or kind, none of the objects is its own
	}
	if v.Broken, err = newlyBroken(former, next, live); err != nil {
		return Compatibility{}, err
	}
	for _, b := range v.Broken {
		v.Refused = append(v.Refused, b.Message)
	}
	v.UnevaluatedRules = unevaluatedRules(v.Changes, live)
	return v, nil
}

// newlyBroken returns what only the new definition refuses.
func newlyBroken(former, next *unstructured.Unstructured, live []*unstructured.Unstructured) ([]InvalidObject, error) {
	broken, err := ValidateExisting(next, live)
	if err != nil || len(broken) == 0 {
		return nil, err
	}
	before, err := ValidateExisting(former, live)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(broken, func(b InvalidObject) bool { return slices.Contains(before, b) }), nil
}

// unevaluatedRules names the rules in CEL that are new: the others hold already.
func unevaluatedRules(changes []Change, live []*unstructured.Unstructured) []string {
	count := map[string]int{}
	for _, u := range live {
		count[u.GroupVersionKind().Version]++
	}
	var open []string
	for _, c := range changes {
		if n := count[c.Version]; c.Rule == validationAdded && n > 0 {
			open = append(open, fmt.Sprintf("%s: it is unknown whether the existing objects (%d) satisfy it, since CEL rules are not evaluated", orWhole(c.Field, c.Version), n))
		}
	}
	return open
}

// Restorable says whether the former definition can be put back in the place of the current
// one, whose status says in which versions objects may be stored by now, and else why not.
// It is about storage alone: what the former schema takes of the objects says Judge.
func Restorable(former, current *unstructured.Unstructured) (bool, string) {
	was, err := readDefinition(former)
	if err != nil {
		return false, err.Error()
	}
	is, err := readDefinition(current)
	if err != nil {
		return false, err.Error()
	}
	for _, f := range []struct {
		at      string
		was, is any
	}{
		{"metadata.name", was.name, is.name},
		{"spec.group", was.spec["group"], is.spec["group"]},
		{"spec.names.kind", was.names["kind"], is.names["kind"]},
		{"spec.names.plural", was.names["plural"], is.names["plural"]},
		{"spec.scope", was.spec["scope"], is.spec["scope"]},
	} {
		if !same(f.was, f.is) {
			return false, fmt.Sprintf("%s is %s, and was %s: it is another resource", f.at, orNothing(short(f.is)), orNothing(short(f.was)))
		}
	}
	var lost []string
	for _, name := range is.stored {
		if _, there := was.version(name); !there {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		return false, fmt.Sprintf("objects of %s may already be stored in %s (status.storedVersions), which the former CRD does not have: rewrite them in %s, and remove %s from status.storedVersions, first",
			is.name, strings.Join(lost, ", "), was.storage, strings.Join(lost, ", "))
	}
	return true, ""
}
