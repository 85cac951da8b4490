package health

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// call returns what the result of a function may be.
func (f *fieldReads) call(e ast.Expr, in scope) operand {
	c := e.AsCall()
	var args []operand
	if c.IsMemberFunction() {
		args = append(args, f.value(c.Target(), in))
	}
	for _, a := range c.Args() {
		args = append(args, f.value(a, in))
	}
	switch c.FunctionName() {
	case operators.OptSelect, operators.Index, operators.OptIndex:
		return f.index(e.ID(), args[0], args[1])
	case operators.Conditional:
		f.useBoolean(args[0])
		return args[1].or(args[2])
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		for _, a := range args {
			f.useBoolean(a)
		}
	case operators.Equals, operators.NotEquals:
		f.compare(args[0], args[1])
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		f.compare(args[0], args[1])
		args[0].ordered()
		args[1].ordered()
	case operators.In, operators.OldIn:
		f.isIn(args[0], args[1])
	case operators.Add:
		if args[0].items != nil || args[1].items != nil {
			return args[0].or(args[1])
		}
	case "orValue", "or":
		return args[0].otherwise(args[1])
	case "value", "optional.of", "optional.ofNonZeroValue", operators.NotStrictlyFalse:
		return args[0]
	case conditionFunction:
		return f.condition(f.locate(e.ID(), conditionFunction), args[0], args[1])
	case "startsWith", "endsWith", "contains", "matches", "split", "lowerAscii", "upperAscii", "trim", "replace":
		f.use(args[0], "string")
	case "join":
		f.use(args[0], "array")
	case sumFunction:
		f.use(args[0], "array")
		for _, item := range args[0].item().places {
			item.compare(int64(1))
		}
	}
	return operand{}
}

// index returns the value at a key or an index.
func (f *fieldReads) index(id int64, parent, key operand) operand {
	if len(key.literals) == 1 && len(key.places) == 0 {
		if name, ok := key.literals[0].(string); ok {
			return f.field(id, parent, name)
		}
	}
	for _, p := range parent.places {
		p.keyed = p.keyed || p.item != nil && slices.Contains(key.places, p.item)
	}
	return parent.item()
}

func (f *fieldReads) useBoolean(o operand) { f.use(o, "boolean") }

func (f *fieldReads) use(o operand, want string) {
	if want == "" {
		return // any type will do
	}
	for _, path := range paths(o.places) {
		f.note(Read{Path: path, Want: want}, o.at)
	}
}

// compare records that two operands are compared. The default of an absent field (orValue) is no
// value of it.
func (f *fieldReads) compare(a, b operand) {
	for _, side := range [...][2]operand{{a, b}, {b, a}} {
		field, with := side[0], side[1]
		for _, p := range field.places {
			p.compare(with.literals...)
		}
		for _, path := range paths(field.places) {
			if literals := with.against(field); len(literals) > 0 || len(with.places) > 0 {
				f.note(Read{Path: path, Literals: literals, With: paths(with.places)}, field.at)
			}
		}
	}
}

// otherwise returns an operand with the default that replaces it if it is absent.
func (o operand) otherwise(other operand) operand {
	for _, p := range o.places {
		p.compare(other.literals...)
		if other.items != nil {
			p.each()
		}
	}
	return o.or(other)
}

func (o operand) ordered() {
	for _, p := range o.places {
		p.number = true
	}
}

// against returns the literals that are not a default of another operand.
func (o operand) against(other operand) []any {
	var all []any
	for _, l := range o.literals {
		known := false
		for _, d := range other.literals {
			known = known || d == l
		}
		if !known {
			all = append(all, l)
		}
	}
	return all
}

// isIn records that a value is searched in a list, or a key in a map.
func (f *fieldReads) isIn(item, list operand) {
	if list.items != nil {
		f.compare(item, *list.items)
	}
	if len(item.literals) == 0 {
		return
	}
	for _, p := range list.places {
		for _, key := range item.literals {
			if name, ok := key.(string); ok {
				p.field(name)
			}
		}
		f.compare(item, operand{places: []*place{{path: p.path + "[]"}}, at: list.at})
	}
}

// condition returns the condition of a type: a map of its texts.
func (f *fieldReads) condition(at position, parent, name operand) operand {
	out := operand{at: at}
	for _, p := range parent.places {
		list := field.Join(p.path, "conditions") + "[]"
		f.note(Read{Path: list + ".type", Literals: name.literals}, at)
		for _, kind := range name.literals {
			if kind, ok := kind.(string); ok {
				out.places = append(out.places, p.condition(kind))
			}
		}
		if len(name.literals) == 0 {
			out.places = append(out.places, p.field("conditions").each())
		}
	}
	return out
}
