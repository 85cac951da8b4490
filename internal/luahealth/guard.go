package luahealth

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// One instruction of the virtual machine may ask for any amount of memory: to put two texts
// together, or to set a far index of a table. So these are taken out of a program before it
// is compiled, and calls of functions that count replace them. The functions are
// local variables whose names no program can write.
const (
	joinName  = "(join)"  // a .. b
	tableName = "(table)" // {}
	setName   = "(set)"   // t[i] = v
)

// guarded is the program of a chunk, as a function that is called with the guards, in the
// order of the names above.
func guarded(chunk []ast.Stmt) []ast.Stmt {
	body := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: true}, Stmts: chunk}
	if len(chunk) > 0 {
		body.SetLine(chunk[0].Line())
		body.SetLastLine(chunk[len(chunk)-1].LastLine())
	}
	guardFunction(body)
	return []ast.Stmt{
		&ast.LocalAssignStmt{Names: []string{joinName, tableName, setName}, Exprs: []ast.Expr{&ast.Comma3Expr{}}},
		&ast.ReturnStmt{Exprs: []ast.Expr{&ast.FuncCallExpr{Func: body, AdjustRet: true}}},
	}
}

// guardFunction guards the body of a function. One with variable arguments that does not
// use them would get a table of them at each call (arg, of Lua 5.0): that it uses them is
// made so.
func guardFunction(f *ast.FunctionExpr) {
	guardBlock(f.Stmts)
	if f.ParList.HasVargs {
		use := &ast.LocalAssignStmt{Names: []string{"(arguments)"}, Exprs: []ast.Expr{&ast.Comma3Expr{AdjustRet: true}}}
		at(use, f)
		f.Stmts = append([]ast.Stmt{use}, f.Stmts...)
	}
}

func guardBlock(block []ast.Stmt) {
	for i := range block {
		block[i] = guardStatement(block[i])
	}
}

func guardStatement(stmt ast.Stmt) ast.Stmt {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return guardAssignment(s)
	case *ast.LocalAssignStmt:
		guardAll(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = guardExpression(s.Expr)
	case *ast.FuncDefStmt:
		guardFunction(s.Func)
	case *ast.ReturnStmt:
		guardAll(s.Exprs)
	case *ast.DoBlockStmt:
		guardBlock(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = guardExpression(s.Condition)
		guardBlock(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition = guardExpression(s.Condition)
		guardBlock(s.Stmts)
	case *ast.IfStmt:
		s.Condition = guardExpression(s.Condition)
		guardBlock(s.Then)
		guardBlock(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = guardExpression(s.Init), guardExpression(s.Limit), guardExpression(s.Step)
		guardBlock(s.Stmts)
	case *ast.GenericForStmt:
		guardAll(s.Exprs)
		guardBlock(s.Stmts)
	}
	return stmt
}

func guardAll(exprs []ast.Expr) {
	for i := range exprs {
		exprs[i] = guardExpression(exprs[i])
	}
}

func guardExpression(expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.StringConcatOpExpr:
		return guardJoin(e)
	case *ast.TableExpr:
		return guardTable(e)
	case *ast.FunctionExpr:
		guardFunction(e)
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = guardExpression(e.Func), guardExpression(e.Receiver)
		guardAll(e.Args)
	case *ast.AttrGetExpr:
		e.Object, e.Key = guardExpression(e.Object), guardExpression(e.Key)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = guardExpression(e.Lhs), guardExpression(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = guardExpression(e.Lhs), guardExpression(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = guardExpression(e.Lhs), guardExpression(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = guardExpression(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = guardExpression(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = guardExpression(e.Expr)
	}
	return expr
}

// guardTable makes a call of a constructor, with the items whose keys are computed as its
// arguments, in parts that fit the registers of a function.
func guardTable(e *ast.TableExpr) ast.Expr {
	const most = 80
	var fields []*ast.Field
	var items []ast.Expr
	for i, f := range e.Fields {
		f.Key, f.Value = guardExpression(f.Key), guardExpression(f.Value)
		if _, constant := f.Key.(*ast.StringExpr); f.Key != nil && !constant {
			items = append(items, one(f.Key), one(f.Value))
			continue
		}
		if i < len(e.Fields)-1 {
			one(f.Value) // the last one gives all of its values
		}
		fields = append(fields, f)
	}
	e.Fields = fields
	whole := ast.Expr(e)
	for {
		n := min(most, len(items))
		whole = call(tableName, e, append([]ast.Expr{whole}, items[:n]...)...)
		if items = items[n:]; len(items) == 0 {
			return whole
		}
	}
}

// guardJoin makes one call of a chain a .. b .. c, in parts that fit the registers of a
// function.
func guardJoin(e *ast.StringConcatOpExpr) ast.Expr {
	const most = 50
	var parts []ast.Expr
	for {
		parts = append(parts, one(guardExpression(e.Lhs)))
		next, more := e.Rhs.(*ast.StringConcatOpExpr)
		switch {
		case !more:
			return call(joinName, e, append(parts, one(guardExpression(e.Rhs)))...)
		case len(parts) == most:
			return call(joinName, e, append(parts, guardJoin(next))...)
		}
		e = next
	}
}

// guardAssignment makes calls of the assignments to an index that is computed. Those to
// variables, and to fields whose name is written down, stay as they are.
func guardAssignment(s *ast.AssignStmt) ast.Stmt {
	computed := false
	for i, target := range s.Lhs {
		s.Lhs[i] = guardExpression(target)
		computed = computed || isComputed(s.Lhs[i])
	}
	guardAll(s.Rhs)
	if !computed {
		return s
	}
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		target := s.Lhs[0].(*ast.AttrGetExpr)
		return set(s, target.Object, target.Key, s.Rhs[0])
	}
	// What several are assigned to is found out first, then the values, then they are set.
	block := &ast.DoBlockStmt{}
	at(block, s)
	var values []string
	for i, target := range s.Lhs {
		values = append(values, fmt.Sprintf("(value %d)", i))
		if t, indexed := target.(*ast.AttrGetExpr); indexed {
			object, index := fmt.Sprintf("(object %d)", i), fmt.Sprintf("(index %d)", i)
			block.Stmts = append(block.Stmts, locals(s, []string{object, index}, one(t.Object), one(t.Key)))
			t.Object, t.Key = name(s, object), name(s, index)
		}
	}
	block.Stmts = append(block.Stmts, locals(s, values, s.Rhs...))
	for i, target := range s.Lhs {
		if t, indexed := target.(*ast.AttrGetExpr); indexed {
			block.Stmts = append(block.Stmts, set(s, t.Object, t.Key, name(s, values[i])))
			continue
		}
		plain := &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{name(s, values[i])}}
		at(plain, s)
		block.Stmts = append(block.Stmts, plain)
	}
	return block
}

// isComputed says whether an assignment is to an index that is not written down.
func isComputed(target ast.Expr) bool {
	t, indexed := target.(*ast.AttrGetExpr)
	if !indexed {
		return false
	}
	_, constant := t.Key.(*ast.StringExpr)
	return !constant
}

func set(from ast.PositionHolder, object, index, value ast.Expr) ast.Stmt {
	s := &ast.FuncCallStmt{Expr: call(setName, from, one(object), one(index), one(value))}
	at(s, from)
	return s
}

func locals(from ast.PositionHolder, names []string, values ...ast.Expr) ast.Stmt {
	s := &ast.LocalAssignStmt{Names: names, Exprs: values}
	at(s, from)
	return s
}

// call is the call of a guard, which gives one value.
func call(guard string, from ast.PositionHolder, args ...ast.Expr) ast.Expr {
	c := &ast.FuncCallExpr{Func: name(from, guard), Args: args, AdjustRet: true}
	at(c, from)
	return c
}

func name(from ast.PositionHolder, text string) ast.Expr {
	n := &ast.IdentExpr{Value: text}
	at(n, from)
	return n
}

// one takes the first of the values of an expression.
func one(expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return expr
}

func at(node, from ast.PositionHolder) {
	node.SetLine(from.Line())
	node.SetLastLine(from.LastLine())
}

// guards are the functions that a guarded program is called with.
func (lib *library) guards(l *lua.LState) []lua.LValue {
	return []lua.LValue{l.NewFunction(lib.join), l.NewFunction(lib.table), l.NewFunction(lib.set)}
}

// join puts texts and numbers together, from the right.
func (lib *library) join(l *lua.LState) int {
	last := l.GetTop()
	length, plain := 0, true
	for i := 1; i <= last && plain; i++ {
		value := l.Get(i)
		if plain = lua.LVCanConvToString(value); plain {
			length += len(lua.LVAsString(value))
		}
	}
	if plain {
		lib.text(l, length)
		text := make([]byte, 0, length)
		for i := 1; i <= last; i++ {
			text = append(text, lua.LVAsString(l.Get(i))...)
		}
		l.Push(lua.LString(text))
		return 1
	}
	right := l.Get(last)
	for i := last - 1; i >= 1; i-- {
		right = lib.joinTwo(l, l.Get(i), right)
	}
	l.Push(right)
	return 1
}

func (lib *library) joinTwo(l *lua.LState, lhs, rhs lua.LValue) lua.LValue {
	if lua.LVCanConvToString(lhs) && lua.LVCanConvToString(rhs) {
		a, b := lua.LVAsString(lhs), lua.LVAsString(rhs)
		lib.text(l, len(a)+len(b))
		return lua.LString(a + b)
	}
	method := l.GetMetaField(lhs, "__concat")
	if method == lua.LNil {
		method = l.GetMetaField(rhs, "__concat")
	}
	if method.Type() != lua.LTFunction {
		l.RaiseError("cannot perform concat operation between %s and %s", lhs.Type().String(), rhs.Type().String())
	}
	l.Push(method)
	l.Push(lhs)
	l.Push(rhs)
	l.Call(2, 1)
	joined := l.Get(-1)
	l.Pop(1)
	return joined
}

// What a table and an item of it take, at most, by measurement. Most of a table is the two
// maps that it has once a field of it is set.
const (
	tableBytes = 4 << 10
	itemBytes  = 128
	slotBytes  = 16
)

// table counts a table that was made, and sets the items that follow it.
func (lib *library) table(l *lua.LState) int {
	t := l.CheckTable(1)
	lib.allocate(l, tableBytes+slotBytes*t.Len())
	for i := 2; i < l.GetTop(); i += 2 {
		lib.put(l, t, l.Get(i), l.Get(i+1))
	}
	l.SetTop(1)
	return 1
}

// set assigns to an index, as the instruction does that it replaces.
func (lib *library) set(l *lua.LState) int {
	const longestChain = 100
	object, index, value := l.Get(1), l.Get(2), l.Get(3)
	for range longestChain {
		t, isTable := object.(*lua.LTable)
		if isTable && t.RawGet(index) != lua.LNil {
			lib.put(l, t, index, value)
			return 0
		}
		handler := l.GetMetaField(object, "__newindex")
		switch {
		case handler == lua.LNil && !isTable:
			l.RaiseError("attempt to index a non-table object(%s) with key '%s'", object.Type().String(), short(index.String()))
		case handler == lua.LNil:
			lib.put(l, t, index, value)
			return 0
		case handler.Type() == lua.LTFunction:
			for _, v := range []lua.LValue{handler, object, index, value} {
				l.Push(v)
			}
			l.Call(3, 0)
			return 0
		}
		object = handler
	}
	l.RaiseError("too many recursions in settable")
	return 0
}

// put sets an item of a table. A table fills the gap to a far index.
func (lib *library) put(l *lua.LState, t *lua.LTable, index, value lua.LValue) {
	need := itemBytes
	if n, number := index.(lua.LNumber); number && n > 1 {
		need += slotBytes * int(max(0, min(n, 1<<40)-lua.LNumber(t.Len())))
	}
	lib.allocate(l, need)
	l.RawSet(t, index, value)
}
