package health

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Covers reports whether the rule applies to objects of an API version. It covers an object of
// unknown version.
func (r *Rule) Covers(version string) bool {
	return len(r.Versions) == 0 || version == "" || slices.Contains(r.Versions, version)
}

// Second says what is wrong with a rule after others: one of them is for the same kind, and
// for a version of it that this one is for. Nothing is empty.
func (r *Rule) Second(rest []Rule) string {
	kind := cmp.Or(r.Kind, "the kind")
	for i := range rest {
		o := &rest[i]
		if o.Kind != r.Kind {
			continue
		}
		if len(o.Versions) == 0 || len(r.Versions) == 0 {
			return fmt.Sprintf("a second rule for %s: expected one, or one for each of its versions (versions)", kind)
		}
		for _, v := range r.Versions {
			if slices.Contains(o.Versions, v) {
				return fmt.Sprintf("a second rule for %s %s: expected one", kind, v)
			}
		}
	}
	return ""
}

// second is where in a rule it says for what it is a second one.
func second(item *yaml.Node) *yaml.Node {
	for _, key := range []string{"versions", "kind"} {
		if n := strict.Value(item, key); n != nil {
			return n
		}
	}
	return item
}

// entryOf is the rule for an object: the first that is for its kind and its API version.
func (j *Evaluator) entryOf(s *subject) *entry {
	for _, e := range j.entries[s.GroupKind()] {
		if e.rule.Covers(s.Version) {
			return e
		}
	}
	return nil
}
