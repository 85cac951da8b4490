package metrics

import (
	"fmt"
	"time"
)

// Calendar is a unit of the calendar in UTC.
type Calendar string

// The units. A week begins on Monday.
const (
	Day   Calendar = "day"
	Week  Calendar = "week"
	Month Calendar = "month"
)

// Calendars are all of them.
func Calendars() []Calendar { return []Calendar{Day, Week, Month} }

// Calendar is what a window is divided by for a chart: days of up to two months, weeks of up to a
// year, else months.
func (w Window) Calendar() Calendar {
	const day = 24 * time.Hour
	switch length := w.Length(); {
	case length <= 62*day:
		return Day
	case length <= 366*day:
		return Week
	}
	return Month
}

// begin is when the unit begins that is so many after that of a moment.
func (c Calendar) begin(t time.Time, after int) time.Time {
	year, month, day := t.UTC().Date()
	switch c {
	case Month:
		month, day = month+time.Month(after), 1
	case Week:
		day += 7*after - (int(t.UTC().Weekday())+6)%7
	default:
		day += after
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Name is that of the unit that a moment is in: 2026-11-02, 2026-W45 (ISO 8601), 2026-11.
func (c Calendar) Name(t time.Time) string {
	t = t.UTC()
	switch c {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case Month:
		return t.Format("2006-01")
	}
	return t.Format(time.DateOnly)
}

// Divide divides a window where days, weeks or months begin. Its first and last part may be
// shorter. Each begins with a step of any length, if the window does.
func (w Window) Divide(c Calendar) []Window {
	var all []Window
	for from := w.From.UTC(); from.Before(w.To); {
		to := c.begin(from, 1)
		if to.After(w.To) {
			to = w.To.UTC()
		}
		all = append(all, Window{From: from, To: to})
		from = to
	}
	return all
}
