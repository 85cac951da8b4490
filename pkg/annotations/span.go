package annotations

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problem is an error at a byte offset of the parsed text.
type problem struct {
	at      int
	message string
}

// span is a part of an annotation's value with its offset there.
type span struct {
	text string
	at   int
}

// from returns the part that starts at byte i; to returns the part before it.
func (s span) from(i int) span { return span{s.text[i:], s.at + i} }
func (s span) to(i int) span   { return span{s.text[:i], s.at} }

func (s span) problem(format string, args ...any) *problem {
	return &problem{s.at, fmt.Sprintf(format, args...)}
}

// trim removes the white space on both ends.
func (s span) trim() span {
	trimmed := strings.TrimLeftFunc(s.text, unicode.IsSpace)
	return span{strings.TrimSpace(trimmed), s.at + len(s.text) - len(trimmed)}
}

// unquote removes one pair of quotes around the whole part, and the white space inside them.
func (s span) unquote() (span, *problem) {
	if s.text == "" || s.text[0] != '"' && s.text[0] != '\'' {
		return s, nil
	}
	last := len(s.text) - 1
	if last == 0 || s.text[last] != s.text[0] {
		return s, s.problem("the quote %c is not closed", s.text[0])
	}
	return s.to(last).from(1).trim(), nil
}

// split cuts the part at each sep outside of brackets, and trims the results. Quoted text inside of
// brackets may contain brackets and separators. Brackets must be balanced.
func (s span) split(sep byte) ([]span, *problem) {
	var parts []span
	var open []int // offsets of the brackets that are not closed yet
	start := 0
	for i := 0; i < len(s.text); i++ {
		switch c := s.text[i]; c {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			if len(open) == 0 || closer(s.text[open[len(open)-1]]) != c {
				return nil, s.from(i).problem("unexpected %c: it closes no open bracket", c)
			}
			open = open[:len(open)-1]
		case '"', '\'':
			if len(open) == 0 {
				continue
			}
			end := strings.IndexByte(s.text[i+1:], c)
			if end < 0 {
				return nil, s.from(i).problem("the quote %c is not closed", c)
			}
			i += end + 1
		case sep:
			if len(open) == 0 {
				parts = append(parts, s.to(i).from(start).trim())
				start = i + 1
			}
		}
	}
	if len(open) > 0 {
		at := open[len(open)-1]
		return nil, s.from(at).problem("the %c is not closed: a %c is missing", s.text[at], closer(s.text[at]))
	}
	return append(parts, s.from(start).trim()), nil
}

func closer(c byte) byte {
	return map[byte]byte{'(': ')', '[': ']', '{': '}'}[c]
}

// firstRune quotes the first character of s, for a message.
func firstRune(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	return strconv.Quote(string(r))
}
