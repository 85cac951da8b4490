package luahealth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// maxScriptBytes is several times the longest that Argo CD has. It bounds what reading one
// takes.
const maxScriptBytes = 64 << 10

func tooLong() error { return fmt.Errorf("a script of more than %d KiB", maxScriptBytes>>10) }

// maxUpvalues is how many variables of the functions around it a function may use: each
// makes a function larger that is made at run time.
const maxUpvalues = 32

// script is a program that is compiled when the first object of its kinds comes.
type script struct {
	text string
	open bool // whether the libraries string and math are there

	once  sync.Once
	proto *lua.FunctionProto
	err   error
}

// verdict is what a script returned; without a status it has nothing to say.
type verdict struct {
	status  health.Status
	message string
}

// compiled compiles the script, once.
func (s *script) compiled() (*lua.FunctionProto, error) {
	s.once.Do(func() { s.proto, s.err = compile(s.text) })
	return s.proto, s.err
}

func compile(text string) (proto *lua.FunctionProto, err error) {
	defer recovered(&err)
	chunk, err := parse.Parse(strings.NewReader(text), scriptFile)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	proto, err = lua.Compile(guarded(chunk), scriptFile)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return proto, bounded(proto)
}

// bounded refuses a function that uses too many variables of those around it.
func bounded(proto *lua.FunctionProto) error {
	if proto.NumUpvalues > maxUpvalues {
		return fmt.Errorf("line %d: the function uses more than %d variables of those around it", proto.LineDefined, maxUpvalues)
	}
	for _, inner := range proto.FunctionPrototypes {
		if err := bounded(inner); err != nil {
			return err
		}
	}
	return nil
}

// recovered makes an error of a panic: the library is given untrusted input.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = errors.New(oneLine(fmt.Sprint(r)))
	}
}

// run runs the script on an object, in a virtual machine of its own.
func (s *script) run(fields map[string]any, m *meter) (v verdict, err error) {
	proto, err := s.compiled()
	if err != nil {
		return verdict{}, err
	}
	// A limit that was reached is the reason of whatever came of it.
	defer func() {
		if m.reached != nil {
			v, err = verdict{}, m.reached
		}
	}()
	defer recovered(&err)
	l := lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: 100, RegistrySize: 1 << 10, RegistryMaxSize: 1 << 13, RegistryGrowStep: 1 << 9})
	defer l.Close()
	lib := &library{m}
	lib.load(l, s.open)
	l.SetGlobal("obj", toLua(l, fields))
	l.SetContext(m)
	l.Push(l.NewFunctionFromProto(proto))
	guards := lib.guards(l)
	for _, g := range guards {
		l.Push(g)
	}
	if err := l.PCall(len(guards), 1, nil); err != nil {
		return verdict{}, errors.New(message(err))
	}
	return result(l.Get(-1))
}

// message is what an error of Lua says. That of a value that is not text would reveal where
// it lies in memory.
func message(err error) string {
	var apiErr *lua.ApiError
	if !errors.As(err, &apiErr) {
		return oneLine(err.Error())
	}
	if !lua.LVCanConvToString(apiErr.Object) {
		return "an error that is a " + apiErr.Object.Type().String()
	}
	return oneLine(lua.LVAsString(apiErr.Object))
}

// oneLine is a text of a script as it is reported: short, and in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(short(text)), " ") }

// maxMessageLength is how long a message is at most, in bytes.
const maxMessageLength = 1 << 10

func short(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 2*maxMessageLength)], "�")
	if len(text) <= maxMessageLength {
		return text
	}
	end := maxMessageLength
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// statuses are those that Argo CD knows.
func statuses() []health.Status {
	return []health.Status{health.Healthy, health.Progressing, health.Degraded, health.Suspended, health.Missing, health.Unknown}
}

// result reads what a script returned: a table with a status, and a message if it likes.
func result(value lua.LValue) (verdict, error) {
	if value == lua.LNil {
		return verdict{}, nil
	}
	t, ok := value.(*lua.LTable)
	if !ok {
		return verdict{}, fmt.Errorf("it returns a %s: expected a table with status and message", value.Type())
	}
	status, ok := t.RawGetString("status").(lua.LString)
	if !ok {
		return verdict{}, fmt.Errorf("it returns a status that is a %s: expected a string", t.RawGetString("status").Type())
	}
	if !slices.Contains(statuses(), health.Status(status)) {
		return verdict{}, fmt.Errorf("it returns the status %q: expected %s", oneLine(string(status)), list(statuses()))
	}
	text := t.RawGetString("message")
	if text != lua.LNil && !lua.LVCanConvToString(text) {
		return verdict{}, fmt.Errorf("it returns a message that is a %s: expected a string", text.Type())
	}
	return verdict{health.Status(status), strings.TrimSpace(short(lua.LVAsString(text)))}, nil
}

func list(all []health.Status) string {
	var names []string
	for _, s := range all {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
