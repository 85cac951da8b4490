package patch

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// What Diff finds makes one object of the other (again), and Undo takes it back.
func TestDiff(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"nothing", `{a: 1, m: {}}`, `{a: 1.0, m: {}}`, ``},
		{"made", `{}`, `{metadata: {annotations: {a/b: x, c~d: y}}}`, "/metadata/annotations/a~1b made 2, /metadata/annotations/c~0d made 2, "},
		{"taken away", `{m: {a: {b: 1}}}`, `{m: {}}`, "/m/a was, "},
		{"replaced", `{m: {a: 1}}`, `{m: 2}`, "/m was, "},
		{"null", `{a: 1}`, `{a: null}`, "/a was, "},
		{"items by name", `{l: [{name: x, v: 1}, {name: z, v: 1}]}`, `{l: [{name: x, v: 1}, {name: z, v: 2}]}`, "/l/1/v was at z, "},
		{"other items", `{l: [{name: x, v: 1}]}`, `{l: [{name: z, v: 1}]}`, "/l was, "},
		{"longer", `{l: [1]}`, `{l: [1, 2]}`, "/l was, "},
		{"by index", `{l: [1, {a: 1}]}`, `{l: [3, {a: 2}]}`, "/l/0 was, /l/1/a was, "},
		{"empty mapping", `{}`, `{m: {k: {}}}`, "/m/k made 1, "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := parsed(t, tt.before), parsed(t, tt.after)
			changes := Diff(before, after)
			got := ""
			for _, c := range changes {
				got += c.Path
				if c.ExistedBefore {
					got += " was"
				}
				if c.CreatedParents > 0 {
					got += " made " + string(rune('0'+c.CreatedParents))
				}
				for _, name := range c.Items {
					got += " at " + name
				}
				got += ", "
			}
			if got != tt.want {
				t.Errorf("changes %q, want %q", got, tt.want)
			}
			if back, verdicts := Undo(changes, after, false); !Equal(back, before) {
				t.Errorf("taken back: %v (%v), want %v", back, verdicts, before)
			}
		})
	}
}

// An item that has moved is found by its name; one that is gone is left, as is what
// somebody changed.
func TestUndoMoved(t *testing.T) {
	changes := Diff(parsed(t, `{l: [{name: x, v: 1}]}`), parsed(t, `{l: [{name: x, v: 2}]}`))
	for live, want := range map[string]string{
		`{l: [{name: new, v: 2}, {name: x, v: 2}]}`: `{l: [{name: new, v: 2}, {name: x, v: 1}]}`,
		`{l: [{name: new, v: 2}]}`:                  `{l: [{name: new, v: 2}]}`,
		`{l: [{name: x, v: 3}]}`:                    `{l: [{name: x, v: 3}]}`,
	} {
		if got, verdicts := Undo(changes, parsed(t, live), false); !Equal(got, parsed(t, want)) {
			t.Errorf("%s: %v (%v), want %s", live, got, verdicts, want)
		}
	}
}

func parsed(t *testing.T, doc string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	v, err := Normal(m)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}
