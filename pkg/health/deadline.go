package health

import (
	"fmt"
	"time"
)

// DeadlineExceeded is the reason of what was to be done by a time that its spec says, and is not.
const DeadlineExceeded = "DeadlineExceeded"

// overdue says Degraded of a custom resource that is on its way, by what general rules read, where a
// deadline has passed that its own spec sets. When it began its status has to say: that it was made
// long ago tells nothing of an update. What does not say when it began has the time its status
// names.
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

// deadline returns the field of the spec that says how long it may take, how long that is, and from
// when it counts: a deadline of progress from the last progress, one of a run from its start. A
// timeout is one of the whole only for what is to end; of other things it is one of their requests.
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

// duration reads a time that is written as seconds, or as 1h30m; there is none where it is zero, as
// that often says that there is no limit.
func duration(v any) (time.Duration, bool) {
	if n, ok := number(v); ok && n > 0 && n <= int64(maxDeadline/time.Second) {
		return time.Duration(n) * time.Second, true
	}
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// maxDeadline is what no deadline is longer than that somebody means.
const maxDeadline = 10 * 365 * 24 * time.Hour
