package luahealth

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (lib *library) rep(l *lua.LState) int {
	text, n := l.CheckString(1), max(l.CheckInt(2), 0)
	if len(text) > 0 && n > lib.limits.Text/len(text) {
		lib.text(l, lib.limits.Text+1)
	}
	lib.text(l, len(text)*n)
	l.Push(lua.LString(strings.Repeat(text, n)))
	return 1
}

func (lib *library) lower(l *lua.LState) int { return lib.mapped(l, strings.ToLower) }

func (lib *library) upper(l *lua.LState) int { return lib.mapped(l, strings.ToUpper) }

func (lib *library) reverse(l *lua.LState) int {
	return lib.mapped(l, func(text string) string {
		all := []byte(text)
		slices.Reverse(all)
		return string(all)
	})
}

func (lib *library) mapped(l *lua.LState, f func(string) string) int {
	text := l.CheckString(1)
	lib.text(l, len(text))
	l.Push(lua.LString(f(text)))
	return 1
}

// search is a pattern that is looked for in a text.
type search struct {
	matcher
	anchored bool
}

func (lib *library) search(l *lua.LState, text, pattern string) *search {
	rest, anchored := strings.CutPrefix(pattern, "^")
	return &search{matcher{lib: lib, l: l, text: text, pattern: rest}, anchored}
}

// next finds the first match from a place on, and returns both of its ends; false for none.
func (s *search) next(from int) (int, int, bool) {
	for ; from <= len(s.text); from++ {
		s.lib.work(s.l, 1)
		if end := s.from(from); end != noMatch {
			return from, end, true
		}
		if s.anchored {
			break
		}
	}
	return 0, 0, false
}

// captured is the value of a capture; of a pattern without any the first is the whole.
func (s *search) captured(n, start, end int) lua.LValue {
	if n >= len(s.captures) {
		if n > 0 {
			s.fail("invalid capture index")
		}
		return lua.LString(s.text[start:end])
	}
	c := s.captures[n]
	switch c.length {
	case unclosed:
		s.fail("unfinished capture")
	case position:
		return lua.LNumber(c.start + 1)
	}
	return lua.LString(s.text[c.start : c.start+c.length])
}

// push pushes the captures of a match, or the whole of it where the pattern has none.
func (s *search) push(start, end int, whole bool) int {
	n := len(s.captures)
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		s.l.Push(s.captured(i, start, end))
	}
	return n
}

// begin is where a search starts: an index from 1 on, or from the end where it is negative.
func begin(l *lua.LState, argument int, text string) int {
	at := l.OptInt(argument, 1)
	switch {
	case at > 0:
		return at - 1
	case at < 0:
		return max(len(text)+at, 0)
	}
	return 0
}

func (lib *library) find(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	from := begin(l, 3, text)
	if from > len(text) {
		l.Push(lua.LNil)
		return 1
	}
	if lua.LVAsBool(l.Get(4)) || !strings.ContainsAny(pattern, "^$*+?.([%-") {
		lib.work(l, (len(text)-from)/64)
		at := strings.Index(text[from:], pattern)
		if at < 0 {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(lua.LNumber(from + at + 1))
		l.Push(lua.LNumber(from + at + len(pattern)))
		return 2
	}
	s := lib.search(l, text, pattern)
	start, end, ok := s.next(from)
	if !ok {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(lua.LNumber(start + 1))
	l.Push(lua.LNumber(end))
	return 2 + s.push(start, end, false)
}

func (lib *library) match(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	s := lib.search(l, text, pattern)
	start, end, ok := s.next(begin(l, 3, text))
	if !ok {
		l.Push(lua.LNil)
		return 1
	}
	return s.push(start, end, true)
}

// gmatch returns an iterator over the matches.
func (lib *library) gmatch(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	lib.allocate(l, tableBytes)
	from := 0
	l.Push(l.NewFunction(func(l *lua.LState) int {
		s := lib.search(l, text, pattern)
		if s.anchored && from > 0 {
			return 0
		}
		start, end, ok := s.next(from)
		if !ok {
			return 0
		}
		if from = end; start == end {
			from++
		}
		return s.push(start, end, true)
	}))
	return 1
}

func (lib *library) gsub(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	l.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	most := l.OptInt(4, len(text)+1)
	s := lib.search(l, text, pattern)
	var b strings.Builder
	at, n := 0, 0
	for n < most && at <= len(text) {
		lib.work(l, 1)
		end := s.from(at)
		if end != noMatch {
			n++
			b.WriteString(s.replacement(l.Get(3), at, end))
			if b.Len() > lib.limits.Text {
				lib.text(l, b.Len())
			}
		}
		switch {
		case end > at:
			at = end
		case at < len(text):
			b.WriteByte(text[at])
			at++
		default:
			at++
		}
		if s.anchored {
			break
		}
	}
	if at < len(text) {
		b.WriteString(text[at:])
	}
	lib.text(l, b.Len())
	l.Push(lua.LString(b.String()))
	l.Push(lua.LNumber(n))
	return 2
}

// replacement is what replaces a match.
func (s *search) replacement(with lua.LValue, start, end int) string {
	var value lua.LValue
	switch with := with.(type) {
	case *lua.LTable:
		value = s.l.GetTable(with, s.captured(0, start, end))
	case *lua.LFunction:
		s.l.Push(with)
		s.l.Call(s.push(start, end, true), 1)
		value = s.l.Get(-1)
		s.l.Pop(1)
	default:
		return s.filled(lua.LVAsString(with), start, end)
	}
	switch {
	case lua.LVIsFalse(value):
		return s.text[start:end]
	case !lua.LVCanConvToString(value):
		s.fail("invalid replacement value (a " + value.Type().String() + ")")
	}
	return lua.LVAsString(value)
}

// filled is a text with the captures in place of %0 to %9.
func (s *search) filled(text string, start, end int) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '%' || i+1 == len(text) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = text[i]; {
		case c == '0':
			b.WriteString(s.text[start:end])
		case isDigit(c):
			b.WriteString(lua.LVAsString(s.captured(int(c-'1'), start, end)))
		default:
			b.WriteByte(c)
		}
		if b.Len() > s.lib.limits.Text {
			s.lib.text(s.l, b.Len())
		}
	}
	return b.String()
}
