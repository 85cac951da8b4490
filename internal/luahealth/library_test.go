package luahealth

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// What scripts call gives what the virtual machine's own library gives, which Argo CD uses.
func TestLikeGopherLua(t *testing.T) {
	expressions := `string.find("hello world", "o w")
string.find("hello world", "o", 6)
string.find("hello world", "l+")
string.find("hello world", "(l)(l)")
string.find("a.b", ".", 1, true)
string.find("a.b", "%.")
string.find("abc", "b", -2)
string.find("abc", "z")
string.find("abc", "^b")
string.find("abc", "c$")
string.find("a$c", "$c")
string.find("", "")
string.match("key = value", "(%w+)%s*=%s*(%w+)")
string.match("2024-01-02", "(%d+)-(%d+)-(%d+)")
string.match("  trim  ", "^%s*(.-)%s*$")
string.match("x[1]", "%[(%d)%]")
string.match("f(a(b)c)d", "%b()")
string.match("abc", "()b()")
string.match("abcabc", "(abc)%1")
string.match("hello", ".-l")
string.match("hello", "[aeiou]+", 3)
string.match("a-b", "[a%-]+")
string.match("x]y", "[]]")
string.match("foo.bar", "[^.]+")
string.match("7f", "%x+")
string.gsub("hello world", "o", "0")
string.gsub("hello world", "o", "0", 1)
string.gsub("hello", "", "-")
string.gsub("abc", "%w", "%0%0")
string.gsub("abc def", "(%w+) (%w+)", "%2 %1")
string.gsub("$name is $age", "%$(%w+)", {name = "x", age = 3})
string.gsub("abc", ".", function(c) if c == "b" then return "B" end end)
string.gsub("  a  ", "^%s+", "")
string.gsub("abc", "b*", "x")
string.format("%d items", 3)
string.format("%5d|%-5d|%05d", 1, 2, 3)
string.format("%.2f", 3.14159)
string.format("%5.1f", 2.25)
string.format("%s and %s", "a", 3)
string.format("%10s|%-10s|", "a", "b")
string.format("%x %X", 255, 255)
string.format("100%%")
string.rep("ab", 3)
string.rep("ab", 0)
string.rep("ab", -1)
string.upper("abc")
string.lower("ABC")
string.reverse("abc")
string.len("abc")
string.sub("abcdef", 2, 4)
string.sub("abcdef", -2)
string.byte("A")
string.char(72, 105)
("x"):rep(3)
("a,b"):find(",", 1, true)
table.concat({1, 2, 3}, ", ")
table.concat({"a", "b", "c"}, "-", 2)
table.concat({"a", "b", "c"}, "-", 2, 3)
table.concat({})
"a" .. 1 .. 2.5 .. "b"
1 .. 2
("a" .. "b") .. ("c" .. "d")
setmetatable({}, {__concat = function(a, b) return "meta" .. type(a) .. type(b) end}) .. "x"
"x" .. setmetatable({}, {__concat = function(a, b) return a .. "meta" end}) .. "y"
(function(...) return select("#", ...) end)(1, nil, 3)
(function(...) local t = {...} return #t end)(1, 2, 3)
(function(a, ...) return a, ... end)(1, 2, 3)
#{(function() return 1, 2, 3 end)()}
#{((function() return 1, 2, 3 end)())}
(function() local t = {} t[1], t[2] = 2, 1 t[1], t[2] = t[2], t[1] return t[1], t[2] end)()
(function() local t, i = {}, 1 i, t[i] = 2, "x" return i, t[1], t[2] end)()
(function() local t = {} t[1], t[2], t.x = (function() return 1, 2, 3 end)() return t[1], t[2], t.x end)()
(function() local t = {} local k = "key" t[k] = 1 t[k] = t[k] + 1 return t.key end)()
(function() local t = {3, 1, 2} table.sort(t) return t[1], t[2], t[3] end)()
(function() local t = {"b", "a"} table.sort(t, function(a, b) return a > b end) return t[1], t[2] end)()
(function() local t = {} table.insert(t, "a") table.insert(t, 1, "b") table.insert(t, 3, "c") return table.concat(t) end)()
(function() local t = {1, 2, 3} return table.remove(t), table.remove(t, 1), #t end)()
(function() local p = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) p[1] = 2 return p[1] end)()
(function() local o = {} local p = setmetatable({}, {__newindex = o}) p["a" .. "b"] = 2 return o.ab, rawget(p, "ab") end)()
(function() local t = {"a", [5] = "e", [6 + 1] = "c", b = "d", (function() return "x", "y" end)()} return t[1], t[2], t[3], t[5], t[7], t.b end)()
(function() local t = {(function() return "x", "y" end)(), [5] = 1} return #t, t[5] end)()
(function() local s = 0 for i = 10, 1, -3 do s = s + i end return s end)()
(function() local r = "" for k, v in ipairs({"a", "b"}) do r = r .. k .. v end return r end)()
(function() local r = "" for w in string.gmatch("one two", "%a+") do r = r .. w .. ";" end return r end)()
(function() local r = "" for k, v in string.gmatch("a=1, b=2", "(%w+)=(%w+)") do r = r .. k .. v end return r end)()
(function() local function f(n) if n == 0 then return 0 end return n + f(n - 1) end return f(20) end)()
pcall(function() return 1, 2 end)
pcall(error, "x", 0)
pcall(error)
select(2, pcall(error, {code = 1})).code
xpcall(function() return 1 end, function() return 2 end)
(xpcall(function() error("x", 0) end, function(e) return e end))
select(2, xpcall(function() error("x", 0) end, function(e) return e .. "!" end))
tostring(nil), tostring(1.5), tostring(true)
tonumber("0x10"), tonumber("z"), tonumber("10", 2)
type(print), type(_G), _VERSION
next({})
math.floor(2.7), math.max(1, 3, 2), math.abs(-1)
1 == 1.0, "a" < "b", not nil
7 % 3, 2 ^ 10, -7 % 3
arg`
	for expression := range strings.SplitSeq(expressions, "\n") {
		program := "local function all(...) local r = '' for i = 1, select('#', ...) do r = r .. ',' .. tostring((select(i, ...))) end return r end return all(" + expression + ")"
		theirs := lua.NewState()
		err := theirs.DoString(program)
		want := theirs.Get(-1).String()
		theirs.Close()
		if err != nil {
			want = ""
		}
		h, ok := setOf(t, "local x = (function() "+program+" end)() return {status = 'Healthy', message = x}", true).Assess(objectOf(t, backup))
		got, _, _ := strings.Cut(strings.ReplaceAll(h.Message, scriptFile, "<string>"), " (by argocd-cm")
		if ok != (err == nil) || ok && got != strings.TrimSpace(want) {
			t.Errorf("%s: got %q (%v), want %q (%v)", expression, h.Message, ok, want, err)
		}
	}
}
