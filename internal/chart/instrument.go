package chart

import "strings"

// Functions that instrumented templates call, in addition to Helm's.
const (
	tickFunc = "sysopTick"
	textFunc = "sysopText"
)

// instrument adds a call of tickFunc to the start of every loop and of every named template, and
// passes the text for tpl through textFunc, so that an endless template can be aborted. The output
// of the template and its line numbers stay the same.
func instrument(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		end := actionEnd(rest)
		if end < 0 {
			b.WriteString("{{" + rest)
			return b.String()
		}
		inside, after := rest[:end], rest[end+2:]
		b.WriteString("{{" + wrapTexts(inside) + "}}")
		text = after
		switch keyword(inside) {
		case "define", "block":
			// An empty template must stay empty: it does not replace another one.
			if endsAtOnce(after) {
				continue
			}
		case "range":
		default:
			continue
		}
		if trims(inside) {
			b.WriteString("{{" + tickFunc + ` "" -}}`)
		} else {
			b.WriteString("{{" + tickFunc + ` ""}}`)
		}
	}
}

// actionEnd returns the offset of the }} of an action, or -1.
func actionEnd(s string) int {
	if c := strings.TrimPrefix(s, "- "); strings.HasPrefix(c, "/*") {
		at := strings.Index(s, "*/")
		if at < 0 {
			return -1
		}
		end := strings.Index(s[at:], "}}")
		if end < 0 {
			return -1
		}
		return at + end
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "}}"):
			return i
		case isQuote(s[i]):
			i = quoteEnd(s, i)
		default:
			i++
		}
	}
	return -1
}

func isQuote(c byte) bool { return c == '"' || c == '`' || c == '\'' }

// quoteEnd returns what comes after the quoted text that begins at i.
func quoteEnd(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`':
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return len(s)
}

func keyword(inside string) string {
	s := strings.TrimLeft(strings.TrimPrefix(inside, "-"), " \t\r\n")
	end := strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(s)
	}
	return s[:end]
}

// trims reports whether an action trims the blanks after it.
func trims(inside string) bool {
	n := len(inside)
	return n >= 2 && inside[n-1] == '-' && strings.IndexByte(" \t\r\n", inside[n-2]) >= 0
}

func endsAtOnce(after string) bool {
	for {
		s, ok := strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), "{{")
		if !ok {
			return false
		}
		end := actionEnd(s)
		if end < 0 {
			return false
		}
		if !strings.HasPrefix(strings.TrimPrefix(s, "- "), "/*") {
			return keyword(s[:end]) == "end"
		}
		after = s[end+2:]
	}
}

// wrapTexts passes the text for tpl through textFunc.
func wrapTexts(inside string) string {
	if !strings.Contains(inside, "tpl") || strings.HasPrefix(strings.TrimPrefix(inside, "- "), "/*") {
		return inside
	}
	var b strings.Builder
	for i := 0; i < len(inside); {
		end := i + 1
		switch c := inside[i]; {
		case isQuote(c):
			end = quoteEnd(inside, i)
		case inWord(c):
			for end < len(inside) && inWord(inside[end]) {
				end++
			}
		}
		b.WriteString(inside[i:end])
		if inside[i:end] == "tpl" {
			from := end + len(inside[end:]) - len(strings.TrimLeft(inside[end:], " \t\r\n"))
			to := argumentEnd(inside, from)
			if from > end && to > from {
				b.WriteString(inside[end:from] + "(" + textFunc + " " + wrapTexts(inside[from:to]) + ")")
				end = to
			}
		}
		i = end
	}
	return b.String()
}

// inWord reports whether a byte is part of a name, or of a field or variable: .tpl is not the
// function.
func inWord(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// argumentEnd returns the offset after the argument at i, or i if there is none.
func argumentEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch c := s[i]; {
		case isQuote(c):
			i = quoteEnd(s, i)
			continue
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return i
		case c == ')':
			depth--
		case depth == 0 && (strings.IndexByte(" \t\r\n|,=", c) >= 0 || c == '-'):
			return i
		}
		i++
	}
	return i
}
