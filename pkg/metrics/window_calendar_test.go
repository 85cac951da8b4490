package metrics

import (
	"strings"
	"testing"
	"time"
)

// TestDivideByCalendar divides windows in UTC: the parts follow each other, and the first and last
// may be short.
func TestDivideByCalendar(t *testing.T) {
	at := func(text string) time.Time {
		got, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		from, to string
		by       Calendar
		want     string
		count    int
	}{
		{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", Day, "2026-10-01 2026-10-31", 31},
		{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", Week, "2026-W40 2026-W44", 5},
		{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", Month, "2026-10 2026-10", 1},
		{"2026-12-30T12:00:00Z", "2027-01-04T01:00:00Z", Week, "2026-W53 2027-W01", 2},
		{"2026-12-31T23:59:00Z", "2027-02-01T00:01:00Z", Month, "2026-12 2027-02", 3},
		{"2026-11-02T01:00:00+02:00", "2026-11-02T02:00:00+02:00", Day, "2026-11-01 2026-11-01", 1}, // UTC
	} {
		w := Window{From: at(c.from), To: at(c.to)}
		parts := w.Divide(c.by)
		end := w.From
		var names []string
		for _, p := range parts {
			if !p.From.Equal(end) || !p.From.Before(p.To) {
				t.Errorf("%s by %s: a part is %s after %s", w, c.by, p, end)
			}
			end, names = p.To, append(names, c.by.Name(p.From))
		}
		if got := names[0] + " " + names[len(names)-1]; got != c.want || len(parts) != c.count || !end.Equal(w.To) {
			t.Errorf("%s by %s: %d parts, %s, want %d, %s", w, c.by, len(parts), strings.Join(names, " "), c.count, c.want)
		}
	}
}
