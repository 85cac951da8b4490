package render

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// Escape makes text of a cluster safe to print on a terminal.
func Escape(s string) string { return clean(s) }

// clean makes text from a cluster safe to print: control characters (an escape
// sequence among them) and characters that reorder or hide text become visible
// escapes.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !unsafe(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(escape(r))
	}
	return b.String()
}

func escape(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	if r < 0x100 {
		return `\x` + string(hex[r>>4]) + string(hex[r&15])
	}
	return `\u` + string(hex[r>>12&15]) + string(hex[r>>8&15]) + string(hex[r>>4&15]) + string(hex[r&15])
}

// unsafe tells control (Cc), format (Cf: bidi, zero width), line and paragraph
// separators, private use and broken encoding.
func unsafe(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r == unicode.ReplacementChar
}

func width(s string) int { return displaywidth.String(s) }

// cutMiddle shortens text to so many columns, leaving head and tail: the tail of
// a pod's name tells it from its siblings.
func cutMiddle(s string, max int) string {
	if width(s) <= max {
		return s
	}
	if max < 5 {
		return displaywidth.TruncateString(s, max, "…")
	}
	tail := (max - 1) / 2
	runes := []rune(s)
	i := len(runes)
	for i > 0 && width(string(runes[i-1:])) <= tail {
		i--
	}
	return displaywidth.TruncateString(s, max-width(string(runes[i:])), "…") + string(runes[i:])
}

func cutEnd(s string, max int) string {
	if width(s) <= max {
		return s
	}
	return displaywidth.TruncateString(s, max, "…")
}

func pad(s string, to int, right bool) string {
	space := strings.Repeat(" ", max(0, to-width(s)))
	if right {
		return space + s
	}
	return s + space
}

// paint colours text that is already padded: escape codes have no width.
func paint(s string, t view.Tone, o Options) string {
	code := map[view.Tone]string{view.Faint: "2", view.Good: "32", view.Warn: "33", view.Bad: "31"}[t]
	if !o.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
