package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// maxCost limits one evaluation, in CEL's units (about one for each step), so that no user's
// expression can hang. Real ones take tens.
const maxCost = 1_000_000

const (
	messageField      = "message"
	observedField     = "observed"
	revisionField     = "revision"
	conditionFunction = "condition"
	sumFunction       = "sum"
)

// ExpressionError is an expression that is refused.
type ExpressionError struct {
	Kind  string // of the rule: Kind.group
	Field string // of the rule: degraded, message, ...
	// Line and Column count from 1, in the text of the expression.
	Line, Column int
	Message      string
}

func (e *ExpressionError) Error() string {
	return fmt.Sprintf("compile the health rule of %s: %s, line %d, column %d: %s", e.Kind, e.Field, e.Line, e.Column, e.Message)
}

// environment is created once: that takes longer than all rules of a cluster.
var environment = sync.OnceValues(newEnvironment)

// newEnvironment declares the names for expressions: self, metadata, spec and status, which are
// maps, optional fields, the string functions, condition and sum.
func newEnvironment() (*cel.Env, error) {
	fields := cel.MapType(cel.StringType, cel.DynType)
	env, err := cel.NewEnv(
		cel.Variable("self", fields), cel.Variable("metadata", fields), cel.Variable("spec", fields), cel.Variable("status", fields),
		cel.OptionalTypes(),
		ext.Strings(),
		cel.CrossTypeNumericComparisons(true),
		cel.Function(conditionFunction, cel.MemberOverload("map_condition_string",
			[]*cel.Type{fields, cel.StringType}, cel.MapType(cel.StringType, cel.StringType),
			cel.BinaryBinding(celCondition))),
		cel.Function(sumFunction, cel.MemberOverload("list_sum", []*cel.Type{cel.ListType(cel.DynType)}, cel.IntType, cel.UnaryBinding(celSum))),
	)
	if err != nil {
		return nil, fmt.Errorf("create the environment of health rules: %w", err)
	}
	return env, nil
}

// celCondition is the function condition: the condition of a type, in any map with a list of
// conditions. An absent one has empty texts.
func celCondition(object, name ref.Val) ref.Val {
	fields, _ := object.Value().(map[string]any)
	c := conditionOf(fields, fmt.Sprint(name.Value()))
	out := make(map[string]string, len(conditionKeys))
	for _, key := range conditionKeys {
		out[key], _ = c[key].(string)
	}
	return types.NewStringStringMap(types.DefaultTypeAdapter, out)
}

// celSum is the function sum: of a list of whole numbers.
func celSum(list ref.Val) ref.Val {
	var sum int64
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		n, ok := it.Next().Value().(int64)
		if !ok {
			return types.NewErr("sum: expected whole numbers")
		}
		sum += n
	}
	return types.Int(sum)
}

var conditionKeys = [...]string{"type", "status", "reason", "message", "lastTransitionTime"}

// expression is a compiled expression.
type expression struct {
	field   string
	status  Status
	program cel.Program
	// silent is the program for objects without a status; nil if the expression does not read it.
	silent cel.Program
	// conditions are the types of conditions that it reads by name.
	conditions []string
}

// newExpression compiles the text in a field of a rule.
func newExpression(env *cel.Env, field, text string) (expression, *ExpressionError) {
	refuse := func(line, column int, message string) (expression, *ExpressionError) {
		return expression{}, &ExpressionError{Field: field, Line: max(line, 1), Column: max(column, 1), Message: message}
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return refuse(first.Location.Line(), first.Location.Column()+1, oneLine(first.Message))
	}
	if wrong := checkOutput(field, compiled.OutputType()); wrong != "" {
		return refuse(1, 1, wrong)
	}
	program, err := env.Program(compiled, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return refuse(1, 1, oneLine(err.Error()))
	}
	e := expression{field: field, program: program}
	root := ast.NavigateAST(compiled.NativeRep())
	if slices.ContainsFunc(ast.MatchDescendants(root, ast.KindMatcher(ast.IdentKind)), looksAtStatus) {
		e.silent, err = env.Program(compiled, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(maxCost))
		if err != nil {
			return refuse(1, 1, oneLine(err.Error()))
		}
	}
	for _, call := range ast.MatchDescendants(root, ast.FunctionMatcher(conditionFunction)) {
		if arg := call.AsCall().Args()[0]; arg.Kind() == ast.LiteralKind {
			name := fmt.Sprint(arg.AsLiteral().Value())
			if !slices.Contains(e.conditions, name) {
				e.conditions = append(e.conditions, name)
			}
		}
	}
	return e, nil
}

// checkOutput returns the error in the type of an expression's result, or "".
func checkOutput(field string, out *cel.Type) string {
	switch field {
	case messageField, revisionField:
		if !out.IsExactType(cel.StringType) && !out.IsExactType(cel.DynType) {
			return fmt.Sprintf("it gives a %s: expected a string; string(...) makes one", out)
		}
	case observedField:
		if !out.IsExactType(cel.IntType) && !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
			return fmt.Sprintf("it gives a %s: expected the generation that the status is of, an int, or whether it is of the present one, a bool", out)
		}
	default:
		if !out.IsExactType(cel.BoolType) {
			return fmt.Sprintf("it gives a %s: expected a bool; compare it with a value, as in status.ready == true", out)
		}
	}
	return ""
}

func looksAtStatus(id ast.NavigableExpr) bool {
	return id.AsIdent() == "status" || id.AsIdent() == "self"
}

// holds reports whether the expression is true of an object. The status of an object without one is
// unknown, not empty: the expression is true only if it is true for every status. So a rule need
// not guard against a missing status.
func (e *expression) holds(vars map[string]any, budget meter) (bool, error) {
	if e.silent != nil && len(mapAt(vars, "status")) == 0 {
		vars, err := cel.PartialVars(vars, cel.AttributePattern("status"), cel.AttributePattern("self").QualString("status"))
		if err != nil {
			return false, err
		}
		out, err := budget.eval(e.silent, vars)
		if err != nil {
			return false, err
		}
		return out.Value() == true, nil
	}
	out, err := budget.eval(e.program, vars)
	if err != nil {
		return false, err
	}
	matches, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it gives a %s, not a bool", out.Type().TypeName())
	}
	return matches, nil
}

// say returns the text of a message expression for an object.
func say(program cel.Program, vars map[string]any, budget meter) (string, error) {
	out, err := budget.eval(program, vars)
	if err != nil {
		return "", err
	}
	if s, ok := out.Value().(string); ok {
		return s, nil
	}
	if out.Type() == types.NullType {
		return "", nil
	}
	return "", errors.New("it gives a " + out.Type().TypeName() + ", not a string")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
