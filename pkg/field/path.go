// Package field finds fields in the content of objects by their paths. It is the
// path language of relationship rules, wherever these are declared.
package field

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSteps bounds a path, and with it the depth of a search.
const maxSteps = 100

var tooLong = fmt.Sprintf("the path is too long: expected at most %d steps", maxSteps)

// Path is a path through the fields of an object: spec.users[].secretName. The zero Path has no
// steps and finds the object itself.
//
// A field name selects the field of exactly that name, a star every field of a map. A list on the
// path selects all its items: spec.users.name is the name of every user, and so is
// spec.users[].name or spec.users[*].name; spec.users[0].name is the first one's. Other names go
// in quotes: metadata.labels["app.kubernetes.io/name"].
type Path struct {
	steps []step
}

type step struct {
	field string
	star  bool // every field
	list  bool // [] or [n], not a field
	index int  // every for all items of the list
}

const every = -1

// Error says why a text is no path, and where: Offset counts bytes from 0.
type Error struct {
	Text    string
	Offset  int
	Message string
	// Field is the one that a shape does not have, Names are those that it has.
	Field string
	Names []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("path %q, column %d: %s", Shorten(e.Text), utf8.RuneCountInString(e.Text[:e.Offset])+1, e.Message)
}

// Parse reads a path. The error is an *Error.
func Parse(text string) (Path, error) {
	p, n, err := Read(text, func(c byte) bool { return !strings.ContainsRune("[]{}().,;:\"' \t\r\n", rune(c)) })
	if err != nil {
		return Path{}, err
	}
	if n < len(text) {
		r, _ := utf8.DecodeRuneInString(text[n:])
		return Path{}, &Error{Text: text, Offset: n, Message: fmt.Sprintf("unexpected %q: expected a path such as spec.users[].secretName", string(r))}
	}
	return p, nil
}

// Read reads a path from the front of text and returns how much of it that took;
// inField says which bytes a field name without quotes may hold. The error is an
// *Error.
func Read(text string, inField func(byte) bool) (Path, int, error) {
	wrong := func(at int, message string) (Path, int, error) {
		return Path{}, 0, &Error{Text: text, Offset: at, Message: message}
	}
	var p Path
	i := 0
	for {
		end := i
		for end < len(text) && inField(text[end]) {
			end++
		}
		switch {
		case end > i:
			p.steps = append(p.steps, step{field: text[i:end], star: text[i:end] == "*"})
		case i > 0 || !strings.HasPrefix(text, "["):
			return wrong(i, "a field name is missing here")
		}
		i = end
		for i < len(text) && text[i] == '[' {
			s, n, message := readBracket(text[i:])
			if message != "" {
				return wrong(i+n, message)
			}
			p.steps = append(p.steps, s)
			i += n
			if len(p.steps) > maxSteps {
				return wrong(i-n, tooLong)
			}
		}
		if i == len(text) || text[i] != '.' {
			return p, i, nil
		}
		if len(p.steps) >= maxSteps {
			return wrong(i, tooLong)
		}
		i++
	}
}

// readBracket reads [], [*], [3] or ["any/name"] from the front of text. With a
// message, the number is where that holds.
func readBracket(text string) (step, int, string) {
	const want = `expected [], [*], [0] or ["field"]`
	if len(text) > 1 && (text[1] == '"' || text[1] == '\'') {
		end := strings.IndexByte(text[2:], text[1])
		if end <= 0 || !strings.HasPrefix(text[2+end+1:], "]") {
			return step{}, 1, "a quoted field name is empty or not closed: " + want
		}
		return step{field: text[2 : 2+end]}, end + 4, ""
	}
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return step{}, 0, "the [ is not closed: " + want
	}
	switch inner := text[1:end]; inner {
	case "", "*":
		return step{list: true, index: every}, end + 1, ""
	default:
		n, err := strconv.ParseUint(inner, 10, 31)
		if err != nil {
			return step{}, 1, want
		}
		return step{list: true, index: int(n)}, end + 1, ""
	}
}

// String writes the path as Parse reads it.
func (p Path) String() string {
	at := ""
	for _, s := range p.steps {
		switch {
		case s.star && at == "":
			at = "*"
		case s.star:
			at += ".*"
		case !s.list:
			at = Join(at, s.field)
		case s.index == every:
			at += "[]"
		default:
			at = Item(at, s.index)
		}
	}
	return at
}

// Fields returns the field names along the path, without lists; a star is "*".
func (p Path) Fields() []string {
	var names []string
	for _, s := range p.steps {
		if !s.list {
			names = append(names, s.field)
		}
	}
	return names
}

// Holder is the path of the innermost object around what the path finds.
func (p Path) Holder() Path {
	n := len(p.steps)
	for n > 0 && p.steps[n-1].list {
		n--
	}
	return Path{p.steps[:max(n-1, 0)]}
}

// IsZero says that the path has no steps.
func (p Path) IsZero() bool { return len(p.steps) == 0 }

// Match is something that a path found.
type Match struct {
	// At is the concrete path: spec.users[1].secretName.
	At    string
	Value any
	// Holder is the innermost object around the value, and HolderAt where it stands.
	Holder   map[string]any
	HolderAt string
}

// Find yields what stands at the path in the fields of an object, each value
// with the concrete path at which it stands: spec.users[1].secretName. Lists
// are gone through in their order. What is absent or null yields nothing.
func (p Path) Find(fields map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for m := range p.Matches(fields) {
			if !yield(m.At, m.Value) {
				return
			}
		}
	}
}

// Matches is Find with what is around each value.
func (p Path) Matches(fields map[string]any) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		walk(Match{Value: fields, Holder: fields}, p.steps, yield)
	}
}

func walk(m Match, steps []step, yield func(Match) bool) bool {
	if m.Value == nil {
		return true
	}
	if len(steps) == 0 {
		return yield(m)
	}
	switch v := m.Value.(type) {
	case map[string]any:
		return walkMap(m, v, steps, yield)
	case []any:
		s, rest := steps[0], steps
		if s.list {
			rest = steps[1:]
		}
		for i, e := range v {
			if s.list && s.index != every && s.index != i {
				continue
			}
			if !walk(Match{At: Item(m.At, i), Value: e, Holder: m.Holder, HolderAt: m.HolderAt}, rest, yield) {
				return false
			}
		}
	}
	return true
}

func walkMap(m Match, v map[string]any, steps []step, yield func(Match) bool) bool {
	s := steps[0]
	switch {
	case s.list:
		return true
	case s.star:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !walk(Match{At: Join(m.At, name), Value: v[name], Holder: v, HolderAt: m.At}, steps[1:], yield) {
				return false
			}
		}
		return true
	case v[s.field] == nil:
		return true
	}
	return walk(Match{At: Join(m.At, s.field), Value: v[s.field], Holder: v, HolderAt: m.At}, steps[1:], yield)
}

// Join appends a field name to a path.
func Join(at, name string) string {
	for i := range len(name) {
		if c := name[i]; c != '-' && !InWord(c) {
			return Key(at, name)
		}
	}
	if at == "" {
		return name
	}
	return at + "." + name
}

// Key appends the key of a map to a path, in quotes.
func Key(at, key string) string {
	quote := `"`
	if strings.Contains(key, quote) {
		quote = "'"
	}
	return at + "[" + quote + key + quote + "]"
}

// Item appends an index to a path.
func Item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// InWord says whether a byte may be part of a plain field name.
func InWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Shorten cuts what a message would quote at length.
func Shorten(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Scalar writes a text, number or boolean of an object; anything else is empty.
func Scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int64, int, bool:
		return fmt.Sprint(v)
	}
	return ""
}
