package health

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// place is what an expression reads at one place of an object, and what it takes that for.
type place struct {
	fields map[string]*place // of a map
	item   *place            // of a list, or of a map whose keys it does not name
	keyed  bool              // item is the value of a map
	// conditions are the conditions in the list below this map that it asks for by name.
	conditions map[string]*place
	// values are those that it is compared with, or has where it is absent.
	values []any
	number bool // it is compared by order
}

func (p *place) field(name string) *place {
	if p == nil {
		return nil
	}
	if p.fields == nil {
		p.fields = map[string]*place{}
	}
	return child(p.fields, name)
}

func (p *place) condition(name string) *place {
	if p == nil {
		return nil
	}
	if p.conditions == nil {
		p.conditions = map[string]*place{}
	}
	return child(p.conditions, name)
}

func child(of map[string]*place, name string) *place {
	if of[name] == nil {
		of[name] = &place{}
	}
	return of[name]
}

func (p *place) each() *place {
	if p == nil {
		return nil
	}
	if p.item == nil {
		p.item = &place{}
	}
	return p.item
}

func (p *place) compare(values ...any) {
	if p == nil {
		return
	}
	for _, v := range values {
		if !slices.Contains(p.values, v) {
			p.values = append(p.values, v)
		}
	}
}

// reader finds what an expression reads.
type reader struct {
	// names are the places that variables stand for, keys the maps whose keys they are.
	names, keys map[string]*place
}

// readsOf returns what an expression reads of an object.
func readsOf(e ast.Expr) *place {
	self := &place{}
	r := &reader{names: map[string]*place{"self": self}, keys: map[string]*place{}}
	for _, part := range [...]string{"metadata", "spec", "status"} {
		r.names[part] = self.field(part)
	}
	r.read(e)
	return self
}

// read walks an expression, and returns the place whose value it has; nil for one that is
// computed.
func (r *reader) read(e ast.Expr) *place {
	switch e.Kind() {
	case ast.IdentKind:
		return r.names[e.AsIdent()]
	case ast.SelectKind:
		return r.read(e.AsSelect().Operand()).field(e.AsSelect().FieldName())
	case ast.CallKind:
		return r.call(e.AsCall())
	case ast.ListKind:
		list := &place{}
		for _, item := range e.AsList().Elements() {
			if at := r.read(item); at != nil && list.item == nil {
				list.item = at
			}
		}
		return list
	case ast.ComprehensionKind:
		return r.loop(e.AsComprehension())
	}
	return nil
}

// loop reads exists, all, filter and map: their variable stands for the items of a list, or
// for the keys of a map.
func (r *reader) loop(c ast.ComprehensionExpr) *place {
	of := r.read(c.IterRange())
	name := c.IterVar()
	outer, outerKeys := r.names[name], r.keys[name]
	r.names[name], r.keys[name] = nil, of
	if of != nil && !r.indexes(c.LoopStep(), name) {
		r.names[name] = of.each()
	}
	r.read(c.LoopCondition())
	result := r.read(c.LoopStep())
	r.names[name], r.keys[name] = outer, outerKeys
	return result
}

// indexes says whether an expression uses a variable as a key.
func (r *reader) indexes(e ast.Expr, name string) bool {
	found := false
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		if call := e.AsCall(); call.FunctionName() == operators.Index || call.FunctionName() == operators.OptIndex {
			key := call.Args()[1]
			found = found || key.Kind() == ast.IdentKind && key.AsIdent() == name
		}
	}))
	return found
}

func (r *reader) call(c ast.CallExpr) *place {
	args := c.Args()
	if c.IsMemberFunction() {
		return r.method(c.FunctionName(), r.read(c.Target()), args)
	}
	switch c.FunctionName() {
	case operators.OptSelect, operators.Index, operators.OptIndex:
		return r.index(r.read(args[0]), args[1])
	case operators.Equals, operators.NotEquals:
		r.compared(args, false)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		r.compared(args, true)
	case operators.In:
		r.contained(args[0], args[1])
	case operators.Conditional:
		r.read(args[0])
		yes, no := r.read(args[1]), r.read(args[2])
		if yes == nil {
			return no
		}
		return yes
	case operators.Add: // what a loop has found so far, and one more
		found, more := r.read(args[0]), r.read(args[1])
		if found == nil {
			return more
		}
		return found
	default:
		for _, arg := range args {
			r.read(arg)
		}
	}
	return nil
}

// index reads a field, or the item, that is named by an expression.
func (r *reader) index(of *place, key ast.Expr) *place {
	if name, ok := literal(key).(string); ok {
		return of.field(name)
	}
	if key.Kind() == ast.IdentKind && of != nil && r.keys[key.AsIdent()] == of {
		of.keyed = true
	}
	r.read(key)
	return of.each()
}

func (r *reader) method(name string, of *place, args []ast.Expr) *place {
	if name == conditionFunction {
		if kind, ok := literal(args[0]).(string); ok {
			return of.condition(kind)
		}
	}
	for _, arg := range args {
		r.read(arg)
	}
	switch name {
	case "orValue":
		r.defaultTo(of, args[0])
		return of
	case "or", "value":
		return of
	case sumFunction:
		if of != nil {
			of.each().compare(int64(1))
		}
	}
	return nil
}

// defaultTo notes what an expression takes for a place that is absent: a list, a map or a
// value.
func (r *reader) defaultTo(of *place, value ast.Expr) {
	switch value.Kind() {
	case ast.ListKind:
		of.each()
	case ast.LiteralKind:
		of.compare(literal(value))
	}
}

// compared notes what a place is compared with.
func (r *reader) compared(args []ast.Expr, ordered bool) {
	left, right := r.read(args[0]), r.read(args[1])
	for _, side := range [...]struct {
		at   *place
		with ast.Expr
	}{{left, args[1]}, {right, args[0]}} {
		if side.at == nil {
			continue
		}
		if v := literal(side.with); v != nil {
			side.at.compare(v)
		}
		side.at.number = side.at.number || ordered
	}
}

// contained notes the values that a place may be one of, or the key that a map may have.
func (r *reader) contained(value, list ast.Expr) {
	at, of := r.read(value), r.read(list)
	if name, ok := literal(value).(string); ok && of != nil {
		of.field(name)
	}
	if list.Kind() != ast.ListKind {
		return
	}
	for _, item := range list.AsList().Elements() {
		if v := literal(item); v != nil {
			at.compare(v)
		}
	}
}

// literal returns the value of a literal; nil for another expression.
func literal(e ast.Expr) any {
	if e.Kind() != ast.LiteralKind {
		return nil
	}
	switch v := e.AsLiteral().Value().(type) {
	case string, bool, int64, float64:
		return v
	}
	return nil
}
