package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Compatibility says whether a definition may replace another.
type Compatibility struct {
	// Changes are all changes, including safe ones; Broken are the existing objects that they make
	// invalid.
	Changes []Change
	Broken  []InvalidObject
	// Refused are reasons that force does not override: the API server refuses it, stored objects
	// could no longer be read, or objects become invalid. Unsafe are those that force overrides.
	// Both are sentences.
	Refused, Unsafe []string
	// UnevaluatedRules are the rules that were not checked on the objects.
	UnevaluatedRules []string
}

// CheckUpgrade compares two definitions, and validates existing objects against the new one. It
// does no I/O: live are all objects of the definition, in all namespaces, each in a served version.
//
// An unsafe change is refused even if no object becomes invalid: manifests, clients and backups are
// unknown here. Objects that are invalid in the former definition already are not reported.
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
		return v, nil // the objects are of another group or kind
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

// newlyBroken returns the objects that only the new definition refuses.
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

// unevaluatedRules names the new CEL rules; existing objects satisfy the others already.
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

// Restorable reports whether the former definition can replace the current one again, and otherwise
// why not. The status of the current one has the versions in which objects may be stored by now. It
// checks storage only; see CheckUpgrade for the schema.
func Restorable(former, current *unstructured.Unstructured) (bool, string) {
	was, err := readDefinition(former)
	if err != nil {
		return false, err.Error()
	}
	now, err := readDefinition(current)
	if err != nil {
		return false, err.Error()
	}
	for _, f := range []struct {
		at      string
		was, is any
	}{
		{"metadata.name", was.name, now.name},
		{"spec.group", was.spec["group"], now.spec["group"]},
		{"spec.names.kind", was.names["kind"], now.names["kind"]},
		{"spec.names.plural", was.names["plural"], now.names["plural"]},
		{"spec.scope", was.spec["scope"], now.spec["scope"]},
	} {
		if !same(f.was, f.is) {
			return false, fmt.Sprintf("%s is %s, and was %s: it is another resource", f.at, orNothing(short(f.is)), orNothing(short(f.was)))
		}
	}
	var unserved []string
	for _, name := range now.stored {
		if _, found := was.version(name); !found {
			unserved = append(unserved, name)
		}
	}
	if len(unserved) > 0 {
		return false, fmt.Sprintf("objects of %s may already be stored in %s (status.storedVersions), which the former CRD does not have: rewrite them in %s, and remove %s from status.storedVersions, first",
			now.name, strings.Join(unserved, ", "), was.storage, strings.Join(unserved, ", "))
	}
	return true, ""
}
