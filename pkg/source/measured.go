package source

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Measured returns when the newest sample of usage in the snapshot was taken; zero
// where there is none. What a snapshot says of usage is of that moment.
func (s *Snapshot) Measured() time.Time {
	var newest time.Time
	for _, e := range s.entries {
		if e.ref.Group != "metrics.k8s.io" {
			continue
		}
		text, _ := e.body.Object["timestamp"].(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.After(newest) {
			newest = at
		}
	}
	return newest
}

// Taken returns when the snapshot was taken: what it says of itself, or else the newest
// time at which anything in it happened; zero where nothing tells.
func (s *Snapshot) Taken() time.Time {
	if s.head != nil && !s.head.Taken.IsZero() {
		return s.head.Taken.Time
	}
	var newest time.Time
	for _, e := range s.entries {
		if at := object.Newest(e.body.Object); at.After(newest) {
			newest = at
		}
	}
	return newest
}
