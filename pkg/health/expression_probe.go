package health

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The number of objects an expression is evaluated on: for each place that it reads, and at most.
const (
	probesPerPlace = 25
	maxProbes      = 300
)

// Probe evaluates each expression of the rule on objects in which the fields that it reads are, in
// many combinations, absent, null, empty, of a value that it compares with, or of another value of
// the same type. It returns the failures, each expression with each error once. The result is
// deterministic.
func (r Rule) Probe() ([]RuleError, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	c, err := compile(env, &r)
	if err != nil {
		return nil, err
	}
	e := &entry{rule: &r}
	var failures []RuleError
	for field, text := range r.expressions() {
		tree, issues := env.Compile(text)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		p := prober{random: rand.New(rand.NewPCG(1, 2))}
		reads := placesOf(tree)
		for range min(maxProbes, probesPerPlace*reads.count()) {
			body, _ := p.mapOf(reads)
			s := newSubject(probed(body), time.Time{})
			s.fails(e, field, c.evaluate(field, s.variables()))
			if s.failed != nil && !slices.Contains(failures, *s.failed) {
				failures = append(failures, *s.failed)
			}
		}
	}
	return failures, nil
}

// probed returns an object with a generated body.
func probed(body map[string]any) object.Object {
	u := &unstructured.Unstructured{Object: body}
	return object.Object{Meta: u, Body: u}
}

// expressions yields the expressions of the rule with their keys.
func (r *Rule) expressions() func(func(field, text string) bool) {
	return func(yield func(string, string) bool) {
		for _, s := range r.states() {
			if s.text != "" && !yield(s.field, s.text) {
				return
			}
		}
		for _, x := range r.textExpressions() {
			if x.text != "" && !yield(x.field, x.text) {
				return
			}
		}
	}
}

// evaluate evaluates the expression at a key.
func (c *compiled) evaluate(field string, vars map[string]any) error {
	var err error
	program := map[string]cel.Program{messageField: c.message, observedField: c.observed, revisionField: c.revision}[field]
	if program != nil {
		_, _, err = program.Eval(vars)
		return err
	}
	for i := range c.states {
		if c.states[i].field == field {
			_, err = c.states[i].holds(vars, meter{})
		}
	}
	return err
}

// count returns the number of places that are read.
func (p *place) count() int {
	n := 1
	for _, f := range p.fields {
		n += f.count()
	}
	for _, c := range p.conditions {
		n += c.count()
	}
	if p.item != nil {
		n += p.item.count()
	}
	return n
}

// prober generates objects.
type prober struct{ random *rand.Rand }

// value generates the value at a place; false for none.
func (b *prober) value(p *place) (any, bool) {
	switch b.random.IntN(8) {
	case 0:
		return nil, false
	case 1:
		return nil, true
	}
	switch {
	case p.item != nil && p.keyed:
		out := map[string]any{}
		for i, v := range b.list(p.item) {
			out[string(rune('a'+i))] = v
		}
		return out, true
	case p.item != nil:
		return b.list(p.item), true
	case p.fields != nil || p.conditions != nil:
		return b.mapOf(p)
	}
	values := p.candidates()
	return values[b.random.IntN(len(values))], true
}

// list generates up to two items.
func (b *prober) list(item *place) []any {
	out := []any{}
	for range b.random.IntN(3) {
		if v, ok := b.value(item); ok {
			out = append(out, v)
		}
	}
	return out
}

func (b *prober) mapOf(p *place) (map[string]any, bool) {
	out := map[string]any{}
	if b.random.IntN(2) == 0 {
		out["unrelated"] = "other"
	}
	for _, name := range slices.Sorted(maps.Keys(p.fields)) {
		if v, ok := b.value(p.fields[name]); ok {
			out[name] = v
		}
	}
	if p.conditions != nil {
		list, _ := out["conditions"].([]any)
		for _, name := range slices.Sorted(maps.Keys(p.conditions)) {
			if b.random.IntN(3) > 0 {
				condition, _ := b.mapOf(p.conditions[name])
				condition["type"] = name
				list = append(list, condition)
			}
		}
		out["conditions"] = list
	}
	return out, true
}

// candidates returns the values that a place may have: those in the expression, and empty and other
// ones of their type.
func (p *place) candidates() []any {
	var out []any
	for _, v := range p.values {
		switch v.(type) {
		case string:
			out = append(out, v, "", "other")
		case bool:
			out = append(out, true, false)
		case int64, float64:
			out = append(out, v, int64(0), int64(3))
		}
	}
	switch {
	case len(out) > 0:
		return out
	case p.number:
		return []any{int64(0), int64(3)}
	}
	return []any{"", "other"}
}
