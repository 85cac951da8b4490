package health

import (
	"strings"
	"time"
)

// conditions evaluates the standard conditions of a custom resource. If they are good, the other
// words of the status are checked, too.
func (j *Evaluator) conditions(s *subject) (Health, bool) {
	if s.status == nil {
		return Health{}, false
	}
	var worst finding
	foreign, sure := false, false
	for _, list := range s.conditionLists() {
		f := evaluateConditions(newest(list.conditions), s.nature())
		if f.foreign {
			if list.of == nil || !sure {
				s.strange(f.Message)
				foreign = true
			}
			continue
		}
		sure = sure || list.of == nil && f.Status == Healthy
		if list.of != nil && f.Status != Healthy && f.Status != "" {
			f.Message = list.of.String() + ": " + f.Message
		}
		if worst.Status == "" || f.Status.Worse(worst.Status) {
			worst = f
		}
	}
	if worst.Status == "" || worst.Status == Healthy && foreign && !sure {
		return Health{}, false
	}
	return s.confirm(worst)
}

// confirm checks whether the words of the status contradict the conditions.
func (s *subject) confirm(f finding) (Health, bool) {
	if f.Status == Progressing {
		// What waits for approval does not progress.
		if _, verdict := s.fieldsOf(); verdict.Status == Suspended {
			return verdict.Health, true
		}
		if parts := s.partsOf(); parts.outdo(f) {
			return parts.worst.Health, true
		}
	}
	if f.Status == Healthy || f.soft {
		if other, ok := s.objection(f.soft); ok && (other.Status != Healthy) {
			return other, true
		}
	}
	if f.Status == Progressing && f.late && s.now.Sub(f.Since) > unexplainedFor {
		f.Status = Degraded
	}
	if f.step && f.Status == Healthy && s.ends() {
		f.Status = Progressing
	}
	if f.step && f.Status == Healthy {
		s.strange("it reports only progress: " + f.Message)
		return Health{}, false
	}
	return f.Health, true
}

// unexplainedFor is how long an object may report that it is not well, without a reason, before
// that is trouble.
const unexplainedFor = 15 * time.Minute

// evaluateConditions returns what the conditions of one list mean together: the worst, with two
// exceptions. A specific finding outweighs one from a word alone, and slight ones do not count if
// the object reports that it is well as a whole.
func evaluateConditions(list []condition, subject nature) finding {
	findings, all := evaluateEach(list, subject)
	var best, strange finding
	doubt := false
	for i, f := range findings {
		if f.foreign && (!strange.foreign || f.Message < strange.Message) {
			strange = f
		}
		doubt = doubt || f.foreign && list[i].said != yes
		if f.Status == "" || all.well && f.slight && f.Status != Healthy {
			continue
		}
		if f.before(best) {
			best = f
			best.foreign = false
		}
	}
	switch {
	case best.Status == "" && strange.foreign, best.Status == Healthy && doubt && !all.whole:
		return strange
	case best.Status == "" && all.calm && all.quiet:
		best.Health = Health{Status: Healthy, Reason: "Settled", Message: "its conditions report no activity and no problem"}
	}
	return best
}

// listState summarizes the conditions of a list.
type listState struct {
	well        bool // the object reports that it is well
	whole       bool // a condition for the object as a whole does so
	calm, quiet bool
}

// evaluateEach evaluates the conditions of a list one by one.
func evaluateEach(list []condition, subject nature) ([]finding, listState) {
	findings := make([]finding, len(list))
	var all listState
	newest := observedBy(list)
	for i := range list {
		f := list[i].evaluate(subject)
		if at := list[i].observed; at != 0 && at < newest {
			// Its generation is older than that of the others.
			f.slight, f.whole = true, false
			if f.Status == Healthy {
				f.Status = ""
			}
		}
		fine := f.Status == Healthy && f.whole && !f.step
		all.well = all.well || fine && plainly(list[i].kind)
		all.whole = all.whole || fine
		all.calm, all.quiet = all.calm || f.calm, all.quiet || f.quiet
		findings[i] = f
	}
	return findings, all
}

// observedBy returns the newest generation of the conditions.
func observedBy(list []condition) int64 {
	var seen int64
	for i := range list {
		seen = max(seen, list[i].observed)
	}
	return seen
}

// plainly reports the types for the object as a whole.
func plainly(kind string) bool {
	switch strings.ToLower(kind) {
	case "ready", "available", "healthy", "succeeded", "complete", "completed", "successful":
		return true
	}
	return false
}
