package luahealth

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// Every hostile script ends at a limit that is told, and takes little.
func TestHostile(t *testing.T) {
	const (
		instructions = "instructions"
		memory       = "MiB of memory"
		text         = "a string of more than"
		overflow     = "overflow"
	)
	tests := []struct{ name, script, want string }{
		{"endless loop", `while true do end`, instructions},
		{"endless repeat", `repeat local a = 1 until false`, instructions},
		{"endless goto", `::a:: goto a`, instructions},
		{"endless numbers", `for i = 1, math.huge do end`, instructions},
		{"endless loop under pcall", `while true do pcall(function() while true do end end) end`, instructions},
		{"endless catching", `local function f() while true do pcall(error, "x") end end while true do pcall(f) end`, instructions},
		{"endless xpcall", `xpcall(function() while true do end end, function() while true do end end)`, instructions},
		{"endless pairs", `local t = setmetatable({}, {__index = function(_, k) return k end}) local i = 1 while t[i] do i = i + 1 end`, instructions},
		{"endless gmatch", `for a in string.gmatch(string.rep("x", 1000000), "") do for b in string.gmatch(string.rep("x", 1000), "") do end end`, instructions},
		{"endless comparison", `local t = setmetatable({}, {__lt = function() while true do end end}) return t < t`, instructions},
		{"endless sorting", `local t = {} for i = 1, 5000 do t[i] = i % 7 end table.sort(t, function(a, b) for i = 1, 100 do end return true end)`, instructions},
		{"deep recursion", `local function f() return 1 + f() end f()`, overflow},
		{"tail calls", `local function f() return f() end f()`, instructions},
		{"recursion in pcall", `local function f() pcall(f) while true do end end f()`, instructions},
		{"recursion in a metamethod", `local t = {} setmetatable(t, {__index = function(t, k) return t[k] end}) return t.x`, overflow},
		{"recursion in tostring", `local t = {} setmetatable(t, {__tostring = function(t) return tostring(t) end}) return tostring(t)`, overflow},
		{"recursion in gsub", `local function f(s) return (s:gsub(".", f)) end f("x")`, overflow},
		{"a chain of metatables", `local t = {} setmetatable(t, {__index = t, __newindex = t}) t[5] = 1`, "too many recursions"},
		{"coroutines", `local function f() coroutine.wrap(f)() end f()`, "attempt to index a non-table object(nil)"},
		{"rep", `return string.rep("x", 1e9)`, text},
		{"rep of rep", `local s = "x" while true do s = string.rep(s, 2) end`, text},
		{"rep by a huge count", `return string.rep("xx", 2^62)`, text},
		{"many reps", `local t = {} for i = 1, 1e6 do t[i] = string.rep("x", 1000000) end`, memory},
		{"doubling", `local s = "x" while true do s = s .. s end`, text},
		{"doubling a chain", `local s = "xxxxxxxx" while true do s = s .. s .. s .. s .. s .. s end`, text},
		{"doubling by a metamethod", `local m = {} m.__concat = function() return "x" end local s = "x" while true do s = s .. s .. setmetatable({}, m) .. s end`, text},
		{"growing by one", `local s = "" while true do s = s .. "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" end`, memory},
		{"concat", `local t = {} for i = 1, 1000 do t[i] = string.rep("x", 5000) end return table.concat(t)`, text},
		{"concat with a separator", `local t = {} for i = 1, 9000 do t[i] = "" end return table.concat(t, string.rep("x", 1000))`, text},
		{"format width", `return string.format("%99999999d", 1)`, "invalid option in the format %99999999d"},
		{"format precision", `return string.format("%.99999999f", 1)`, "invalid option in the format"},
		{"format flags", `return string.format("%--------------------d", 1)`, "invalid option in the format"},
		{"format of a long text", `local s = string.rep("x", 1000000) return string.format("%s%s%s", s, s, s)`, text},
		{"format of many", `local t = {} for i = 1, 1e6 do t[i] = string.format("%99d", 1) end`, instructions},
		{"quoting", `return string.format("%q", string.rep("\0", 1000000))`, text},
		{"gsub that grows", `local s = string.rep("x", 100000) return s:gsub("x", s)`, text},
		{"gsub by captures", `local s = string.rep("x", 1000) return s:gsub("(.*)", string.rep("%1", 100000))`, text},
		{"upper", `local t, s = {}, string.rep("x", 1000000) while true do t[#t + 1] = s:upper() end`, memory},
		{"a far index", `local t = {} t[60000000] = 1`, memory},
		{"far indices", `local k = {} for i = 1, 1e6 do local t = {} t[60000] = 1 k[i] = t end`, memory},
		{"a far index by rawset", `rawset({}, 60000000, 1)`, memory},
		{"a far index by insert", `table.insert({}, 60000000, 1)`, memory},
		{"a far index among several", `local t = {} local a t[60000000], a = 1, 2`, memory},
		{"a far index in a constructor", `local t = {[60000000] = 1} return t`, memory},
		{"many far indices in constructors", `local k = {} for i = 1, 1e6 do k[i] = {[i] = 1, [50000] = 2} end`, memory},
		{"a far index through a metatable", `local m = {} local p = setmetatable({}, m) local k = {} for i = 1, 1e6 do m.__newindex = {} p[50000] = 1 k[i] = m.__newindex end`, memory},
		{"many tables", `local t = {} while true do t = {t} end`, memory},
		{"wide tables", `local t = {} while true do t = {a = t, b = 1, c = 2} end`, memory},
		{"tables of arguments", `local function f(...) return {...} end local t = {} for i = 1, 2000 do t[i] = i end local k = {} while true do k[#k + 1] = f(unpack(t)) end`, memory},
		{"tables of arguments by their old name", `local function f(...) return arg end local t = {} for i = 1, 2000 do t[i] = i end local k = {} while true do k[#k + 1] = f(unpack(t)) end`, instructions},
		{"unpack", `return unpack({}, 1, 1e9)`, overflow},
		{"unpack backwards", `return unpack({}, -1e9, 1)`, overflow},
		{"select of many", `local t = {} for i = 1, 5000 do t[i] = i end return select("#", unpack(t), unpack(t))`, "it returns a number"},
		{"many items", `local t = {} local i = 0 while true do i = i + 1 t[i] = i end`, instructions},
		{"many fields", `local t = {} local i = 0 while true do i = i + 1 t["x" .. i] = i end`, instructions},
		{"many functions", `local t = {} local i = 0 while true do i = i + 1 t[i] = function() return i end end`, instructions},
		{"errors that are long", `local s, t = string.rep("x", 1000000), {} while true do local _, e = pcall(error, s, 0) t[#t + 1] = e .. "" end`, memory},
		{"errors with a long key", `local s, t = string.rep("x", 1000000), {} while true do local _, e = pcall(function() return obj.nothing[s] end) t[#t + 1] = e end`, memory},
		{"matching that blows up", `return string.find(string.rep("a", 5000), ".-.-.-.-.-.-.-b")`, instructions},
		{"matching by captures", `return string.match(string.rep("a", 3000), "(.*)(.*)(.*)(.*)(.*)x")`, instructions},
		{"matching by sets", `return string.find(string.rep("a", 30000), string.rep("[^b]*", 10) .. "b")`, instructions},
		{"matching balanced", `return string.find(string.rep("(", 100000), "%b()")`, instructions},
		{"a deep pattern", `return string.find("x", string.rep("(", 500000))`, "too many captures"},
		{"a complex pattern", `return string.find(string.rep("x", 300), string.rep("x?", 300) .. "y")`, "too complex"},
		{"a long pattern", `return string.find(string.rep("x", 300), string.rep("x-", 300) .. "y")`, "too complex"},
		{"a long comparison", `local t = {} for i = 1, 5000 do t[i] = string.rep("x", 5000) end table.sort(t)`, instructions},
		{"string metatable", `getmetatable("").__index = function() while true do end end return ("x").y`, instructions},
		{"a metatable of all", `setmetatable(_G, {__index = function() while true do end end, __newindex = function() while true do end end}) return nothing`, instructions},
		{"a deep table", `local t = {} for i = 1, 1000 do t = {t} end return {status = t}`, "it returns a status that is a table"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := setOf(t, test.script, true)
			s.limits.Time = time.Hour // of a machine that does other things besides
			before := allocated()
			h, ok := s.Assess(objectOf(t, backup))
			if ok {
				t.Fatalf("it gives a health: %+v", h)
			}
			if !strings.Contains(h.Message, test.want) || (h.Message == "") != (test.want == "") {
				t.Errorf("got %q, want it to tell of %q", h.Message, test.want)
			}
			// All that it asked for, kept or not, in the whole run.
			if mib := (allocated() - before) >> 20; mib > 300 {
				t.Errorf("it used %d MiB", mib)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Programs that are hard to read: they are compiled, or refused.
func TestHardToCompile(t *testing.T) {
	long := func(part string) string { return strings.Repeat(part, maxScriptBytes/len(part)*4/9) }
	for name, script := range map[string]string{
		"brackets": "return " + long("(") + "1" + long(")"), "tables": "return " + long("{") + long("}"), "minus": "return " + long("- ") + "1", "not": "return " + long("not ") + "1",
		"joined": "return 'a'" + long(" .. 'a'"), "added": "return 1" + long(" + 1"), "powers": "return 1" + long("^1"), "calls": "return f" + long("()"),
		"indices": "return a" + long("[1]"), "fields": "return a" + long(".b"), "functions": long("function() return "), "blocks": long("do ") + long(" end"),
		"ifs": "if a then " + long("elseif a then ") + " end", "constants": "local t = {" + long("'ab',") + "}", "assignments": long("a=1 "), "returns": "return 1" + long(",1"),
		"locals": long("local a "), "labels": long("::a:: "), "bytes": long("\xff"), "zeros": long("\x00"), "comment": "--[[" + long("["), "string": "return '" + long("\\"), "chunk": "\x1bLua" + long("\x00"),
	} {
		h, ok := setOf(t, script, true).Assess(objectOf(t, backup))
		if ok {
			t.Errorf("%s: it gives a health: %+v", name, h)
		}
		if len(h.Message) > 2*maxMessageLength {
			t.Errorf("%s: a message of %d bytes", name, len(h.Message))
		}
	}
}

func TestTimeLimit(t *testing.T) {
	s := setOf(t, `while true do end`, false)
	s.limits.Instructions, s.limits.Time = 1<<60, 20*time.Millisecond
	h, ok := s.Assess(objectOf(t, backup))
	if ok || !strings.HasSuffix(h.Message, "it takes longer than 20ms") {
		t.Errorf("got %+v, %v", h, ok)
	}
}

// A script that reaches its limits again and again is not asked any more about that kind.
func TestFailureLimit(t *testing.T) {
	s := setOf(t, `if obj.kind == "Backup" then while true do end end return {status = "Healthy"}`, false)
	o := objectOf(t, backup)
	for range s.limits.Failures {
		if h, ok := s.Assess(o); ok || !strings.Contains(h.Message, "more than 500000 instructions") {
			t.Fatalf("got %+v, %v", h, ok)
		}
	}
	if h, ok := s.Assess(o); ok || !strings.HasSuffix(h.Message, "is not evaluated: it reached its limits on 3 objects of this kind") {
		t.Errorf("got %+v, %v", h, ok)
	}
	if h, ok := s.Assess(objectOf(t, strings.Replace(backup, "kind: Backup", "kind: Restore", 1))); !ok || h.Status != health.Healthy {
		t.Errorf("another kind: got %+v, %v", h, ok)
	}
}

func TestTotalLimit(t *testing.T) {
	s := setOf(t, `return {status = "Healthy"}`, false)
	s.limits.Total = 1
	o := objectOf(t, backup)
	if h, ok := s.Assess(o); !ok {
		t.Fatalf("got %+v", h)
	}
	if h, ok := s.Assess(o); ok || !strings.HasSuffix(h.Message, "the scripts of this run have used up their 1ns") {
		t.Errorf("got %+v, %v", h, ok)
	}
	s.budget.since = s.budget.since.Add(-time.Hour) // a watch goes on
	if h, ok := s.Assess(o); !ok {
		t.Errorf("after the window: got %+v", h)
	}
}

func BenchmarkAssess(b *testing.B) {
	s := setOf(b, `local hs = {status = "Progressing", message = "waiting"}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, c in ipairs(obj.status.conditions) do
    if c.type == "Ready" and c.status == "True" then hs.status = "Healthy" hs.message = c.message end
  end
end
return hs`, true)
	o := objectOf(b, backup)
	for b.Loop() {
		if _, ok := s.Assess(o); !ok {
			b.Fatal("no health")
		}
		s.budget = budget{}
	}
}
