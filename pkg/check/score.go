package check

import (
	"math"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Score is how well the rules of a category, or of all, are met.
//
// Each decided rule has the weight of its severity: an error 4, a warning 2, an info 1. Its share
// is the proportion of right objects. An object with findings milder than the rule (an info by a
// warning's rule) loses only the ratio of the two weights. The value is
//
//	100 x sum(weight x share) / sum(weight)
//
// rounded down, so that 100 means no findings. Waived findings count as right. A rule that could
// not be decided for any object has no weight.
type Score struct {
	// Value is 0 to 100; it means nothing where Of is 0.
	Value int
	// Kept counts the rules that all checked objects pass, among the evaluated ones.
	Kept, Of int
	// Unknown counts the rules without a decided object, Uncheckable those that a cluster
	// cannot show, and Waived the waived findings.
	Unknown, Uncheckable, Waived int

	got, all float64
}

// Known reports whether there is a score: a category with nothing to check has none.
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
	// All is the score over all categories, where each rule counts by its own weight.
	All Score
	By  map[Category]Score
	// Found counts the findings that were not waived, by severity.
	Found map[Severity]int
}

// Scored returns the scores of subjects together: each rule counts once per subject.
func Scored(subjects ...*Subject) Scores {
	out := Scores{By: map[Category]Score{}, Found: map[Severity]int{}}
	for _, s := range subjects {
		for _, r := range s.Results {
			score := out.By[r.Rule.Category]
			score.add(r)
			out.By[r.Rule.Category] = score
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

// scoreWeight is the weight of a severity.
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
	decided := r.decided()
	switch {
	case r.Rule.Uncheckable != "":
		s.Uncheckable++
		return
	case decided == 0:
		s.Unknown++
		return
	}
	weight, penalty := scoreWeight(r.Rule.Severity), 0.0
	for _, severity := range gravest {
		penalty += min(weight, scoreWeight(severity))
	}
	s.Of++
	if len(gravest) == 0 {
		s.Kept++
	}
	s.all += weight
	s.got += weight - penalty/float64(decided)
	s.Value = int(math.Floor(100*s.got/s.all + scoreNoise))
	if s.Kept < s.Of {
		s.Value = min(s.Value, 99)
	}
}

// scoreNoise exceeds the rounding error of sums of binary fractions.
const scoreNoise = 1e-6

// decided returns the number of objects that passed or have a finding. Without findings no set of
// them is made: most results have none, and the objects that passed are in order.
func (r *Result) decided() int {
	if len(r.Findings) == 0 {
		n := 0
		for i := range r.Passed {
			if i == 0 || r.Passed[i] != r.Passed[i-1] {
				n++
			}
		}
		return n
	}
	objects := make(map[object.Ref]bool, len(r.Passed)+len(r.Findings))
	for _, ref := range r.Passed {
		objects[ref] = true
	}
	for i := range r.Findings {
		objects[r.Findings[i].Object] = true
	}
	return len(objects)
}

// scoreWrong returns the worst severity of the findings about each object that are not waived,
// and the number of waived ones.
func (r *Result) scoreWrong() (gravest map[object.Ref]Severity, waived int) {
	if len(r.Findings) == 0 {
		return nil, 0
	}
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
