// Package luahealth evaluates the health of objects by the Lua scripts that Argo CD's users
// write: its resource customizations.
//
// Its words:
//
//   - Customization: a script for the kinds that a key names (shop.example.com/Backup,
//     *.crossplane.io/*), with its origin, for people.
//   - Set: customizations of one ConfigMap or directory; it is a health.Assessor.
//   - Limits: what one run of a script may use, and all runs together.
//
// A script is untrusted input: it sees one object, and all that
// it can do is to return a status and a message. There is no file, process, clock, network
// or chance in it, and no way to load more code. Its instructions, its time and the memory
// that it asks for are counted; what is beyond its limits ends the run of the script, never
// the program, and the object is evaluated by the next rules.
package luahealth

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Customization is what gives the health of an object.
const Customization = "Customization"

// customization is one script, and the kinds that it is for.
type customization struct {
	key    key
	origin string
	script *script
}

// Set is the customizations of a ConfigMap or a directory. It is safe for use by several at
// once.
type Set struct {
	exact   map[string]*customization // by GROUP/KIND
	wild    []*customization          // the one that goes before first
	limits  Limits
	skipped map[schema.GroupKind][]health.Rule

	mu       sync.Mutex
	budget   budget
	exceeded map[asked]int
	failures map[string]*failure // by origin
}

// asked is a customization that is asked about a kind.
type asked struct {
	by *customization
	gk schema.GroupKind
}

// failure is what is reported of a script that failed.
type failure struct {
	first   object.Ref
	message string
	objects int
}

func newSet(all []*customization) *Set {
	s := &Set{exact: map[string]*customization{}, limits: DefaultLimits(), skipped: map[schema.GroupKind][]health.Rule{}, exceeded: map[asked]int{}, failures: map[string]*failure{}}
	for _, c := range all {
		if c.key.wild() {
			s.wild = append(s.wild, c)
			continue
		}
		s.exact[c.key.text] = c
	}
	return s
}

// Len is how many customizations there are.
func (s *Set) Len() int { return len(s.exact) + len(s.wild) }

// Skip has the set say nothing of what a rule is for: that knows it better.
func (s *Set) Skip(rule health.Rule) {
	gk := schema.ParseGroupKind(rule.Kind)
	s.skipped[gk] = append(s.skipped[gk], rule)
}

// Has says whether there is a customization for a kind.
func (s *Set) Has(gk schema.GroupKind) bool {
	all := slices.ContainsFunc(s.skipped[gk], func(r health.Rule) bool { return len(r.Versions) == 0 })
	return !all && s.find(gk) != nil
}

// find returns the customization for a kind: the one that names it, else the first whose
// pattern it fits; nil for none.
func (s *Set) find(gk schema.GroupKind) *customization {
	text := keyOf(gk)
	if c := s.exact[text]; c != nil {
		return c
	}
	for _, c := range s.wild {
		if c.key.matches(text) {
			return c
		}
	}
	return nil
}

// Assess runs the script for the kind of an object. A script that fails gives no health,
// and a note that says so.
func (s *Set) Assess(o object.Object) (health.Health, bool) {
	c := s.find(o.GroupKind())
	if c == nil || slices.ContainsFunc(s.skipped[o.GroupKind()], func(r health.Rule) bool { return r.Covers(o.Version) }) {
		return health.Health{}, false
	}
	fields := whole(o)
	if fields == nil {
		return health.Health{}, false
	}
	if reason := s.refused(c, o.GroupKind()); reason != "" {
		return health.Health{Message: fmt.Sprintf("the health rule %s is not evaluated: %s", c.origin, reason)}, false
	}
	m := newMeter(s.limits)
	v, err := c.script.run(fields, m)
	s.used(m)
	switch {
	case err != nil:
		s.failed(c, o, err)
		return health.Health{Message: fmt.Sprintf("the health rule %s fails on it: %v", c.origin, err)}, false
	case v.status == "":
		return health.Health{}, false
	}
	message := "by " + c.origin
	if v.message != "" {
		message = v.message + " (" + message + ")"
	}
	return health.Health{Status: v.status, Reason: Customization, Message: message}, true
}

// whole is an object as a script sees it; nil for one that was not read in full. The items
// of a typed list do not say what they are.
func whole(o object.Object) map[string]any {
	fields := health.Fields(o)
	if fields == nil || fields["kind"] != nil && fields["kind"] != "" {
		return fields
	}
	fields = maps.Clone(fields)
	fields["kind"], fields["apiVersion"] = o.Kind, schema.GroupVersion{Group: o.Group, Version: o.Version}.String()
	return fields
}

// refused says why a script is not run any more; empty where it may.
func (s *Set) refused(c *customization, gk schema.GroupKind) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.exceeded[asked{c, gk}] >= s.limits.Failures:
		return fmt.Sprintf("it reached its limits on %d objects of this kind", s.limits.Failures)
	case s.budget.spent(s.limits, time.Now()):
		return fmt.Sprintf("the scripts of this run have used up their %v", s.limits.Total)
	}
	return ""
}

func (s *Set) used(m *meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.add(m.elapsed())
}

func (s *Set) failed(c *customization, o object.Object, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, limit := errors.AsType[*LimitError](err); limit {
		s.exceeded[asked{c, o.GroupKind()}]++
	}
	f := s.failures[c.origin]
	if f == nil {
		f = &failure{first: o.Ref, message: err.Error()}
		s.failures[c.origin] = f
	}
	f.objects++
	if o.String() < f.first.String() {
		f.first, f.message = o.Ref, err.Error()
	}
}

// Notes says which scripts failed, for people, in order.
func (s *Set) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var notes []string
	for _, origin := range slices.Sorted(maps.Keys(s.failures)) {
		f := s.failures[origin]
		on := f.first.String()
		if more := f.objects - 1; more > 0 {
			on += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, fmt.Sprintf("the health rule %s fails on %s, which other rules evaluate: %s", origin, on, f.message))
	}
	return notes
}
