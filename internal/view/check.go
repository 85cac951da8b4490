package view

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// CheckOptions say what is shown of a report.
type CheckOptions struct {
	// Namespace is that of the user: objects of others are shown with theirs.
	Namespace string
	// Summary shows a line for each thing that was checked, with its scores, and not what
	// was found.
	Summary bool
	// All shows each finding, where many are folded, and what is waived as well.
	All bool
	// Version is that of the program, for formats that name it.
	Version string
	// Shape is the one that is wanted, since each takes time and memory; 0 is all of them.
	Shape Shape
}

// Check returns the answer of the check command.
func Check(r *check.Report, o CheckOptions) Output {
	v := &checkView{r: r, o: o}
	v.groups = v.group()
	v.twice = twiceKinds(slices.Values(v.objects()))
	var a Output
	if o.Shape.has(DocumentShape) {
		a.Document = v.document()
	}
	if o.Shape.has(NamesShape) {
		a.Names = v.troubled()
	}
	if o.Shape.has(FindingsShape) {
		a.Findings = v.findings()
	}
	switch people := o.Shape.has(TreeShape) || o.Shape.has(TableShape) || o.Shape.has(WideShape); {
	case !people:
	case o.Summary:
		c, rows := v.scoreColumns(), v.scoreRows()
		a.Tree, a.Table, a.Wide = v.scoresTree(), c.Table(rows), c.wideTable(rows)
	default:
		a.Tree, a.Table, a.Wide = v.tree(), v.table(), v.wide()
	}
	return a
}

type checkView struct {
	r      *check.Report
	o      CheckOptions
	groups []checkGroup
	twice  map[string]bool
}

// checkGroup is the subjects that are shown together: a stack, or an operator and the CRDs that
// it acts on.
type checkGroup struct {
	title    string
	subjects []*check.Subject
	scores   check.Scores
}

// group puts definitions with their operators. With Summary, the worst come first; else
// they stay in the order of the report.
func (v *checkView) group() []checkGroup {
	var groups []checkGroup
	operators := map[string]int{}
	for _, s := range v.r.Subjects {
		if at, ok := operators[s.Operator]; ok && s.Scope == check.OfDefinition && s.Operator != "" {
			groups[at].subjects = append(groups[at].subjects, s)
			continue
		}
		if s.Scope == check.OfOperator {
			operators[s.Name] = len(groups)
		}
		groups = append(groups, checkGroup{title: v.title(s), subjects: []*check.Subject{s}})
	}
	for i := range groups {
		groups[i].scores = check.Scored(groups[i].subjects...)
	}
	if v.o.Summary {
		slices.SortStableFunc(groups, func(a, b checkGroup) int { return compareScores(&a.scores, &b.scores) })
	}
	return groups
}

// compareScores puts what has the gravest findings first, then what has the least score.
func compareScores(a, b *check.Scores) int {
	for _, s := range check.Severities() {
		if s == check.Info {
			break
		}
		if c := cmp.Compare(b.Found[s], a.Found[s]); c != 0 {
			return c
		}
	}
	value := func(s check.Score) int {
		if !s.Known() {
			return 101
		}
		return s.Value
	}
	return cmp.Compare(value(a.All), value(b.All))
}

// title is what a subject is called: operator cert-manager, stack Moodle/moodle-1.
func (v *checkView) title(s *check.Subject) string {
	if s.Scope == check.OfStack {
		return string(s.Scope) + " " + v.name(s.Ref)
	}
	return string(s.Scope) + " " + s.Name
}

// objects are all that the report names.
func (v *checkView) objects() []object.Ref {
	var all []object.Ref
	for _, s := range v.r.Subjects {
		all = append(all, s.Ref)
		for _, r := range s.Results {
			for i := range r.Findings {
				all = append(all, r.Findings[i].Object)
			}
			for _, o := range r.Unknowns {
				all = append(all, o.Object)
			}
		}
	}
	return all
}

func (v *checkView) name(r object.Ref) string { return Written(r, v.o.Namespace, v.twice) }

// troubled are the objects with findings that are not waived, each once
// and in order.
func (v *checkView) troubled() []string {
	var refs []object.Ref
	for _, s := range v.r.Subjects {
		for _, r := range s.Results {
			for i := range r.Findings {
				if r.Findings[i].Waived == nil {
					refs = append(refs, r.Findings[i].Object)
				}
			}
		}
	}
	slices.SortFunc(refs, object.Compare)
	out := []string{}
	for _, r := range slices.Compact(refs) {
		out = append(out, r.String())
	}
	return out
}

// SeverityCell is a severity with its sign.
func SeverityCell(s check.Severity) Cell {
	switch s {
	case check.Error:
		return Cell{"✖ " + s.String(), Bad}
	case check.Warning:
		return Cell{"! " + s.String(), Warn}
	}
	return Cell{"· " + s.String(), Faint}
}

// The words beside the severities.
const (
	unknownWord     = "? unknown"
	uncheckableWord = "? uncheckable"
	waivedWord      = "‖ waived"
)
