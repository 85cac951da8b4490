package logs

import "time"

// seenLines knows which lines of a container were handed on already, for when its log is
// opened again. Times tell, and of lines of one time their number: a server is asked for
// the lines since a second.
type seenLines struct {
	last time.Time
	same int // lines at last
	skip int // of these, still to be left out
	back bool
	own  string // the last line that the server put in by itself
}

// restart says that the log is opened again.
func (p *seenLines) restart() { p.skip, p.back = p.same, !p.last.IsZero() }

// fresh says whether a line is new.
func (p *seenLines) fresh(l Line) bool {
	switch at := l.Time; {
	case at.IsZero():
		// It would come again each time that the log is opened.
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
