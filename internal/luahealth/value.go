package luahealth

import (
	"encoding/json"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// toLua makes a value of Lua of one of an object, as Argo CD does: a null is no field, and
// no item of a list.
func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case int32:
		return lua.LNumber(v)
	case int:
		return lua.LNumber(v)
	case json.Number:
		return lua.LString(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for _, item := range v {
			t.Append(toLua(l, item))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // pairs goes in the order of writing
			t.RawSetString(key, toLua(l, v[key]))
		}
		return t
	}
	return lua.LNil
}
