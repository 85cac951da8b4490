package declare

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// podRules returns the rules of pods for the kinds that carry a pod template, or
// a pod spec, at a path.
func (s *Spec) podRules(origin string) []relation.Rule {
	path, shape := s.Template, relation.PodTemplate
	if s.PodSpec != "" {
		path, shape = s.PodSpec, relation.PodSpec
	}
	type at struct {
		place
		when []condition
	}
	compiled := sync.OnceValue(func() at {
		r := s.reader(nil)
		return at{placeOf(path), r.when}
	})
	rules := relation.Templates(groupKinds(s.From), path, origin, func(o object.Object, visit func(relation.PodPart)) {
		if !s.means(o) {
			return
		}
		fields := contentOf(o, false)
		c := compiled()
		for m := range c.Matches(fields) {
			content, ok := m.Value.(map[string]any)
			if r := (reader{when: c.when}); ok && r.holds(fields, m.Holder) {
				visit(relation.PodPart{Path: m.At, Shape: shape, Fields: content, Inferred: s.Inferred})
			}
		}
	})
	if shape == relation.PodSpec {
		// A bare spec has no metadata, and its fields are those of the spec itself.
		rules = slices.DeleteFunc(rules, func(r relation.Rule) bool { return strings.HasPrefix(r.Field, path+".metadata.") })
		for i := range rules {
			rules[i].Field = strings.Replace(rules[i].Field, path+".spec.", path+".", 1)
		}
	}
	return rules
}
