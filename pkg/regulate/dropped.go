package regulate

import (
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// notTaken returns an error if a field is unchanged after a write: the API server drops fields
// that the schema does not have or that it ignores (a status without its subresource), and
// reports nothing. Another value is accepted: the server sets defaults and normalizes values.
func notTaken(intended []patch.Change, t Target, before, after map[string]any) error {
	for i := range intended {
		c := &intended[i]
		if c.Claims() || means(c, c.Before) {
			continue
		}
		if _, was := c.Compare(after); !was {
			continue
		}
		if _, was := c.Compare(before); was {
			return permanent("the API server accepted the write and dropped %s of %s: the kind has no such field in this version, or a webhook or controller reverts it", strings.Join(patch.Tokens(c.Path), "."), t)
		}
	}
	return nil
}

// means reports that an API server treats two values as equal: absent and empty, or two
// spellings of a quantity or duration.
func means(c *patch.Change, v any) bool {
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
		if patch.Equal(v, none) {
			return true
		}
	}
	return false
}

// checkAnswer returns which fields of a write were dropped, once the operation has its response.
// The other fields are undone with the rest of the hold.
func (x *run) checkAnswer(it *item, intended []patch.Change, before map[string]any, after *unstructured.Unstructured) error {
	err := notTaken(intended, it.op.Target, before, after.Object)
	if err != nil {
		for _, c := range it.op.Changes {
			it.partly = it.partly || !c.Claims()
		}
	}
	return err
}
