package health

import (
	"strings"
	"time"
)

// conditions judges by the standard conditions of a custom resource. What they call
// well is asked of the other words of the status, too.
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

// confirm asks the words of the status whether they contradict what conditions say.
func (s *subject) confirm(f finding) (Health, bool) {
	if f.Status == Progressing {
		// What waits for somebody's leave is not on its way.
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

// unexplainedFor is how long an object may say that it is not well, and nothing of why, before
// that is trouble.
const unexplainedFor = 15 * time.Minute

// evaluateConditions says what the conditions of one list mean together: the worst, but what
// tells more is heard before what follows from a word alone, and where the object says
// that it is well as a whole slight things do not count.
func evaluateConditions(list []condition, of nature) finding {
	findings, all := evaluateEach(list, of)
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

// listState is what the conditions of a list say together.
type listState struct {
	well        bool // the object says of itself that it is well
	whole       bool // one says so of the object as a whole
	calm, quiet bool
}

// evaluateEach judges the conditions of a list one by one.
func evaluateEach(list []condition, of nature) ([]finding, listState) {
	findings := make([]finding, len(list))
	var all listState
	newest := observedBy(list)
	for i := range list {
		f := list[i].evaluate(of)
		if at := list[i].observed; at != 0 && at < newest {
			// It is of a generation before that of the others.
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

// observedBy is the newest generation that conditions are of.
func observedBy(list []condition) int64 {
	var seen int64
	for i := range list {
		seen = max(seen, list[i].observed)
	}
	return seen
}

// plainly reports the types by which an object speaks of itself as a whole.
func plainly(kind string) bool {
	switch strings.ToLower(kind) {
	case "ready", "available", "healthy", "succeeded", "complete", "completed", "successful":
		return true
	}
	return false
}
