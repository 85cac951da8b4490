package metrics

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Window is a span of time, half-open: (From, To]. What a sample at From says is of
// the window before.
type Window struct{ From, To time.Time }

// Length is how long the window is.
func (w Window) Length() time.Duration { return w.To.Sub(w.From) }

func (w Window) String() string {
	return w.From.UTC().Format(time.RFC3339) + "/" + w.To.UTC().Format(time.RFC3339)
}

// windowForms is the hint for who wrote a window wrongly.
const windowForms = "write a duration (90m, 24h, 7d, 2w), today, yesterday, week, lastweek, month, lastmonth, " +
	"or two times with a slash between: dates (2026-11-01/2026-11-15), RFC 3339, unix seconds or now"

// ParseWindow reads a window as a user writes it: 90m, 24h, 7d, 2w (and 1d12h) up to
// now; today, week (from Monday) and month up to now; yesterday, lastweek, lastmonth;
// or a pair FROM/TO of dates, RFC 3339 times, unix seconds or now. Days, weeks and
// months are those of the calendar in UTC, and a date is its midnight: of
// 2026-11-01/2026-11-15 the last day is the 14th. now is cut to milliseconds, which
// is what Prometheus keeps. A window that is empty, turned round or ends in the future
// is an error.
func ParseWindow(text string, now time.Time) (Window, error) {
	now = now.UTC().Truncate(time.Millisecond)
	w, err := parseWindow(strings.TrimSpace(text), now)
	if err != nil {
		return Window{}, fmt.Errorf("window %q: %w", text, err)
	}
	switch {
	case w.From.Unix() < 0 || w.From.After(now):
		return Window{}, fmt.Errorf("window %q: starts at %s, which is before 1970 or in the future", text, w.From.Format(time.RFC3339))
	case w.To.Before(w.From):
		return Window{}, fmt.Errorf("window %q: ends before it starts: write the earlier time first", text)
	case w.To.Equal(w.From):
		return Window{}, fmt.Errorf("window %q: is empty: its end is not part of it (of dates, write the day after the last)", text)
	case w.To.After(now):
		return Window{}, fmt.Errorf("window %q: ends in the future: write now for its end", text)
	}
	return w, nil
}

func parseWindow(text string, now time.Time) (Window, error) {
	switch strings.ToLower(text) {
	case "today":
		return Window{Day.begin(now, 0), now}, nil
	case "yesterday":
		return Window{Day.begin(now, -1), Day.begin(now, 0)}, nil
	case "week":
		return Window{Week.begin(now, 0), now}, nil
	case "lastweek":
		return Window{Week.begin(now, -1), Week.begin(now, 0)}, nil
	case "month":
		return Window{Month.begin(now, 0), now}, nil
	case "lastmonth":
		return Window{Month.begin(now, -1), Month.begin(now, 0)}, nil
	}
	from, to, ok := strings.Cut(text, "/")
	if !ok {
		length, err := model.ParseDuration(text)
		if err != nil {
			return Window{}, fmt.Errorf("is not a window (%w): %s", err, windowForms)
		}
		return Window{now.Add(-time.Duration(length)), now}, nil
	}
	var w Window
	var err error
	if w.From, err = parseMoment(from, now); err != nil {
		return Window{}, err
	}
	w.To, err = parseMoment(to, now)
	return w, err
}

func parseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return now, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Truncate(time.Millisecond), nil
		}
	}
	// Unix seconds; more than these are milliseconds, or a mistake.
	if s, err := strconv.ParseInt(text, 10, 64); err == nil && s >= 0 && s < 1e11 {
		return time.Unix(s, 0).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time: %s", text, windowForms)
}

// Aligned is the window with its ends moved back to those of steps.
func (w Window) Aligned(step time.Duration) Window {
	return Window{From: w.From.UTC().Truncate(step), To: w.To.UTC().Truncate(step)}
}

// Spans divides a window of whole steps into at most so many spans of whole steps, which differ by
// a step at most.
func (w Window) Spans(step time.Duration, most int) []Window {
	steps := int(w.Length() / step)
	n := min(steps, most)
	out := make([]Window, n)
	for i := range out {
		out[i] = Window{From: w.From.Add(time.Duration(i*steps/n) * step), To: w.From.Add(time.Duration((i+1)*steps/n) * step)}
	}
	return out
}

// The steps that a window can have.
const (
	shortStep = time.Minute
	ruleStep  = 5 * time.Minute // also the interval of the recording rules
	longStep  = 15 * time.Minute
	hourStep  = time.Hour
)

// Steps are the steps that a window can have.
func Steps() []time.Duration { return []time.Duration{shortStep, ruleStep, longStep, hourStep} }

// StepFor is the step of a window for which none is chosen.
func StepFor(w Window) time.Duration {
	const day = 24 * time.Hour
	switch length := w.Length(); {
	case length <= 2*day:
		return shortStep
	case length <= 35*day:
		return ruleStep
	case length <= 100*day:
		return longStep
	}
	return hourStep
}

// sampling is the interval at which gauges of pods are sampled within a step.
func sampling(step time.Duration) time.Duration { return max(step/5, time.Minute) }
