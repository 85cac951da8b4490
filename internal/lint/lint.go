package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Finding is something that does not fit the definitions. Its place is that in the document;
// line 0 where there is none.
type Finding struct {
	strict.Problem
	// Unknown says that nothing is wrong, and that something could not be checked.
	Unknown bool
}

// linter holds one document against the definitions.
type linter struct {
	defs     *Definitions
	doc      Document
	findings []Finding
	// own are the API versions of the kinds of an entry, as it lists them: what a definition
	// serves besides is not meant.
	own map[schema.GroupKind][]string
	// unknown are the kinds that were reported to have no definition.
	unknown map[schema.GroupKind]bool
}

// anchor is where in a document something stands.
type anchor struct {
	// path is that of keys and indices in the document.
	path []any
	// line and column are known without a document; 0 where they are not.
	line, column int
	// offset is where in the text at the path, in bytes; -1 for all of it.
	offset int
	// at gives the place in the text at the path, where offset does not do.
	at func(*yaml.Node) (line, column int)
}

func (a anchor) child(path ...any) anchor {
	a.path = append(slices.Clone(a.path), path...)
	return a
}

// sibling is another key of the mapping in which the anchor stands.
func (a anchor) sibling(key string) anchor {
	a.path, a.at, a.offset = append(slices.Clone(a.path[:len(a.path)-1]), key), nil, -1
	return a
}

func (a anchor) from(offset int) anchor {
	a.offset = offset
	return a
}

// place finds an anchor in the document.
func (l *linter) place(a anchor) (line, column int) {
	n := l.doc.node(a.path)
	switch {
	case n == nil:
		return a.line, a.column
	case a.at != nil:
		return a.at(n)
	case a.offset <= 0 || n.Kind != yaml.ScalarNode || a.offset > len(n.Value):
		return n.Line, n.Column
	}
	column = n.Column + utf8.RuneCountInString(n.Value[:a.offset])
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		column++
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return n.Line, n.Column
	}
	return n.Line, column
}

func (l *linter) add(a anchor, unknown bool, format string, args ...any) {
	line, column := l.place(a)
	f := Finding{strict.Problem{Line: line, Column: column, Message: fmt.Sprintf(format, args...)}, unknown}
	if !slices.Contains(l.findings, f) {
		l.findings = append(l.findings, f)
	}
}

// fault is what is wrong with a use, at an offset in the text that names it.
type fault struct {
	message string
	offset  int
	// below is where in a patch or an object it is.
	below []any
}

// broken is a fault of the whole value.
func broken(format string, args ...any) *fault {
	return &fault{message: fmt.Sprintf(format, args...), offset: -1}
}

// use is a field that is named: check says what is wrong with it in a shape.
type use struct {
	kind  string
	where anchor
	// about comes before the message: of which part of an entry it is.
	about string
	// versions are those for which it is said; none means every one.
	versions []string
	check    func(field.Shape) *fault
	// found holds the faults of other fields of the same text: one fault is enough for a missing
	// field and the fields below it. It is nil for a use on its own.
	found map[string]bool
}

// repeats says whether the same fault was found before, and notes it.
func (u use) repeats(version string, f *fault) bool {
	if u.found == nil {
		return false
	}
	_, says, _ := strings.Cut(f.message, ": ")
	key := version + ": " + u.about + cmp.Or(says, f.message)
	was := u.found[key]
	u.found[key] = true
	return was
}

// hold holds a use against its kind: against the versions for which it is said, or else
// against the newest, since an older version may lack what a newer one has. A version of
// several releases has what one of them has.
func (l *linter) hold(u use) {
	gk := declare.GroupKind(u.kind)
	k, ok := l.defs.Kind(gk)
	if !ok {
		return
	}
	for _, v := range u.versions {
		known := l.own[gk]
		if len(known) == 0 {
			known = k.Versions()
		}
		if len(known) > 0 && !slices.Contains(known, v) {
			l.add(u.where.sibling("versions"), false, "%s has no version %s: it has %s", u.kind, v, strings.Join(known, ", "))
		}
	}
	versions := l.versions(gk, k, u.versions)
	for i, name := range versions {
		f := faultIn(u, k.Shapes(name))
		if f == nil {
			if len(u.versions) == 0 {
				return
			}
			continue
		}
		if !u.repeats(name, f) {
			older := slices.DeleteFunc(slices.Clone(versions[i+1:]), func(v string) bool { return faultIn(u, k.Shapes(v)) != nil })
			l.add(u.where.child(f.below...).from(f.offset), false, "%s %s: %s%s%s", u.kind, name, u.about, f.message, hintOf(older))
		}
		if len(u.versions) == 0 {
			return
		}
	}
}

// hintOf says which older versions have what the newest lacks.
func hintOf(older []string) string {
	if len(older) == 0 {
		return ""
	}
	return fmt.Sprintf("; %[1]s has it: write versions: [%[1]s]", strings.Join(older, ", "))
}

// faultIn is what is wrong with a use in the first of the shapes, where none of them is right.
func faultIn(u use, shapes []field.Shape) *fault {
	var first *fault
	for _, s := range shapes {
		f := u.check(s)
		if f == nil {
			return nil
		}
		if first == nil {
			first = f
		}
	}
	return first
}

// versions are those of a kind to check, the newest first: the ones named, of those that the entry lists,
// of those whose fields are known.
func (l *linter) versions(gk schema.GroupKind, k *Definition, named []string) []string {
	own := l.own[gk]
	return slices.DeleteFunc(k.Versions(), func(v string) bool {
		return len(own) > 0 && !slices.Contains(own, v) || len(named) > 0 && !slices.Contains(named, v)
	})
}

// at returns the shape of what a path finds, or the fault that it finds nothing.
func at(s field.Shape, path field.Path) (field.Shape, *fault) {
	found, err := path.In(s)
	wrong, ok := errors.AsType[*field.Error](err)
	if !ok {
		return found, nil
	}
	offset := wrong.Offset
	if offset > 0 && wrong.Offset < len(wrong.Text) && wrong.Text[wrong.Offset] == '.' {
		offset++
	}
	return nil, &fault{message: wrong.Error() + object.DidYouMean(object.Nearest(wrong.Field, wrong.Names)), offset: offset}
}

// typeOf is the type of a value, empty where it is unknown.
func typeOf(s field.Shape) string {
	if t, ok := s.(field.Typed); ok {
		return t.Type()
	}
	return ""
}

// single goes through lists to what is in them.
func single(s field.Shape) field.Shape {
	for typeOf(s) == "array" {
		item, ok := s.Item()
		if !ok {
			return s
		}
		s = item
	}
	return s
}

// article writes a type with its article.
func article(kind string) string {
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}
