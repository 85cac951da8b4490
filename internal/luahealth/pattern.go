package luahealth

import lua "github.com/yuin/gopher-lua"

// A pattern of Lua (section 5.4.1 of its reference manual) is matched by trying; what that
// takes grows with a power of the length of the text, whose exponent the author of the
// pattern chooses. So each step is counted as an instruction is.

const (
	maxCaptures   = 32  // as in Lua
	maxMatchDepth = 200 // as in Lua
)

// noMatch is the end of no match.
const noMatch = -1

// Lengths of captures that are not texts.
const (
	unclosed = -1
	position = -2
)

type capture struct{ start, length int }

// matcher matches a pattern against a text, from one place on.
type matcher struct {
	lib      *library
	l        *lua.LState
	text     string
	pattern  string
	captures []capture
	depth    int
}

func (m *matcher) fail(message string) { m.l.RaiseError("%s", message) }

// from matches the pattern, without its ^, at a place of the text, and returns the end of
// the match.
func (m *matcher) from(s int) int {
	m.captures, m.depth = m.captures[:0], 0
	return m.match(s, 0)
}

// match matches what is left of the pattern at a place of the text.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		m.fail("the pattern is too complex")
	}
	defer func() { m.depth-- }()
	for p < len(m.pattern) {
		m.lib.work(m.l, 1)
		switch {
		case m.pattern[p] == '(':
			if p+1 < len(m.pattern) && m.pattern[p+1] == ')' {
				return m.open(s, p+2, position)
			}
			return m.open(s, p+1, unclosed)
		case m.pattern[p] == ')':
			return m.shut(s, p+1)
		case m.pattern[p] == '$' && p+1 == len(m.pattern):
			if s == len(m.text) {
				return s
			}
			return noMatch
		}
		var done bool
		if s, p, done = m.item(s, p); done {
			return s
		}
	}
	return s
}

// item matches one item of the pattern. It returns the place of the next item, or the end of the
// match when it is done.
func (m *matcher) item(s, p int) (int, int, bool) {
	if m.pattern[p] == '%' && p+1 < len(m.pattern) {
		switch c := m.pattern[p+1]; {
		case c == 'b':
			s = m.balanced(s, p+2)
			return s, p + 4, s == noMatch
		case c == 'f':
			return m.frontier(s, p+2)
		case '0' <= c && c <= '9':
			s = m.matchCapture(s, c)
			return s, p + 2, s == noMatch
		}
	}
	end := m.classEnd(p)
	suffix := byte(0)
	if end < len(m.pattern) {
		suffix = m.pattern[end]
	}
	switch suffix {
	case '?':
		if m.single(s, p, end) {
			if r := m.match(s+1, end+1); r != noMatch {
				return r, 0, true
			}
		}
		return s, end + 1, false
	case '*':
		return m.matchMax(s, p, end), 0, true
	case '+':
		if !m.single(s, p, end) {
			return noMatch, 0, true
		}
		return m.matchMax(s+1, p, end), 0, true
	case '-':
		return m.shortest(s, p, end), 0, true
	}
	if !m.single(s, p, end) {
		return noMatch, 0, true
	}
	return s + 1, end, false
}

func (m *matcher) matchMax(s, p, end int) int {
	n := 0
	for m.single(s+n, p, end) {
		m.lib.work(m.l, 1)
		n++
	}
	for ; n >= 0; n-- {
		if r := m.match(s+n, end+1); r != noMatch {
			return r
		}
	}
	return noMatch
}

func (m *matcher) shortest(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r != noMatch {
			return r
		}
		if !m.single(s, p, end) {
			return noMatch
		}
		s++
	}
}

func (m *matcher) open(s, p, length int) int {
	if len(m.captures) == maxCaptures {
		m.fail("too many captures")
	}
	n := len(m.captures)
	m.captures = append(m.captures, capture{s, length})
	r := m.match(s, p)
	if r == noMatch {
		m.captures = m.captures[:n]
	}
	return r
}

func (m *matcher) shut(s, p int) int {
	n := len(m.captures) - 1
	for n >= 0 && m.captures[n].length != unclosed {
		n--
	}
	if n < 0 {
		m.fail("invalid pattern capture")
	}
	m.captures[n].length = s - m.captures[n].start
	r := m.match(s, p)
	if r == noMatch {
		m.captures[n].length = unclosed
	}
	return r
}

// matchCapture matches what a capture has matched.
func (m *matcher) matchCapture(s int, digit byte) int {
	n := int(digit) - '1'
	if n < 0 || n >= len(m.captures) || m.captures[n].length < 0 {
		m.fail("invalid capture index")
	}
	c := m.captures[n]
	m.lib.work(m.l, c.length/64)
	if end := s + c.length; end <= len(m.text) && m.text[s:end] == m.text[c.start:c.start+c.length] {
		return end
	}
	return noMatch
}

// balanced matches %bxy.
func (m *matcher) balanced(s, p int) int {
	if p+1 >= len(m.pattern) {
		m.fail("unbalanced pattern")
	}
	if s >= len(m.text) || m.text[s] != m.pattern[p] {
		return noMatch
	}
	open := 1
	for s++; s < len(m.text); s++ {
		m.lib.work(m.l, 1)
		switch m.text[s] {
		case m.pattern[p+1]:
			if open--; open == 0 {
				return s + 1
			}
		case m.pattern[p]:
			open++
		}
	}
	return noMatch
}

// frontier matches %f[set]: the place before a character of the set, after one that is not.
func (m *matcher) frontier(s, p int) (int, int, bool) {
	if p >= len(m.pattern) || m.pattern[p] != '[' {
		m.fail("missing '[' after '%f' in pattern")
	}
	end := m.classEnd(p)
	var before, after byte
	if s > 0 {
		before = m.text[s-1]
	}
	if s < len(m.text) {
		after = m.text[s]
	}
	if m.inSet(before, p, end-1) || !m.inSet(after, p, end-1) {
		return noMatch, 0, true
	}
	return s, end, false
}

// classEnd is the place behind the class of characters that begins at one.
func (m *matcher) classEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pattern) {
			m.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pattern) && m.pattern[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pattern) || m.pattern[p] != ']'; first = false {
			if p >= len(m.pattern) {
				m.fail("malformed pattern (missing ']')")
			}
			if m.pattern[p] == '%' {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

// single says whether the character at a place of the text is of a class.
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.text) {
		return false
	}
	c := m.text[s]
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.pattern[p] == c
}

// inSet says whether a character is in the set from p to the bracket at last.
func (m *matcher) inSet(c byte, p, last int) bool {
	in := true
	p++
	if m.pattern[p] == '^' {
		in = false
		p++
	}
	for ; p < last; p++ {
		m.lib.work(m.l, 1)
		switch {
		case m.pattern[p] == '%':
			p++
			if inClass(c, m.pattern[p]) {
				return in
			}
		case p+2 < last && m.pattern[p+1] == '-':
			if m.pattern[p] <= c && c <= m.pattern[p+2] {
				return in
			}
			p += 2
		case m.pattern[p] == c:
			return in
		}
	}
	return !in
}

// inClass says whether a character is of the class of a letter after %, whose capital is all
// other characters; every other character matches itself.
func inClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isLetter(c)
	case 'c':
		in = c < ' ' || c == 0x7f
	case 'd':
		in = isDigit(c)
	case 'l':
		in = 'a' <= c && c <= 'z'
	case 'p':
		in = '!' <= c && c <= '~' && !isLetter(c) && !isDigit(c)
	case 's':
		in = c == ' ' || '\t' <= c && c <= '\r'
	case 'u':
		in = 'A' <= c && c <= 'Z'
	case 'w':
		in = isLetter(c) || isDigit(c)
	case 'x':
		in = isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	return in == (class&0x20 != 0)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
