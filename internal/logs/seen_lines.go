package logs

import "time"

// seenLines knows which lines of a container were emitted, for when its log is opened again. It
// compares times, and counts lines of the same time: a server returns the lines since a whole
// second.
type seenLines struct {
	last time.Time
	same int // number of lines at last
	skip int // how many of these are still to be skipped
	back bool
	own  string // the last line of the server itself
}

// restart records that the log is opened again.
func (p *seenLines) restart() { p.skip, p.back = p.same, !p.last.IsZero() }

// fresh reports whether a line is new.
func (p *seenLines) fresh(l Line) bool {
	switch at := l.Time; {
	case at.IsZero():
		// It is repeated each time the log is opened.
		known := l.Text == p.own
		p.own = l.Text
		return !known
	case p.back && at.Before(p.last):
		return false
	case p.back && at.Equal(p.last) && p.skip > 0:
		p.skip--
		return false
	case at.After(p.last):
		p.last, p.same = at, 1
	case at.Equal(p.last):
		p.same++
	}
	p.back = false
	return true
}
