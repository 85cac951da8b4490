package source

import "time"

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
