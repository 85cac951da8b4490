package source

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Measured returns the time of the newest usage sample in the snapshot, or the zero time. Usage in
// a snapshot is as of that time.
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

// IsPlain says that it is a dump of kubectl, which does not say what it covers.
func (s *Snapshot) IsPlain() bool { return s.head == nil }

// Taken returns when the snapshot was taken: from its header, or else the latest time at which
// something in it happened; the zero time if unknown.
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
