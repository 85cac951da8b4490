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
	// Why says why not, in one sentence without a full stop.
	Why string
}

// waiving applies waivers to a report.
type waiving struct {
	report *Report
	world  *ClusterState
	// byRule are the waivers of each rule, by object. Of several the first counts.
	byRule map[string]map[object.Ref]*Waiver
	used   map[*Waiver]bool
	above  map[object.Ref][]object.Ref
	// checked are the scopes in which each object was checked, and each namespace.
	checked map[object.Ref]map[Scope]bool
}

// waive marks what is waived, and reports waivers without effect.
func waive(r *Report, rules []Rule, file []Waiver, w *ClusterState, now time.Time) {
	v := &waiving{report: r, world: w, byRule: map[string]map[object.Ref]*Waiver{}, used: map[*Waiver]bool{}, above: map[object.Ref][]object.Ref{}}
	v.look()
	said, malformed := w.annotatedWaivers(rules, func(ref object.Ref) bool { return v.checked[ref] != nil })
	r.Malformed = malformed
	all := slices.Concat(said, file)
	var held []*Waiver
	for i := range all {
		waiver := &all[i]
		why := v.resolve(waiver)
		if waiver.Ended(now) {
			why = fmt.Sprintf("it expired on %s", waiver.Until.Format(untilLayout))
		}
		if why != "" {
			r.Unused = append(r.Unused, UnusedWaiver{*waiver, why})
			continue
		}
		held = append(held, waiver)
		of := v.byRule[waiver.Rule]
		if of == nil {
			of = map[object.Ref]*Waiver{}
			v.byRule[waiver.Rule] = of
		}
		if of[waiver.Object] == nil {
			of[waiver.Object] = waiver
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
		if why := v.idle(waiver); why != "" {
			r.Unused = append(r.Unused, UnusedWaiver{*waiver, why})
		}
	}
}

// look notes what was checked.
func (v *waiving) look() {
	v.checked = map[object.Ref]map[Scope]bool{}
	note := func(ref object.Ref, scope Scope) {
		if v.checked[ref] == nil {
			v.checked[ref] = map[Scope]bool{}
		}
		v.checked[ref][scope] = true
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

// resolve finds the kind that a file means. It says why there is none.
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

// mark gives a finding its waiver: that of the object itself, then that of the nearest
// owner, of the namespace, of every object. An annotation comes before a file.
func (v *waiving) mark(rule string, f *Finding) {
	f.Waived = nil
	of := v.byRule[rule]
	if len(of) == 0 {
		return
	}
	for _, at := range append(v.places(f.Object), object.Ref{}) {
		if waiver := of[at]; waiver != nil {
			f.Waived = waiver
			v.used[waiver] = true
			return
		}
	}
}

// places are the objects whose waivers hold for one: itself, what owns it at any depth, and
// its namespace.
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

// idle says why a waiver waived nothing; empty where that is not known: its rule was not
// evaluated, its object was not checked, or something there is unknown.
func (v *waiving) idle(waiver *Waiver) string {
	i := slices.IndexFunc(v.report.Rules, func(r Rule) bool { return r.ID == waiver.Rule })
	if i < 0 {
		return ""
	}
	scope := v.report.Rules[i].Scope()
	everywhere := waiver.Object == (object.Ref{})
	asked := slices.ContainsFunc(v.report.Subjects, func(s *Subject) bool { return s.Scope == scope })
	switch {
	case everywhere && !asked, !everywhere && !v.checked[waiver.Object][scope] && !v.absent(waiver.Object):
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

// absent says that an object is not there, for certain.
func (v *waiving) absent(ref object.Ref) bool {
	if v.world == nil || v.world.Graph == nil || v.world.Read == nil || !v.world.Read(ref.GroupKind(), ref.Namespace) {
		return false
	}
	id, ok := v.world.Graph.Find(ref)
	return !ok || v.world.Graph.State(id) == graph.Missing
}

// open says that the rule could not be decided of something that a waiver holds for.
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
