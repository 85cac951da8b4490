package health

import (
	"fmt"
	"time"
)

// DeadlineExceeded is the reason of an object that did not finish by the deadline in its spec.
const DeadlineExceeded = "DeadlineExceeded"

// overdue returns Degraded for a custom resource that is Progressing, by general rules, after a
// deadline in its own spec. The status must have the start, since the creation says nothing about
// an update. Otherwise the latest time in the status counts.
func (s *subject) overdue(h Health) Health {
	if h.Status != Progressing || s.status == nil || h.Stage != "conditions" && h.Stage != "words" {
		return h
	}
	started := firstTime(s.status, "startTime", "startedAt", "startTimestamp", "started", "startDate")
	if h.Since.IsZero() {
		h.Since = started
	}
	field, limit, from := s.deadline(h.Since, started)
	if field == "" || from.IsZero() || s.now.Sub(from) <= limit {
		return h
	}
	h.Status, h.Reason = Degraded, DeadlineExceeded
	h.Message = fmt.Sprintf("it did not complete within the %s of its spec.%s: %s", limit, field, h.Message)
	return h
}

// deadline returns the field of the spec with a deadline, its length, and from when it counts: a
// progress deadline from the last progress, that of a run from its start. A timeout is one of the
// whole only for a kind that ends; otherwise it limits single requests.
func (s *subject) deadline(since, started time.Time) (field string, limit time.Duration, from time.Time) {
	spec := s.spec()
	if limit, ok := duration(spec["progressDeadlineSeconds"]); ok {
		return "progressDeadlineSeconds", limit, since
	}
	if limit, ok := duration(spec["activeDeadlineSeconds"]); ok {
		return "activeDeadlineSeconds", limit, started
	}
	if limit, ok := duration(mapAt(spec, "runPolicy")["activeDeadlineSeconds"]); ok {
		return "runPolicy.activeDeadlineSeconds", limit, started
	}
	if !s.ends() {
		return "", 0, time.Time{}
	}
	for _, key := range [...]string{"timeout", "timeoutSeconds"} {
		if limit, ok := duration(spec[key]); ok {
			return key, limit, started
		}
	}
	return "", 0, time.Time{}
}

// duration parses seconds, or 1h30m; false for zero, which often means no limit.
func duration(v any) (time.Duration, bool) {
	if n, ok := number(v); ok && n > 0 && n <= int64(maxDeadline/time.Second) {
		return time.Duration(n) * time.Second, true
	}
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// maxDeadline is the limit of plausible deadlines.
const maxDeadline = 10 * 365 * 24 * time.Hour
