package luahealth

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// format is string.format. As in Lua a width and a precision have two digits at most.
func (lib *library) format(l *lua.LState) int {
	text := l.CheckString(1)
	var b strings.Builder
	argument := 1
	for i := 0; i < len(text); {
		lib.work(l, 1)
		if text[i] != '%' {
			b.WriteByte(text[i])
			i++
			continue
		}
		if strings.HasPrefix(text[i:], "%%") {
			b.WriteByte('%')
			i += 2
			continue
		}
		d, size := directiveOf(text[i:])
		if size == 0 {
			l.RaiseError("invalid option in the format %s", oneLine(text[i:]))
		}
		argument++
		b.WriteString(lib.formatted(l, d, argument))
		i += size
		if b.Len() > lib.limits.Text {
			lib.text(l, b.Len())
		}
	}
	lib.text(l, b.Len())
	l.Push(lua.LString(b.String()))
	return 1
}

// directive is %[flags][width][.precision]verb.
type directive struct {
	flags     string // with the width
	precision string // with its dot
	verb      byte
}

// directiveOf reads the directive at the start of a text, and says how long it is; 0 for
// none.
func directiveOf(text string) (directive, int) {
	i := 1
	digits := func() {
		for n := 0; n < 2 && i < len(text) && isDigit(text[i]); n++ {
			i++
		}
	}
	for i < len(text) && strings.IndexByte("-+ #0", text[i]) >= 0 {
		i++
	}
	if i > 6 {
		return directive{}, 0
	}
	digits()
	d := directive{flags: text[1:i]}
	if i < len(text) && text[i] == '.' {
		from := i
		i++
		digits()
		d.precision = text[from:i]
	}
	if i >= len(text) || strings.IndexByte("cdiouxXeEfgGqs", text[i]) < 0 {
		return directive{}, 0
	}
	d.verb = text[i]
	return d, i + 1
}

func (lib *library) formatted(l *lua.LState, d directive, argument int) string {
	layout := "%" + d.flags + d.precision
	switch d.verb {
	case 'c':
		return string([]byte{byte(l.CheckInt(argument))})
	case 'd', 'i':
		return fmt.Sprintf(layout+"d", int64(l.CheckNumber(argument)))
	case 'u':
		return fmt.Sprintf(layout+"d", uint64(int64(l.CheckNumber(argument))))
	case 'o', 'x', 'X':
		return fmt.Sprintf(layout+string(d.verb), uint64(int64(l.CheckNumber(argument))))
	case 'q':
		text := l.CheckString(argument)
		lib.text(l, 4*len(text))
		return quoted(text)
	case 's':
		text := lua.LVAsString(l.ToStringMeta(l.CheckAny(argument)))
		lib.text(l, len(text))
		return fmt.Sprintf(layout+"s", text)
	}
	if d.precision == "" {
		layout += ".6" // Go writes as many digits as there are
	}
	return fmt.Sprintf(layout+string(d.verb), float64(l.CheckNumber(argument)))
}

// quoted is a text as Lua reads it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(text) + `"`
}
