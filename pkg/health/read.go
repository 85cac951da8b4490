package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// Read is a field of an object that an expression of a rule reads, with the type that the
// expression expects.
type Read struct {
	// In is the field of the rule with the expression: degraded, message, ...
	In string
	// Path is that of the field, as package field writes it: status.nodes[].phase. A map value with
	// a computed key counts as an item.
	Path string
	// Line and Column count from 1, in the text of the expression.
	Line, Column int
	// Want is the expected type: boolean, string or array; empty if any type will do.
	Want string
	// Literals are the values that it is compared with, and With the fields.
	Literals []any
	With     []string
}

// Reads returns the fields that the rule's expressions read, in the order of the rule. The error is
// that of Check.
func (r Rule) Reads() ([]Read, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	var all []Read
	for in, text := range r.expressions() {
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			return nil, fmt.Errorf("compile the health rule of %s: %s: %w", r.Kind, in, issues.Err())
		}
		all = append(all, fieldReadsOf(in, checked)...)
	}
	return all, nil
}

func fieldReadsOf(in string, checked *cel.Ast) []Read {
	f := &fieldReads{in: in}
	want := "boolean"
	switch in {
	case messageField, revisionField:
		want = "string"
	case observedField:
		want = ""
	}
	f.use(f.collect(checked), want)
	return f.reads
}

// placesOf returns the object with the places in it that an expression reads.
func placesOf(checked *cel.Ast) *place {
	f := &fieldReads{}
	f.collect(checked)
	return f.self
}

// fieldReads collects what an expression reads.
type fieldReads struct {
	in    string
	text  []rune
	info  *ast.SourceInfo
	reads []Read
	self  *place
}

func (f *fieldReads) collect(checked *cel.Ast) operand {
	native := checked.NativeRep()
	f.text, f.info, f.self = []rune(checked.Source().Content()), native.SourceInfo(), &place{}
	for _, part := range [...]string{"metadata", "spec", "status"} {
		f.self.field(part)
	}
	return f.value(native.Expr(), nil)
}

// operand is what a part of an expression may be: fields of the object, literals, or a list of
// those. An empty one is an unknown value.
type operand struct {
	places   []*place
	literals []any
	items    *operand
	// at is the position of the last field of the places.
	at position
}

type position struct{ line, column int }

func (o operand) or(other operand) operand {
	sum := operand{places: union(o.places, other.places), literals: append(slices.Clone(o.literals), other.literals...), items: o.items, at: o.at}
	if len(o.places) == 0 {
		sum.at = other.at
	}
	switch {
	case sum.items == nil:
		sum.items = other.items
	case other.items != nil:
		both := sum.items.or(*other.items)
		sum.items = &both
	}
	return sum
}

func union(a, b []*place) []*place {
	all := slices.Clone(a)
	for _, p := range b {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// scope has the variables that a macro binds.
type scope map[string]operand

// value returns what an expression may be, and records what it reads.
func (f *fieldReads) value(e ast.Expr, in scope) operand {
	switch e.Kind() {
	case ast.LiteralKind:
		return operand{literals: []any{e.AsLiteral().Value()}}
	case ast.IdentKind:
		return f.identifier(e, in)
	case ast.SelectKind:
		s := e.AsSelect()
		selected := f.field(e.ID(), f.value(s.Operand(), in), s.FieldName())
		if s.IsTestOnly() {
			return operand{} // has(...) only tests the presence
		}
		return selected
	case ast.ListKind:
		items := operand{}
		for _, item := range e.AsList().Elements() {
			items = items.or(f.value(item, in))
		}
		return operand{items: &items}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			f.value(entry.AsMapEntry().Key(), in)
			f.value(entry.AsMapEntry().Value(), in)
		}
	case ast.ComprehensionKind:
		return f.comprehension(e.AsComprehension(), in)
	case ast.CallKind:
		return f.call(e, in)
	}
	return operand{}
}

func (f *fieldReads) identifier(e ast.Expr, in scope) operand {
	name := e.AsIdent()
	if bound, ok := in[name]; ok {
		return bound
	}
	if name == "self" {
		return operand{places: []*place{f.self}}
	}
	return operand{places: []*place{f.self.field(name)}, at: f.locate(e.ID(), name)}
}

// field returns a field of an operand.
func (f *fieldReads) field(id int64, parent operand, name string) operand {
	out := operand{at: f.locate(id, name)}
	for _, p := range parent.places {
		out.places = append(out.places, p.field(name))
	}
	for _, path := range paths(out.places) {
		f.note(Read{Path: path}, out.at)
	}
	return out
}

// locate returns the position of a name that an expression selects.
func (f *fieldReads) locate(id int64, name string) position {
	span, ok := f.info.GetOffsetRange(id)
	if !ok {
		return position{1, 1}
	}
	at := int(span.Start)
	if at > len(f.text) {
		return position{1, 1}
	}
	if i := strings.Index(string(f.text[at:]), name); i >= 0 {
		at += len([]rune(string(f.text[at:])[:i]))
	}
	l := f.info.GetLocationByOffset(int32(at))
	return position{l.Line(), l.Column() + 1}
}

func (f *fieldReads) note(r Read, at position) {
	r.In, r.Line, r.Column = f.in, max(at.line, 1), max(at.column, 1)
	f.reads = append(f.reads, r)
}

// item returns an item of a list, or a value of a map.
func (o operand) item() operand {
	out := operand{at: o.at}
	for _, p := range o.places {
		out.places = append(out.places, p.each())
	}
	if o.items != nil {
		return out.or(*o.items)
	}
	return out
}

// comprehension evaluates what the macros expand to: exists, all, map, filter and so on.
func (f *fieldReads) comprehension(c ast.ComprehensionExpr, in scope) operand {
	items := f.value(c.IterRange(), in)
	inner := scope{}
	maps.Copy(inner, in)
	inner[c.IterVar()] = items.item()
	if c.HasIterVar2() {
		inner[c.IterVar()], inner[c.IterVar2()] = operand{}, items.item()
	}
	start := f.value(c.AccuInit(), in)
	inner[c.AccuVar()] = start
	f.value(c.LoopCondition(), inner)
	inner[c.AccuVar()] = start.or(f.value(c.LoopStep(), inner))
	return f.value(c.Result(), inner)
}
