package view

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// guidelinesPage is where each rule is described, under a heading of its ID.
const guidelinesPage = "https://github.com/kubectl-sysop/kubectl-sysop/blob/main/docs/guidelines.md"

// findings are the report for tools that collect what checkers find.
func (v *checkView) findings() *Findings {
	out := &Findings{Name: "check", Version: v.o.Version, Gaps: v.r.Gaps}
	for i := range v.r.Rules {
		r := &v.r.Rules[i]
		rule := FindingRule{ID: r.ID, Title: r.Title, Why: r.Why, Fix: r.Fix, Severity: r.Severity, Tags: []string{string(r.Category)}, URI: guidelinesPage + "#" + r.ID}
		for _, g := range r.Guidelines {
			rule.Sources = append(rule.Sources, g.String())
			if !slices.Contains(rule.Tags, g.Model) {
				rule.Tags = append(rule.Tags, g.Model)
			}
		}
		out.Rules = append(out.Rules, rule)
	}
	for _, s := range v.r.Subjects {
		out.Suites = append(out.Suites, suite(s))
	}
	for i := range v.r.Unused {
		u := &v.r.Unused[i]
		out.Notes = append(out.Notes, fmt.Sprintf("unused waiver of %s (%s): %s", u.Waiver.Rule, u.Waiver.Origin, u.Why))
	}
	for _, m := range v.r.Malformed {
		out.Notes = append(out.Notes, fmt.Sprintf("annotation %s of %s: %s", check.WaiveAnnotation, m.Object, m.Why))
	}
	return out
}

func suite(s *check.Subject) Suite {
	scores := check.Scored(s)
	out := Suite{Name: string(s.Scope) + " " + s.Name, Properties: []Property{{"score", scores.All.String()}}}
	for _, c := range check.Categories() {
		if score, ok := scores.By[c]; ok {
			out.Properties = append(out.Properties, Property{"score." + string(c), score.String()})
		}
	}
	out.Properties = append(out.Properties, Property{"kept", keptOf(scores.All)})
	for _, r := range s.Results {
		c := Case{Rule: r.Rule.ID, Class: string(r.Rule.Category), Right: len(r.Passed)}
		for i := range r.Findings {
			c.Findings = append(c.Findings, caseFinding(r.Rule, &r.Findings[i]))
		}
		for _, o := range r.Unknowns {
			c.Open = append(c.Open, CaseUnknown{Object: o.Object, Why: o.Reason})
		}
		out.Cases = append(out.Cases, c)
	}
	return out
}

func caseFinding(rule *check.Rule, f *check.Finding) CaseFinding {
	out := CaseFinding{
		Severity: f.Severity, Object: f.Object, Field: f.Field, Value: f.Value, Message: f.Message,
		Remedy: remedy(rule, f), Patch: f.Patch, Related: f.Related,
	}
	if f.Waived != nil {
		out.Waived = &CaseWaiver{Reason: f.Waived.Reason, Origin: f.Waived.Origin, InSource: f.Waived.InSource}
	}
	return out
}
