package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// checkFound is one finding about one or several objects.
type checkFound struct {
	rule    *check.Rule
	finding *check.Finding
	objects []object.Ref
}

// checkOpen is something that could not be decided about one or several objects.
type checkOpen struct {
	rule *check.Rule
	// others counts further rules that could not be decided for the same reason.
	others  int
	why     string
	objects []object.Ref
}

// name is the rule, and how many others.
func (o *checkOpen) name() string {
	if o.others == 0 {
		return o.rule.ID
	}
	return fmt.Sprintf("%s and %d more", o.rule.ID, o.others)
}

// found returns what was found of a group that nobody waived, or what somebody did: the
// gravest first, then in the order of the rules. Findings that say the same of several
// objects are one, unless all are wanted.
func (v *checkView) found(g *checkGroup, waived, all bool) []checkFound {
	var out []checkFound
	for _, s := range g.subjects {
		for _, r := range s.Results {
			for i := range r.Wrong {
				f := &r.Wrong[i]
				if (f.Waived != nil) != waived {
					continue
				}
				at := slices.IndexFunc(out, func(o checkFound) bool { return !all && o.same(r.Rule, f) })
				if at < 0 {
					at = len(out)
					out = append(out, checkFound{rule: r.Rule, finding: f})
				}
				if !slices.Contains(out[at].objects, f.Object) {
					out[at].objects = append(out[at].objects, f.Object)
				}
			}
		}
	}
	order := v.ruleOrder()
	slices.SortStableFunc(out, func(a, b checkFound) int {
		return cmp.Or(cmp.Compare(a.finding.Severity, b.finding.Severity), cmp.Compare(order[a.rule.ID], order[b.rule.ID]))
	})
	return out
}

// same says that a finding says nothing but what another one does, of another object.
func (o *checkFound) same(rule *check.Rule, f *check.Finding) bool {
	a := o.finding
	return o.rule.ID == rule.ID && a.Severity == f.Severity && a.Message == f.Message && a.Field == f.Field && a.Value == f.Value && a.Remedy == f.Remedy && a.Waived == f.Waived
}

// open returns what could not be decided of a group, and leaves out what nobody can decide.
func (v *checkView) open(g *checkGroup) []checkOpen { return v.opens(g.subjects, false) }

// openFolded is the same with a line for each reason, unless all is wanted: what was not
// read keeps many rules from being decided.
func (v *checkView) openFolded(g *checkGroup) []checkOpen {
	all := v.open(g)
	if v.o.All {
		return all
	}
	var out []checkOpen
	for _, o := range all {
		at := slices.IndexFunc(out, func(have checkOpen) bool { return have.why == o.why })
		if at < 0 {
			out = append(out, o)
			continue
		}
		out[at].others++
		for _, ref := range o.objects {
			if !slices.Contains(out[at].objects, ref) {
				out[at].objects = append(out[at].objects, ref)
			}
		}
	}
	return out
}

// uncheckable returns what no reading of a cluster can decide.
func (v *checkView) uncheckable() []checkOpen { return v.opens(v.r.Subjects, true) }

func (v *checkView) opens(subjects []*check.Subject, uncheckable bool) []checkOpen {
	var out []checkOpen
	for _, s := range subjects {
		for _, r := range s.Results {
			if (r.Rule.Uncheckable != "") != uncheckable {
				continue
			}
			for _, o := range r.Open {
				at := slices.IndexFunc(out, func(have checkOpen) bool { return !v.o.All && have.rule.ID == r.Rule.ID && have.why == o.Why })
				if at < 0 {
					at = len(out)
					out = append(out, checkOpen{rule: r.Rule, why: o.Why})
				}
				if !slices.Contains(out[at].objects, o.Object) {
					out[at].objects = append(out[at].objects, o.Object)
				}
			}
		}
	}
	order := v.ruleOrder()
	slices.SortStableFunc(out, func(a, b checkOpen) int { return cmp.Compare(order[a.rule.ID], order[b.rule.ID]) })
	return out
}

func (v *checkView) ruleOrder() map[string]int {
	order := map[string]int{}
	for i := range v.r.Rules {
		order[v.r.Rules[i].ID] = i
	}
	return order
}

// several names the first of some objects, and counts the others.
func (v *checkView) several(refs []object.Ref) string {
	if len(refs) == 0 {
		return ""
	}
	name := v.name(refs[0])
	if len(refs) > 1 {
		name += fmt.Sprintf(" and %d more", len(refs)-1)
	}
	return name
}

// remedy is what to do about a finding: its own remedy, or that of the rule.
func remedy(rule *check.Rule, f *check.Finding) string { return cmp.Or(f.Remedy, rule.Fix) }

// evidence is field and value, as far as they are known: spec.replicas = 1.
func evidence(field, value string) string {
	switch {
	case field == "":
		return value
	case value == "":
		return field
	}
	return field + " = " + value
}
