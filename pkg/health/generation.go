package health

import (
	"fmt"
	"strings"
	"time"
)

// generation: a status of an older generation than the object says nothing about it. If the status
// has none, its conditions may. A larger number is not a generation of this object but a hash
// (early Argo Rollouts), or from before a restore: it does not mean that the operator is behind.
func (j *Evaluator) generation(s *subject) (Health, bool) {
	want := s.Meta.GetGeneration()
	if want == 0 || len(s.status) == 0 {
		return Health{}, false
	}
	if h, behind := j.observed(s); behind {
		return h, true
	}
	named := false
	if seen, ok := wholeNumber(s.status["observedGeneration"]); ok {
		if seen < want {
			return stale(seen, want, time.Time{}), true
		}
		named = true
	}
	if seen, want, behind := s.elsewhere(); behind {
		return stale(seen, want, time.Time{}), true
	}
	if named {
		return Health{}, false
	}
	for _, list := range s.conditionLists() {
		var seen int64
		var since time.Time
		for _, c := range list.conditions {
			if c.observed > seen {
				seen, since = c.observed, c.since
			}
		}
		if seen == 0 || seen > want {
			continue
		}
		if seen < want {
			return stale(seen, want, since), true
		}
		for _, c := range newest(list.conditions) {
			if c.observed != 0 && c.observed < want && c.said == yes && plainly(c.kind) {
				// The other conditions are current, and the one that summarizes them is not.
				return stale(c.observed, want, c.since), true
			}
		}
	}
	return Health{}, false
}

// elsewhere compares the generations of another object that this one refers to, if the status has
// the observed one and an annotation the current one: workloadObservedGeneration, and
// workload-generation.
func (s *subject) elsewhere() (seen, want int64, behind bool) {
	for _, key := range sortedKeys(s.status) {
		prefix, ok := strings.CutSuffix(key, "ObservedGeneration")
		if !ok {
			continue
		}
		for _, annotation := range sortedKeys(s.Meta.GetAnnotations()) {
			if _, name, ok := strings.Cut(annotation, "/"); ok && squeeze(name) == squeeze(prefix)+"generation" {
				seen, ok := wholeNumber(s.status[key])
				want, known := wholeNumber(s.Meta.GetAnnotations()[annotation])
				if ok && known && seen < want {
					return seen, want, true
				}
			}
		}
	}
	return 0, 0, false
}

func stale(seen, want int64, since time.Time) Health {
	return Health{
		Status:  Progressing,
		Reason:  ReasonNotObserved,
		Message: fmt.Sprintf("its status is of generation %d, and it is at %d", seen, want),
		Since:   since,
	}
}
