package check

import (
	"math"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Score is how far the rules of a category, or of all, are kept.
//
// Each rule that was decided weighs by its severity: an error 4, a warning 2, an info 1. It
// counts by its share of right objects, each object once. Of an object about which it finds
// something milder than the rule mostly does (an info by a warning's rule), it counts as much
// less as that weighs less. The value is
//
//	100 x sum(weight x share) / sum(weight)
//
// rounded down, so that 100 says that nothing was found. What was waived counts as right.
// A rule that could not be decided of any object counts for nothing.
type Score struct {
	// Value is 0 to 100; it means nothing where Of is 0.
	Value int
	// Kept counts the rules that all checked objects pass, of those that could be evaluated.
	Kept, Of int
	// Unknown counts the rules that could not be decided of anything, Uncheckable those
	// that no reading of a cluster can decide, and Waived the findings that were waived.
	Unknown, Uncheckable, Waived int

	got, all float64
}

// Known says that there is a score: a category with nothing to check has none.
func (s Score) Known() bool { return s.Of > 0 }

// String returns the value, or - where there is none.
func (s Score) String() string {
	if !s.Known() {
		return "-"
	}
	return strconv.Itoa(s.Value)
}

// Scores are the scores of one or several subjects.
type Scores struct {
	// All is that over all categories, where each rule counts by its own weight.
	All Score
	By  map[Category]Score
	// Found counts the findings that were not waived, by severity.
	Found map[Severity]int
}

// Scored returns the scores of subjects together: each rule counts once a subject.
func Scored(subjects ...*Subject) Scores {
	out := Scores{By: map[Category]Score{}, Found: map[Severity]int{}}
	for _, s := range subjects {
		for _, r := range s.Results {
			by := out.By[r.Rule.Category]
			by.add(r)
			out.By[r.Rule.Category] = by
			out.All.add(r)
			for i := range r.Findings {
				if r.Findings[i].Waived == nil {
					out.Found[r.Findings[i].Severity]++
				}
			}
		}
	}
	return out
}

// scoreWeight is what a rule weighs.
func scoreWeight(s Severity) float64 {
	switch s {
	case Error:
		return 4
	case Warning:
		return 2
	}
	return 1
}

func (s *Score) add(r *Result) {
	gravest, waived := r.scoreWrong()
	s.Waived += waived
	right := map[object.Ref]bool{}
	for _, ref := range r.Passed {
		right[ref] = true
	}
	for i := range r.Findings {
		right[r.Findings[i].Object] = true
	}
	switch {
	case r.Rule.Uncheckable != "":
		s.Uncheckable++
		return
	case len(right) == 0:
		s.Unknown++
		return
	}
	weight, lost := scoreWeight(r.Rule.Severity), 0.0
	for _, severity := range gravest {
		lost += min(weight, scoreWeight(severity))
	}
	s.Of++
	if len(gravest) == 0 {
		s.Kept++
	}
	s.all += weight
	s.got += weight - lost/float64(len(right))
	s.Value = int(math.Floor(100*s.got/s.all + scoreNoise))
	if s.Kept < s.Of {
		s.Value = min(s.Value, 99)
	}
}

// scoreNoise is more than what sums of binary fractions miss the true value by.
const scoreNoise = 1e-6

// scoreWrong returns the worst severity of the findings about each object that are not
// waived, and how many are waived.
func (r *Result) scoreWrong() (gravest map[object.Ref]Severity, waived int) {
	gravest = map[object.Ref]Severity{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Waived != nil {
			waived++
			continue
		}
		if have, ok := gravest[f.Object]; !ok || f.Severity < have {
			gravest[f.Object] = f.Severity
		}
	}
	return gravest, waived
}
