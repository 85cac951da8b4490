package health

import (
	"strings"
	"time"
)

// deletion: an object that is being deleted is Progressing, whatever else its status says.
func (j *Evaluator) deletion(s *subject) (Health, bool) {
	at := s.Meta.GetDeletionTimestamp()
	if at == nil {
		return Health{}, false
	}
	message := "it is being deleted"
	if finalizers := s.Meta.GetFinalizers(); len(finalizers) > 0 {
		message += ", and waits for " + strings.Join(finalizers, ", ")
	}
	// The timestamp is the end of the grace period.
	since := at.Time
	if grace := s.Meta.GetDeletionGracePeriodSeconds(); grace != nil {
		since = since.Add(-time.Duration(*grace) * time.Second)
	}
	return Health{Status: Progressing, Reason: Deleting, Message: message, Since: since}, true
}
