package health

import (
	"fmt"
	"time"
)

// generation: a status that is of another generation than the object says nothing of it.
// Where the status itself names none, its conditions may. One that is ahead of the
// object is of an earlier life of it, as after a restore.
func (j *Judge) generation(s *subject) (Health, bool) {
	want := s.Meta.GetGeneration()
	if want == 0 || len(s.status) == 0 {
		return Health{}, false
	}
	if seen, ok := wholeNumber(s.status["observedGeneration"]); ok {
		if seen == want {
			return Health{}, false
		}
		return stale(seen, want, time.Time{}), true
	}
	for _, list := range conditionLists(s.status) {
		var seen int64
		var since time.Time
		for _, c := range list {
			if c.observed > seen {
				seen, since = c.observed, c.since
			}
		}
		if seen != 0 && seen < want {
			return stale(seen, want, since), true
		}
	}
	return Health{}, false
}

func stale(seen, want int64, since time.Time) Health {
	return Health{
		Status:  Progressing,
		Reason:  Stale,
		Message: fmt.Sprintf("its status is of generation %d, and it is at %d", seen, want),
		Since:   since,
	}
}
