package chart

import "strings"

// The functions that instrumented templates call besides those of Helm.
const (
	tickFunc = "sysopTick"
	textFunc = "sysopText"
)

// instrument adds a call of tickFunc to the begin of every loop and of every named template,
// and has the text that tpl is given pass through textFunc, so that a template that never
// ends can be ended. What the template writes stays the same, and so do its lines.
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
			// An empty template must stay empty: it does not take the place of another.
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

// actionEnd returns where the }} of an action is; -1 for nowhere.
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

// trims says that an action takes away the blanks after it.
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

// wrapTexts has what tpl is given first pass through textFunc.
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

// inWord says that a byte is of a name, or of a field or variable: .tpl is none of ours.
func inWord(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// argumentEnd returns what comes after the argument that begins at i; i if there is none.
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
