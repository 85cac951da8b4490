package field

import (
	"errors"
	"slices"
	"testing"
)

// FuzzPath: what is read as a path is written so that it reads the same.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"spec.a.b", "spec.users[].name", "a.*.b", "*", `["*"]`, `a["b/c"][0][*]`, `['"']`, "a[", "ü.ß", "a..b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(p.String())
		if err != nil || !slices.Equal(p.steps, again.steps) {
			t.Errorf("%q is written %q: %v", text, p, err)
		}
		for range p.Find(map[string]any{"a": []any{map[string]any{"b": "c"}}}) {
			continue
		}
	})
}
