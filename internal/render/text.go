package render

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// width is how many columns of a terminal clean text takes.
func width(s string) int { return displaywidth.String(s) }

// cut shortens text to so many columns where a column of the kind may be cut.
func cut(s string, how view.Cut, most int) string {
	if how == view.Whole || width(s) <= most {
		return s
	}
	if how == view.End {
		return displaywidth.TruncateString(s, most, "…")
	}
	return cutMiddle(s, most)
}

// cutMiddle leaves head and tail, and of the tail more: that of a pod's name
// tells it from its siblings, that of a field path is the field.
func cutMiddle(s string, most int) string {
	total := width(s)
	if total <= most {
		return s
	}
	if most < 5 {
		return displaywidth.TruncateString(s, most, "…")
	}
	tail := (most - 1) * 3 / 5
	at := 0
	for g := displaywidth.StringGraphemes(s); total > tail && g.Next(); {
		total -= g.Width()
		at += len(g.Value())
	}
	return displaywidth.TruncateString(s[:at]+"…", most-total, "…") + s[at:]
}

// wrap breaks clean text at blanks into lines of so many columns; a word that is longer has
// a line of its own.
func wrap(s string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && width(line)+1+width(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// paint colours text that is not padded yet: blanks behind a colour code could
// not be trimmed.
func paint(s string, t view.Tone, o Options) string {
	code := ""
	switch t {
	case view.Faint:
		code = "2"
	case view.Good:
		code = "32"
	case view.Warn:
		code = "33"
	case view.Bad:
		code = "31"
	}
	if !o.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// liner writes a line of cells without blanks at its end.
type liner struct {
	b    strings.Builder
	owed int
}

func (l *liner) text(plain string, t view.Tone, o Options) {
	if plain == "" {
		return
	}
	l.b.WriteString(strings.Repeat(" ", l.owed))
	l.owed = 0
	l.b.WriteString(paint(plain, t, o))
}

func (l *liner) blank(n int) { l.owed += max(0, n) }

func (l *liner) end() string {
	s := strings.TrimRight(l.b.String(), " ")
	l.b.Reset()
	l.owed = 0
	return s + "\n"
}
