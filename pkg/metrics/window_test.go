package metrics

import (
	"strings"
	"testing"
	"time"
)

// windowNow is a Wednesday.
var windowNow = time.Date(2026, 11, 18, 10, 20, 30, 123456789, time.UTC) //nolint:gochecknoglobals // a constant

func TestParseWindow(t *testing.T) {
	now := "2026-11-18T10:20:30.123Z"
	for _, c := range []struct{ text, from, to string }{
		{"90m", "2026-11-18T08:50:30.123Z", now},
		{"24h", "2026-11-17T10:20:30.123Z", now},
		{"7d", "2026-11-11T10:20:30.123Z", now},
		{"2w", "2026-11-04T10:20:30.123Z", now},
		{"1y", "2025-11-18T10:20:30.123Z", now},
		{"1d12h", "2026-11-16T22:20:30.123Z", now},
		{"today", "2026-11-18T00:00:00Z", now},
		{" Yesterday ", "2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z"},
		{"week", "2026-11-16T00:00:00Z", now},
		{"lastweek", "2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"},
		{"month", "2026-11-01T00:00:00Z", now},
		{"lastmonth", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"},
		{"2026-11-01/2026-11-15", "2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"2026-11-01/now", "2026-11-01T00:00:00Z", now},
		{"2026-11-01T02:00:00+02:00/2026-11-02T00:00:00.5Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00.5Z"},
		{"1762000000/1762003600", "2025-11-01T12:26:40Z", "2025-11-01T13:26:40Z"},
	} {
		w, err := ParseWindow(c.text, windowNow)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := w.From.Format(time.RFC3339Nano) + " " + w.To.Format(time.RFC3339Nano); got != c.from+" "+c.to {
			t.Errorf("%q is %s, want %s %s", c.text, got, c.from, c.to)
		}
	}
}

// TestParseWindowCalendar has the days on which a calendar is easily got wrong.
func TestParseWindowCalendar(t *testing.T) {
	for _, c := range []struct{ text, now, from, to string }{
		{"week", "2026-11-15T12:00:00Z", "2026-11-09T00:00:00Z", "2026-11-15T12:00:00Z"}, // a Sunday
		{"lastmonth", "2026-03-31T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"lastmonth", "2026-01-01T00:00:01Z", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"yesterday", "2024-03-01T05:00:00Z", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"today", "2026-11-18T01:00:00+03:00", "2026-11-17T00:00:00Z", "2026-11-17T22:00:00Z"}, // UTC
	} {
		now, _ := time.Parse(time.RFC3339, c.now)
		w, err := ParseWindow(c.text, now)
		if err != nil || w.String() != c.from+"/"+c.to {
			t.Errorf("%q on %s is %s (%v), want %s/%s", c.text, c.now, w, err, c.from, c.to)
		}
	}
}

func TestParseWindowErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "lastmonth",
		"fortnight":                   "lastmonth",
		"-3h":                         "lastmonth",
		"1.5h":                        "lastmonth",
		"0s":                          "empty",
		"9999999999999999999h":        "out of range",
		"106751w106751w":              "lastmonth",
		"2026-11-05/2026-11-05":       "empty",
		"2026-11-05/2026-11-01":       "ends before it starts",
		"2026-11-05/2026-11-30":       "ends in the future",
		"2026-12-01/2026-12-02":       "in the future",
		"2026-13-01/2026-12-02":       "is not a time",
		"2026-11-01/":                 "is not a time",
		"1762000000000/1762003600000": "is not a time",
		"2026-11-01/2026-11-02/now":   "is not a time",
		"200y":                        "1970",
	} {
		_, err := ParseWindow(text, windowNow)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want one with %q", text, err, want)
		}
	}
	if _, err := ParseWindow("today", time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("today at midnight is no error")
	}
}

// TestSpans divides windows whose steps are no multiple of the spans: none is longer than another
// by more than a step, and they follow each other.
func TestSpans(t *testing.T) {
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for steps, want := range map[int]int{1: 1, 7: 7, 24: 24, 47: 24, 100: 24} {
		whole := Window{From: begin, To: begin.Add(time.Duration(steps) * time.Minute)}
		spans := whole.Spans(time.Minute, 24)
		at, shortest, longest := begin, whole.Length(), time.Duration(0)
		for _, s := range spans {
			if !s.From.Equal(at) {
				t.Errorf("%d steps: a span begins at %s, the one before ends at %s", steps, s.From, at)
			}
			at, shortest, longest = s.To, min(shortest, s.Length()), max(longest, s.Length())
		}
		if len(spans) != want || !at.Equal(whole.To) || longest-shortest > time.Minute {
			t.Errorf("%d steps: %d spans of %s to %s, which end at %s", steps, len(spans), shortest, longest, at)
		}
	}
}
