package regulate

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// notTaken is an error where a field is after a write as it was before: the API server takes
// what the schema does not know, and what it ignores (a status without its subresource), and
// says nothing of it. What it made something else of is accepted: it fills in, and writes
// values in its own way.
func notTaken(intended []Change, t Target, before, after map[string]any) error {
	for i := range intended {
		c := &intended[i]
		if c.claims() || c.means(c.Before) {
			continue
		}
		if _, was := c.compare(after); !was {
			continue
		}
		if _, was := c.compare(before); was {
			return permanent("the API server accepted the write and dropped %s of %s: the kind has no such field in this version, or a webhook or controller reverts it", strings.Join(tokens(c.Path), "."), t)
		}
	}
	return nil
}

// means says that a value is the same as what is intended, to an API server: nothing and an
// empty value are one, and quantities and durations can be written in many ways.
func (c *Change) means(v any) bool {
	if !c.ExistedBefore || !c.ExistsAfter {
		return c.ExistedBefore == c.ExistsAfter || empty(c.Before) && empty(c.After)
	}
	a, ok := v.(string)
	b, isString := c.After.(string)
	if !ok || !isString {
		return empty(v) && empty(c.After)
	}
	p, err := resource.ParseQuantity(a)
	q, err2 := resource.ParseQuantity(b)
	if err == nil && err2 == nil {
		return p.Cmp(q) == 0
	}
	d, err := time.ParseDuration(a)
	e, err2 := time.ParseDuration(b)
	return err == nil && err2 == nil && d == e
}

func empty(v any) bool {
	for _, none := range []any{nil, false, 0, "", map[string]any{}, []any{}} {
		if same(v, none) {
			return true
		}
	}
	return false
}

// checkAnswer says what was dropped of a write, when its answer is the image of it already.
// What else was written is undone then with the rest of the hold.
func (x *run) checkAnswer(it *item, intended []Change, before map[string]any, after *unstructured.Unstructured) error {
	err := notTaken(intended, it.op.Target, before, after.Object)
	if err != nil {
		for _, c := range it.op.Changes {
			it.partly = it.partly || !c.claims()
		}
	}
	return err
}
