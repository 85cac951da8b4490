package lint

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Relations compares relations with the definitions. They are part of the document, if there is
// one, under relations.
func Relations(defs *Definitions, specs []declare.Spec, doc Document) []Finding {
	l := &linter{defs: defs, doc: doc, unknown: map[schema.GroupKind]bool{}}
	l.relations(specs)
	return l.findings
}

func (l *linter) relations(specs []declare.Spec) {
	for i := range specs {
		s := &specs[i]
		pos := anchor{path: []any{"relations", l.doc.relation(i, s)}, line: s.Line, column: s.Column, offset: -1}
		read, _ := s.Reader()
		for _, kind := range read {
			if kind == declare.Any {
				continue
			}
			l.relation(s, kind, pos)
			if _, ok := l.defs.Kind(declare.GroupKind(kind)); !ok && l.defs.Complete {
				l.unknownKind(kind, declare.GroupKind(kind), pos)
			}
		}
		for _, kind := range slices.Concat(s.From, s.To) {
			l.kindExists(kind, pos)
		}
	}
}

// relation checks what a relation reads of a kind.
func (l *linter) relation(s *declare.Spec, kind string, pos anchor) {
	check := func(key string, f func(field.Shape) *fault) {
		l.hold(use{kind: kind, where: pos.child(key), versions: s.Versions, check: f})
	}
	for _, p := range []struct {
		key, path string
		is        func(field.Shape, string) *fault
	}{
		{"field", s.Field, func(f field.Shape, path string) *fault { return reference(f, path, s) }},
		{"selector", s.Selector, wants("a label selector or a map of labels", "object")},
		{"host", s.Host, wants("a host name", "string")},
		{"template", s.Template, wants("a pod template", "object")},
		{"podSpec", s.PodSpec, wants("a pod spec", "object")},
		{"namespace", s.Namespace, wants("a name", "string")},
		{"kind", s.Kind, wants("a name", "string")},
		{"group", s.Group, wants("a name", "string")},
		{"namespaces", s.Namespaces, nil},
	} {
		if p.path != "" {
			check(p.key, func(shape field.Shape) *fault { return named(shape, s, p.path, p.is) })
		}
	}
	for _, c := range s.When {
		checkValue := func(f field.Shape, path string) *fault {
			for _, v := range c.Values {
				if wrong := valueFault(single(f), path, v); v != "" && wrong != nil {
					return wrong
				}
			}
			return nil
		}
		l.hold(use{kind: kind, where: pos.child("when"), versions: s.Versions, check: func(shape field.Shape) *fault { return named(shape, s, c.Path, checkValue) }})
	}
	for _, t := range []struct{ key, text string }{{"value", s.Value}, {"name", s.Name}} {
		for _, path := range declare.TemplatePaths(t.text) {
			check(t.key, func(shape field.Shape) *fault {
				_, wrong := at(shape, path)
				return whole(wrong)
			})
		}
	}
}

// named checks a path, which may be relative to a reference, and its value.
func named(shape field.Shape, s *declare.Spec, path string, check func(field.Shape, string) *fault) *fault {
	rest, relative := strings.CutPrefix(path, ".")
	p, err := field.Parse(rest)
	if err != nil {
		return nil // Who parses it says so.
	}
	if relative {
		base, ok := holder(shape, s)
		if !ok {
			return nil
		}
		shape = base
	}
	found, wrong := at(shape, p)
	switch {
	case wrong != nil && relative:
		return whole(wrong)
	case wrong != nil || check == nil:
		return wrong
	}
	return check(found, path)
}

// whole is a fault of a text in which the path is only a part.
func whole(f *fault) *fault {
	if f == nil {
		return nil
	}
	return broken("%s", f.message)
}

// holder is the shape of what relative paths begin at: of the reference where it is an
// object, else of the object that holds it.
func holder(shape field.Shape, s *declare.Spec) (field.Shape, bool) {
	text := s.Field + s.Selector + s.Host + s.Template + s.PodSpec
	p, err := field.Parse(text)
	if err != nil {
		return nil, false
	}
	found, wrong := at(shape, p)
	if wrong != nil {
		return nil, false // Told of the path itself.
	}
	if s.Field != "" && len(single(found).Names()) > 0 {
		return single(found), true
	}
	if s.Field != "" && typeOf(single(found)) != "string" {
		return nil, false // It may be an object, of which nothing is known.
	}
	base, wrong := at(shape, p.Holder())
	if wrong != nil {
		return nil, false
	}
	return single(base), true
}

// reference checks that a name stands at a path: a text, or an object that has one.
func reference(found field.Shape, path string, s *declare.Spec) *fault {
	item := single(found)
	switch kind := typeOf(item); kind {
	case "", "string", "array":
		return nil
	case "object":
		nameField := strings.TrimPrefix(s.NameField, ".")
		if nameField == "" {
			nameField = "name"
		}
		p, err := field.Parse(nameField)
		if err != nil {
			return nil
		}
		if _, wrong := at(item, p); wrong != nil {
			return broken("%s matches no field: %s", path, wrong.message)
		}
		return nil
	default:
		return broken("%s is %s: expected a name, or a reference", path, article(kind))
	}
}

// wants checks the type of what stands at a path.
func wants(expected, kind string) func(field.Shape, string) *fault {
	return func(found field.Shape, path string) *fault {
		if fieldType := typeOf(single(found)); fieldType != "" && fieldType != kind && fieldType != "array" {
			return broken("%s is %s: expected %s", path, article(fieldType), expected)
		}
		return nil
	}
}
