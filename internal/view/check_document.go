package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// CheckDocument is what was checked, and what was found (docs/schema/check.json).
// check.Report has neither scores of subjects nor words of rules in it: both are computed.
type CheckDocument struct {
	Head `json:",inline"`
	// Scores are those over all subjects.
	Scores   CheckScoresDocument    `json:"scores"`
	Subjects []CheckSubjectDocument `json:"subjects"`
	// Rules are all that were asked.
	Rules   []CheckRuleDocument  `json:"rules"`
	Waivers CheckWaiversDocument `json:"waivers"`
	Gaps    []object.Gap         `json:"gaps"`
}

// CheckScoresDocument says how many rules passed (check.Score).
type CheckScoresDocument struct {
	Overall CheckScoreDocument `json:"overall"`
	// Categories has those in which something was asked.
	Categories map[string]CheckScoreDocument `json:"categories"`
	// Found counts the findings that are not waived, by severity.
	Found map[string]int `json:"found"`
}

// CheckScoreDocument is a score.
type CheckScoreDocument struct {
	// Score is 0 to 100; left out where no rule was evaluated.
	Score *int `json:"score,omitempty"`
	// Passed counts the rules without findings, Evaluated those that were evaluated, Unknown
	// and Uncheckable those that were not, Waived the findings that were waived.
	Passed      int `json:"passed"`
	Evaluated   int `json:"evaluated"`
	Unknown     int `json:"unknown"`
	Uncheckable int `json:"uncheckable"`
	Waived      int `json:"waived"`
}

// CheckSubjectDocument is one definition, operator or stack.
type CheckSubjectDocument struct {
	Scope string `json:"scope"`
	Name  string `json:"name"`
	// ID is the definition, the operator's first workload or definition, or what the stack
	// is called.
	ID string `json:"id"`
	// Operator is what runs a definition.
	Operator string                `json:"operator,omitempty"`
	Scores   CheckScoresDocument   `json:"scores"`
	Results  []CheckResultDocument `json:"results"`
}

// CheckResultDocument is what a rule says of a subject.
type CheckResultDocument struct {
	Rule       string   `json:"rule"`
	Category   string   `json:"category"`
	Guidelines []string `json:"guidelines"`
	// Passed counts the objects without findings.
	Passed   int                    `json:"passed"`
	Findings []CheckFindingDocument `json:"findings"`
	Unknowns []check.Unknown        `json:"unknown"`
}

// CheckFindingDocument is a finding. Its waiver is written otherwise: with a day, and with no
// object where it waives a rule for all.
type CheckFindingDocument struct {
	check.Finding `json:",inline"`
	Waived        *CheckWaiverDocument `json:"waived,omitempty"`
}

// CheckRuleDocument is a rule, in words: check.Rule is functions.
type CheckRuleDocument struct {
	ID         string            `json:"id"`
	Category   string            `json:"category"`
	Scope      string            `json:"scope"`
	Severity   string            `json:"severity"`
	Title      string            `json:"title"`
	Reason     string            `json:"reason"`
	Fix        string            `json:"fix,omitempty"`
	Guidelines []check.Guideline `json:"guidelines"`
	// Uncheckable says why no reading of a cluster can decide it.
	Uncheckable string `json:"uncheckable,omitempty"`
}

// CheckWaiversDocument is what is to be told of waivers.
type CheckWaiversDocument struct {
	Unused    []CheckUnusedDocument   `json:"unused"`
	Malformed []check.MalformedWaiver `json:"malformed"`
}

// CheckWaiverDocument is a waiver. Until is its last day.
type CheckWaiverDocument struct {
	Rule   string `json:"rule"`
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
	Until  string `json:"until,omitempty"`
	Origin string `json:"origin"`
}

// CheckUnusedDocument is a waiver that waived nothing.
type CheckUnusedDocument struct {
	CheckWaiverDocument `json:",inline"`
	Message             string `json:"message"`
}

func (v *checkView) document() CheckDocument {
	doc := CheckDocument{
		Head: HeadOf("CheckReport"), Scores: checkScores(&v.r.Scores),
		Waivers: CheckWaiversDocument{}, Gaps: v.r.Gaps,
	}
	for _, s := range v.r.Subjects {
		doc.Subjects = append(doc.Subjects, checkSubject(s))
	}
	for i := range v.r.Rules {
		doc.Rules = append(doc.Rules, checkRule(&v.r.Rules[i]))
	}
	for i := range v.r.Unused {
		u := &v.r.Unused[i]
		doc.Waivers.Unused = append(doc.Waivers.Unused, CheckUnusedDocument{checkWaiver(&u.Waiver), u.Why})
	}
	doc.Waivers.Malformed = v.r.Malformed
	return doc
}

func checkSubject(s *check.Subject) CheckSubjectDocument {
	scores := check.Scored(s)
	d := CheckSubjectDocument{
		Scope: string(s.Scope), Name: s.Name, ID: s.Ref.String(), Operator: s.Operator, Scores: checkScores(&scores),
	}
	for _, r := range s.Results {
		result := CheckResultDocument{
			Rule: r.Rule.ID, Category: string(r.Rule.Category), Passed: len(r.Passed), Unknowns: r.Unknowns,
		}
		for _, g := range r.Rule.Guidelines {
			result.Guidelines = append(result.Guidelines, g.String())
		}
		for i := range r.Findings {
			result.Findings = append(result.Findings, checkFinding(r.Rule, &r.Findings[i]))
		}
		d.Results = append(d.Results, result)
	}
	return d
}

func checkFinding(rule *check.Rule, f *check.Finding) CheckFindingDocument {
	d := CheckFindingDocument{Finding: *f}
	d.Remedy = remedy(rule, f)
	if f.Waived != nil {
		waived := checkWaiver(f.Waived)
		d.Waived = &waived
	}
	return d
}

func checkWaiver(w *check.Waiver) CheckWaiverDocument {
	d := CheckWaiverDocument{Rule: w.Rule, Reason: w.Reason, Origin: w.Origin}
	if w.Object != (object.Ref{}) {
		d.Object = w.Object.String()
	}
	if !w.Until.IsZero() {
		d.Until = w.Until.Format("2006-01-02")
	}
	return d
}

func checkRule(r *check.Rule) CheckRuleDocument {
	d := CheckRuleDocument{
		ID: r.ID, Category: string(r.Category), Scope: string(r.Scope()), Severity: r.Severity.String(), Title: r.Title, Reason: r.Why, Fix: r.Fix, Guidelines: r.Guidelines,
		Uncheckable: r.Uncheckable,
	}
	return d
}

func checkScores(s *check.Scores) CheckScoresDocument {
	d := CheckScoresDocument{Overall: checkScore(s.All), Categories: map[string]CheckScoreDocument{}, Found: map[string]int{}}
	for category, score := range s.By {
		d.Categories[string(category)] = checkScore(score)
	}
	for _, severity := range check.Severities() {
		d.Found[severity.String()] = s.Found[severity]
	}
	return d
}

func checkScore(s check.Score) CheckScoreDocument {
	d := CheckScoreDocument{Passed: s.Kept, Evaluated: s.Of, Unknown: s.Unknown, Uncheckable: s.Uncheckable, Waived: s.Waived}
	if s.Known() {
		d.Score = &s.Value
	}
	return d
}
