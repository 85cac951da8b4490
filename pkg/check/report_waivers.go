package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// UnusedWaiver is a waiver that waived nothing.
type UnusedWaiver struct {
	Waiver Waiver
	// Why is the reason, in one sentence without a full stop.
	Why string
}

// waiving applies waivers to a report.
type waiving struct {
	report *Report
	world  *ClusterState
	// byRule are the waivers of each rule, by object. The first of several applies.
	byRule map[string]map[object.Ref]*Waiver
	used   map[*Waiver]bool
	above  map[object.Ref][]object.Ref
	// checked are the scopes in which each object was checked, and each namespace.
	checked map[object.Ref]scopes
}

// scopes is a set of scopes.
type scopes struct{ definition, operator, stack bool }

func (s scopes) has(scope Scope) bool {
	return scope == OfDefinition && s.definition || scope == OfOperator && s.operator || scope == OfStack && s.stack
}

func (s scopes) with(scope Scope) scopes {
	return scopes{s.definition || scope == OfDefinition, s.operator || scope == OfOperator, s.stack || scope == OfStack}
}

// waive marks waived findings, and reports waivers without effect.
func waive(r *Report, rules []Rule, file []Waiver, w *ClusterState, now time.Time) {
	v := &waiving{report: r, world: w, byRule: map[string]map[object.Ref]*Waiver{}, used: map[*Waiver]bool{}, above: map[object.Ref][]object.Ref{}}
	v.look()
	annotated, malformed := w.annotatedWaivers(rules, func(ref object.Ref) bool { return v.checked[ref] != scopes{} })
	r.Malformed = malformed
	all := slices.Concat(annotated, file)
	var held []*Waiver
	for i := range all {
		waiver := &all[i]
		reason := v.resolve(waiver)
		if waiver.Ended(now) {
			reason = fmt.Sprintf("it expired on %s", waiver.Until.Format(untilLayout))
		}
		if reason != "" {
			r.Unused = append(r.Unused, UnusedWaiver{*waiver, reason})
			continue
		}
		held = append(held, waiver)
		byObject := v.byRule[waiver.Rule]
		if byObject == nil {
			byObject = map[object.Ref]*Waiver{}
			v.byRule[waiver.Rule] = byObject
		}
		if byObject[waiver.Object] == nil {
			byObject[waiver.Object] = waiver
		}
	}
	for _, s := range r.Subjects {
		for _, result := range s.Results {
			for i := range result.Findings {
				v.mark(result.Rule.ID, &result.Findings[i])
			}
		}
	}
	for _, waiver := range held {
		if v.used[waiver] {
			continue
		}
		if reason := v.idle(waiver); reason != "" {
			r.Unused = append(r.Unused, UnusedWaiver{*waiver, reason})
		}
	}
}

// look records the checked objects.
func (v *waiving) look() {
	v.checked = map[object.Ref]scopes{}
	note := func(ref object.Ref, scope Scope) {
		if have := v.checked[ref]; !have.has(scope) {
			v.checked[ref] = have.with(scope)
		}
	}
	for _, s := range v.report.Subjects {
		look := func(ref object.Ref) {
			note(ref, s.Scope)
			if ref.Namespace != "" {
				note(waiverNamespace(ref), s.Scope)
			}
		}
		for _, ref := range s.Objects {
			look(ref)
		}
		for _, r := range s.Results {
			for _, ref := range r.Passed {
				look(ref)
			}
			for i := range r.Findings {
				look(r.Findings[i].Object)
			}
			for _, o := range r.Unknowns {
				look(o.Object)
			}
		}
	}
}

func waiverNamespace(ref object.Ref) object.Ref {
	return object.Ref{Kind: "Namespace", Name: ref.Namespace}
}

// resolve finds the kind that a file names, or returns the reason why there is none.
func (v *waiving) resolve(waiver *Waiver) string {
	if waiver.InSource || waiver.Object == (object.Ref{}) || v.world == nil || v.world.Kinds == nil {
		return ""
	}
	o := &waiver.Object
	name := strings.TrimSuffix(o.Kind+"."+o.Group, ".")
	r, err := v.world.Kinds.Find(name)
	switch {
	case err != nil:
		return err.Error()
	case r.Namespaced && o.Namespace == "":
		return fmt.Sprintf("%s has no namespace: write %s/NAMESPACE/%s", o, name, o.Name)
	case !r.Namespaced && o.Namespace != "":
		return fmt.Sprintf("%s has a namespace, and a %s is cluster-scoped: write %s/%s", o, r.Kind, name, o.Name)
	}
	o.Group, o.Kind = r.Group, r.Kind
	return ""
}

// mark gives a finding its waiver: that of the object itself, then of the nearest owner, of
// the namespace, of every object. An annotation takes precedence over a file.
func (v *waiving) mark(rule string, f *Finding) {
	f.Waived = nil
	byObject := v.byRule[rule]
	if len(byObject) == 0 {
		return
	}
	for _, at := range append(v.places(f.Object), object.Ref{}) {
		if waiver := byObject[at]; waiver != nil {
			f.Waived = waiver
			v.used[waiver] = true
			return
		}
	}
}

// places are the objects whose waivers apply to an object: itself, its owners at any height,
// and its namespace.
func (v *waiving) places(ref object.Ref) []object.Ref {
	if have, ok := v.above[ref]; ok {
		return slices.Clone(have)
	}
	all := append([]object.Ref{ref}, v.world.Owners(ref)...)
	if ref.Namespace != "" {
		all = append(all, waiverNamespace(ref))
	}
	v.above[ref] = all
	return slices.Clone(all)
}

// idle returns the reason why a waiver waived nothing; empty where that is unknown: its rule
// was not evaluated, its object was not checked, or the rule was undecided.
func (v *waiving) idle(waiver *Waiver) string {
	i := slices.IndexFunc(v.report.Rules, func(r Rule) bool { return r.ID == waiver.Rule })
	if i < 0 {
		return ""
	}
	scope := v.report.Rules[i].Scope()
	everywhere := waiver.Object == (object.Ref{})
	asked := slices.ContainsFunc(v.report.Subjects, func(s *Subject) bool { return s.Scope == scope })
	switch {
	case everywhere && !asked, !everywhere && !v.checked[waiver.Object].has(scope) && !v.absent(waiver.Object):
		return ""
	case !everywhere && v.absent(waiver.Object):
		return fmt.Sprintf("there is no %s", waiver.Object)
	case v.open(waiver):
		return ""
	case everywhere:
		return "the rule has no findings in what was checked"
	}
	return "the rule has no findings there"
}

// absent reports whether an object is missing, for certain.
func (v *waiving) absent(ref object.Ref) bool {
	if v.world == nil || v.world.Graph == nil || v.world.Read == nil || !v.world.Read(ref.GroupKind(), ref.Namespace) {
		return false
	}
	id, ok := v.world.Graph.Find(ref)
	return !ok || v.world.Graph.State(id) == graph.Missing
}

// open reports whether the rule was undecided for an object that a waiver applies to.
func (v *waiving) open(waiver *Waiver) bool {
	for _, s := range v.report.Subjects {
		for _, r := range s.Results {
			if r.Rule.ID != waiver.Rule {
				continue
			}
			for _, o := range r.Unknowns {
				if waiver.Object == (object.Ref{}) || slices.Contains(v.places(o.Object), waiver.Object) {
					return true
				}
			}
		}
	}
	return false
}
