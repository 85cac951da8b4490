package luahealth

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// library is what a script can call. Functions of the virtual machine's own library are
// there only where what they do is bounded by the size of what they are given; those that
// make texts or search in them are of our own, and count.
type library struct{ *meter }

// baseNames are the functions of the library that are taken as they are.
func baseNames() []string {
	return []string{"assert", "error", "getmetatable", "ipairs", "next", "pairs", "rawequal", "rawget", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "_G", "_VERSION"}
}

// load gives a virtual machine its library, as Argo CD does: the functions of Lua itself
// and table to every script, string and math to those with useOpenLibs. There is no io, os,
// package, debug, coroutine and channel, and nothing that loads code.
func (lib *library) load(l *lua.LState, open bool) {
	opened(l, lua.OpenBase)
	globals := l.G.Global
	keep(globals, baseNames()...)
	lib.define(l, globals, map[string]lua.LGFunction{"pcall": lib.pcall, "xpcall": lib.xpcall, "rawset": lib.rawset, "print": func(*lua.LState) int { return 0 }})
	table := opened(l, lua.OpenTable)
	keep(table, "getn", "maxn", "remove")
	lib.define(l, table, map[string]lua.LGFunction{"concat": lib.concat, "insert": lib.insert, "sort": lib.sort})
	globals.RawSetString("table", table)
	if !open {
		return
	}
	text := opened(l, lua.OpenString)
	keep(text, "byte", "char", "len", "sub", "__index")
	lib.define(l, text, map[string]lua.LGFunction{
		"find": lib.find, "format": lib.format, "gfind": lib.gmatch, "gmatch": lib.gmatch, "gsub": lib.gsub, "lower": lib.lower,
		"match": lib.match, "rep": lib.rep, "reverse": lib.reverse, "upper": lib.upper,
	})
	globals.RawSetString("string", text)
	numbers := opened(l, lua.OpenMath)
	// Chance would give an object another health each time.
	numbers.RawSetString("random", lua.LNil)
	numbers.RawSetString("randomseed", lua.LNil)
	globals.RawSetString("math", numbers)
}

// opened opens a library of the virtual machine, and returns its table.
func opened(l *lua.LState, open lua.LGFunction) *lua.LTable {
	l.Push(l.NewFunction(open))
	l.Push(lua.LString(""))
	l.Call(1, 1)
	t, _ := l.Get(-1).(*lua.LTable)
	l.Pop(1)
	return t
}

// keep takes all but some functions out of a library.
func keep(t *lua.LTable, names ...string) {
	functions := map[string]lua.LValue{}
	for _, name := range names {
		functions[name] = t.RawGetString(name)
	}
	var all []string
	t.ForEach(func(name, _ lua.LValue) { all = append(all, name.String()) })
	for _, name := range all {
		if functions[name] == nil {
			t.RawSetString(name, lua.LNil)
		}
	}
}

func (lib *library) define(l *lua.LState, t *lua.LTable, functions map[string]lua.LGFunction) {
	for name, f := range functions {
		t.RawSetString(name, l.NewFunction(f))
	}
}

// pcall counts the text of an error that was caught.
func (lib *library) pcall(l *lua.LState) int {
	l.CheckAny(1)
	if err := l.PCall(l.GetTop()-1, lua.MultRet, nil); err != nil {
		l.SetTop(0)
		l.Push(lua.LFalse)
		l.Push(lib.caught(l, err))
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// xpcall hands an error that was caught to a function, which finds the stack unwound.
func (lib *library) xpcall(l *lua.LState) int {
	f, handler := l.CheckFunction(1), l.CheckFunction(2)
	l.SetTop(0)
	l.Push(f)
	if err := l.PCall(0, lua.MultRet, nil); err != nil {
		l.SetTop(0)
		l.Push(lua.LFalse)
		l.Push(handler)
		l.Push(lib.caught(l, err))
		l.Call(1, 1)
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// caught returns the value of an error. That the virtual machine writes down its stack for
// each is what it counts for.
func (lib *library) caught(l *lua.LState, err error) lua.LValue {
	const steps = 200
	lib.work(l, steps)
	apiErr, ok := err.(*lua.ApiError) //nolint:errorlint // PCall returns it as it is.
	if !ok {
		return lua.LString(oneLine(err.Error()))
	}
	if text, isText := apiErr.Object.(lua.LString); isText {
		lib.allocate(l, len(text))
	}
	return apiErr.Object
}

func (lib *library) rawset(l *lua.LState) int {
	lib.put(l, l.CheckTable(1), l.CheckAny(2), l.CheckAny(3))
	l.SetTop(1)
	return 1
}

// insert is table.insert.
func (lib *library) insert(l *lua.LState) int {
	t := l.CheckTable(1)
	if l.GetTop() == 2 {
		lib.allocate(l, itemBytes)
		t.Append(l.Get(2))
		return 0
	}
	index, value := l.CheckInt(2), l.CheckAny(3)
	if length := t.Len(); index < 1 || index > length {
		lib.put(l, t, lua.LNumber(index), value)
		return 0
	}
	lib.allocate(l, itemBytes)
	t.Insert(index, value)
	return 0
}

// concat is table.concat.
func (lib *library) concat(l *lua.LState) int {
	t, separator := l.CheckTable(1), l.OptString(2, "")
	first := max(l.OptInt(3, 1), 1)
	last := min(l.OptInt(4, t.Len()), t.Len())
	length := 0
	for i := first; i <= last; i++ {
		lib.work(l, 1)
		value := t.RawGetInt(i)
		if !lua.LVCanConvToString(value) {
			l.RaiseError("invalid value (%s) at index %d in table for concat", value.Type().String(), i)
		}
		length += len(lua.LVAsString(value))
		if i < last {
			length += len(separator)
		}
		if length > lib.limits.Text {
			break
		}
	}
	lib.text(l, length)
	var b strings.Builder
	for i := first; i <= last; i++ {
		b.WriteString(lua.LVAsString(t.RawGetInt(i)))
		if i < last {
			b.WriteString(separator)
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// sort is table.sort.
func (lib *library) sort(l *lua.LState) int {
	t := l.CheckTable(1)
	s := &sorter{lib: lib, l: l}
	if l.GetTop() > 1 {
		s.less = l.CheckFunction(2)
	}
	length := t.Len()
	lib.allocate(l, slotBytes*length)
	for i := 1; i <= length; i++ {
		s.values = append(s.values, t.RawGetInt(i))
	}
	sort.Sort(s)
	for i, value := range s.values {
		t.RawSetInt(i+1, value)
	}
	return 0
}

// sorter sorts by a function of the script, or by the order of numbers and texts.
type sorter struct {
	lib    *library
	l      *lua.LState
	less   *lua.LFunction
	values []lua.LValue
}

func (s *sorter) Len() int { return len(s.values) }

func (s *sorter) Swap(i, j int) { s.values[i], s.values[j] = s.values[j], s.values[i] }

func (s *sorter) Less(i, j int) bool {
	const perStep = 64
	a, b := s.values[i], s.values[j]
	steps := 1
	if text, isText := a.(lua.LString); isText {
		steps += len(text) / perStep
	}
	s.lib.work(s.l, steps)
	if s.less == nil {
		return s.l.LessThan(a, b)
	}
	s.l.Push(s.less)
	s.l.Push(a)
	s.l.Push(b)
	s.l.Call(2, 1)
	less := lua.LVAsBool(s.l.Get(-1))
	s.l.Pop(1)
	return less
}
