package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// mergedFinding is one finding about one or several objects.
type mergedFinding struct {
	rule    *check.Rule
	finding *check.Finding
	objects []object.Ref
}

// checkUnknown is something that could not be decided about one or several objects.
type checkUnknown struct {
	rule *check.Rule
	// others counts further rules that could not be decided for the same reason.
	others  int
	why     string
	objects []object.Ref
}

// name is the rule, and how many others.
func (o *checkUnknown) name() string {
	if o.others == 0 {
		return o.rule.ID
	}
	return fmt.Sprintf("%s and %d more", o.rule.ID, o.others)
}

// foundKey is what findings that say the same have in common.
type foundKey struct {
	rule                                  string
	severity                              check.Severity
	message, field, value, remedy, waived string
	object                                object.Ref // where none are to be one
}

// found returns the findings of a group that are not waived, or those that are: the
// gravest first, then in the order of the rules. Findings that say the same of several
// objects are one, unless all are wanted.
func (v *checkView) found(g *checkGroup, waived, all bool) []mergedFinding {
	f := folder{at: map[foundKey]int{}, seen: map[foundKey]bool{}, apart: all}
	for _, s := range g.subjects {
		for _, r := range s.Results {
			for i := range r.Findings {
				if (r.Findings[i].Waived != nil) == waived {
					f.add(r.Rule, &r.Findings[i])
				}
			}
		}
	}
	out := f.out
	order := v.ruleOrder()
	slices.SortStableFunc(out, func(a, b mergedFinding) int {
		return cmp.Or(cmp.Compare(a.finding.Severity, b.finding.Severity), cmp.Compare(order[a.rule.ID], order[b.rule.ID]))
	})
	return out
}

// It merges findings that have the same text.
type folder struct {
	out   []mergedFinding
	at    map[foundKey]int
	seen  map[foundKey]bool
	apart bool
}

func (o *folder) add(rule *check.Rule, f *check.Finding) {
	k := foundKey{rule: rule.ID, severity: f.Severity, message: f.Message, field: f.Field, value: f.Value, remedy: f.Remedy}
	if f.Waived != nil {
		k.waived = f.Waived.Origin
	}
	one := k
	one.object = f.Object
	if o.seen[one] {
		return
	}
	o.seen[one] = true
	if o.apart {
		k = one
	}
	n, ok := o.at[k]
	if !ok {
		n = len(o.out)
		o.at[k] = n
		o.out = append(o.out, mergedFinding{rule: rule, finding: f})
	}
	o.out[n].objects = append(o.out[n].objects, f.Object)
}

// open returns what is unknown of a group, without what is uncheckable.
func (v *checkView) open(g *checkGroup) []checkUnknown { return v.opens(g.subjects, false) }

// openFolded is the same with a line for each reason, unless all is wanted: what was not
// read keeps many rules from being decided.
func (v *checkView) openFolded(g *checkGroup) []checkUnknown {
	all := v.open(g)
	if v.o.All {
		return all
	}
	var out []checkUnknown
	for _, o := range all {
		at := slices.IndexFunc(out, func(have checkUnknown) bool { return have.why == o.why })
		if at < 0 {
			out = append(out, o)
			continue
		}
		out[at].others++
		out[at].objects = append(out[at].objects, o.objects...)
	}
	for i := range out {
		out[i].objects = sortedOnce(out[i].objects)
	}
	return out
}

// uncheckable returns the rules that reading a cluster cannot evaluate.
func (v *checkView) uncheckable() []checkUnknown { return v.opens(v.r.Subjects, true) }

func (v *checkView) opens(subjects []*check.Subject, uncheckable bool) []checkUnknown {
	var out []checkUnknown
	at := map[[2]string]int{}
	for _, s := range subjects {
		for _, r := range s.Results {
			if (r.Rule.Uncheckable != "") != uncheckable {
				continue
			}
			for _, o := range r.Unknowns {
				k := [2]string{r.Rule.ID, o.Reason}
				n, ok := at[k]
				if !ok || v.o.All && !uncheckable {
					n = len(out)
					at[k] = n
					out = append(out, checkUnknown{rule: r.Rule, why: o.Reason})
				}
				out[n].objects = append(out[n].objects, o.Object)
			}
		}
	}
	order := v.ruleOrder()
	slices.SortStableFunc(out, func(a, b checkUnknown) int { return cmp.Compare(order[a.rule.ID], order[b.rule.ID]) })
	for i := range out {
		out[i].objects = sortedOnce(out[i].objects)
	}
	return out
}

// sortedOnce returns objects in order, each once.
func sortedOnce(refs []object.Ref) []object.Ref {
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
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
