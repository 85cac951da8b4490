package annotations

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// instanceWord stands for the custom resource in paths and values.
const instanceWord = "INSTANCE"

// Path is a way through the fields of an object: spec.users[].secretName. The
// zero Path has no steps and finds the object itself.
//
// A field name stands for the field of exactly that name. A list in the way is
// passed through: spec.users.name is the name of every user, and so is
// spec.users[].name or spec.users[*].name; spec.users[0].name is the first one's.
// What is no plain name goes in quotes: metadata.labels["app.kubernetes.io/name"].
type Path struct {
	steps []step
}

type step struct {
	field string
	list  bool // [] or [n], not a field
	index int  // every where all of the list is meant
}

const every = -1

// PathError says why a text is no path, and where: Offset counts bytes from 0.
type PathError struct {
	Text    string
	Offset  int
	Message string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q, column %d: %s", shorten(e.Text), utf8.RuneCountInString(e.Text[:e.Offset])+1, e.Message)
}

// ParsePath reads a path, with or without "INSTANCE." before it. The error is a
// *PathError.
func ParsePath(text string) (Path, error) {
	start := 0
	if strings.HasPrefix(text, instanceWord+".") {
		start = len(instanceWord) + 1
	}
	p, n, err := readPath(text[start:], func(c byte) bool { return !strings.ContainsRune("[]{}().,;:\"' \t\r\n", rune(c)) })
	if err != nil {
		return Path{}, &PathError{Text: text, Offset: start + err.at, Message: err.message}
	}
	if start+n < len(text) {
		return Path{}, &PathError{Text: text, Offset: start + n, Message: fmt.Sprintf("unexpected %s: want a path such as spec.users[].secretName", firstRune(text[start+n:]))}
	}
	return p, nil
}

// readPath reads a path from the front of text and returns how much of it that
// took; inField says which bytes a field name without quotes may hold.
func readPath(text string, inField func(byte) bool) (Path, int, *problem) {
	var p Path
	i := 0
	for {
		end := i
		for end < len(text) && inField(text[end]) {
			end++
		}
		switch {
		case end > i:
			p.steps = append(p.steps, step{field: text[i:end]})
		case i > 0 || !strings.HasPrefix(text, "["):
			return Path{}, 0, &problem{i, "a field name is missing here"}
		}
		i = end
		for i < len(text) && text[i] == '[' {
			s, n, err := readBracket(text[i:])
			if err != nil {
				return Path{}, 0, &problem{i + err.at, err.message}
			}
			p.steps = append(p.steps, s)
			i += n
		}
		if i == len(text) || text[i] != '.' {
			return p, i, nil
		}
		if len(p.steps) >= mostParts {
			return Path{}, 0, &problem{i, fmt.Sprintf("the path is too long: want %d steps at most", mostParts)}
		}
		i++
	}
}

// readBracket reads [], [*], [3] or ["any/name"] from the front of text.
func readBracket(text string) (step, int, *problem) {
	const want = `want [], [*], [0] or ["field"]`
	if len(text) > 1 && (text[1] == '"' || text[1] == '\'') {
		end := strings.IndexByte(text[2:], text[1])
		if end <= 0 || !strings.HasPrefix(text[2+end+1:], "]") {
			return step{}, 0, &problem{1, "a quoted field name is empty or not closed: " + want}
		}
		return step{field: text[2 : 2+end]}, end + 4, nil
	}
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return step{}, 0, &problem{0, "the [ is not closed: " + want}
	}
	switch inner := text[1:end]; inner {
	case "", "*":
		return step{list: true, index: every}, end + 1, nil
	default:
		n, err := strconv.ParseUint(inner, 10, 31)
		if err != nil {
			return step{}, 0, &problem{1, want}
		}
		return step{list: true, index: int(n)}, end + 1, nil
	}
}

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	at := ""
	for _, s := range p.steps {
		switch {
		case !s.list:
			at = field(at, s.field)
		case s.index == every:
			at += "[]"
		default:
			at = item(at, s.index)
		}
	}
	return at
}

// Find yields what stands at the path in the fields of an object, each value
// with the concrete path at which it stands: spec.users[1].secretName. Lists
// are gone through in their order. What is absent or null yields nothing.
func (p Path) Find(fields map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		walk("", fields, p.steps, yield)
	}
}

func walk(at string, v any, steps []step, yield func(string, any) bool) bool {
	if v == nil {
		return true
	}
	if len(steps) == 0 {
		return yield(at, v)
	}
	s := steps[0]
	switch v := v.(type) {
	case map[string]any:
		if s.list {
			return true
		}
		return walk(field(at, s.field), v[s.field], steps[1:], yield)
	case []any:
		rest := steps
		if s.list {
			rest = steps[1:]
		}
		for i, e := range v {
			if s.list && s.index != every && s.index != i {
				continue
			}
			if !walk(item(at, i), e, rest, yield) {
				return false
			}
		}
	}
	return true
}

// field appends a field name to a path.
func field(at, name string) string {
	for i := range len(name) {
		if !inWord(name[i]) && name[i] != '-' {
			return keyed(at, name)
		}
	}
	if at == "" {
		return name
	}
	return at + "." + name
}

// keyed appends the key of a map to a path.
func keyed(at, key string) string {
	quote := `"`
	if strings.Contains(key, quote) {
		quote = "'"
	}
	return at + "[" + quote + key + quote + "]"
}

// item appends an index to a path.
func item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
