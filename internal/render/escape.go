package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text of a cluster safe to print on a terminal.
func Escape(s string) string { return clean(s) }

// clean makes text from a cluster safe to print on a line: control characters
// (an escape sequence among them), characters that reorder or hide text, and
// broken UTF-8 become visible escapes as Go and JSON write them. What is clean
// stays as it is, so that cleaning twice does no harm.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafe(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isClean(s string) bool {
	ascii := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf {
			ascii = false
		} else if c < ' ' || c == 0x7f {
			return false
		}
	}
	return ascii || utf8.ValidString(s) && !strings.ContainsFunc(s, unsafe)
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// unsafe tells what a terminal obeys or does not show: control (Cc), format (Cf:
// bidi, zero width, tags), line and paragraph separators, private use, and what
// Unicode says to ignore (fillers, variation selectors: text can be hidden in
// those, and terminals disagree about their width).
func unsafe(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
