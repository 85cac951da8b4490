package crd

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// What Compare calls safe breaks no object that the former schema took whole: none loses a
// field, none is refused. Both are asked of the API server's libraries. And the property is
// not empty: there are many safe changes, many unsafe ones, and unsafe ones that do break.
func TestSafeChangesBreakNothing(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(8, 14))}
	var safe, unsafe, breaking, held int
	for round := range 1200 {
		schema := m.object(3)
		changed := runtime.DeepCopyJSON(schema)
		for range 1 + m.IntN(2) {
			m.mutate(changed)
		}
		was, now := randomDefinition(schema), randomDefinition(changed)
		objects := fitting(m, was, schema)
		broken, err := ValidateExisting(now, objects)
		if err != nil || len(objects) == 0 || !defaultsFit(changed) {
			continue // the API server takes no such schema, or nothing fits it
		}
		changes := compared(t, was, now)
		if Same(was, now) && len(changes) > 0 {
			t.Fatalf("round %d: they are the same, and changes %+v", round, changes)
		}
		switch {
		case len(unsafeOf(changes)) > 0:
			unsafe++
			if len(broken) > 0 {
				breaking++
			}
		case len(broken) > 0:
			before, _ := json.MarshalIndent(schema, "", " ")
			after, _ := json.MarshalIndent(changed, "", " ")
			t.Fatalf("round %d: nothing unsafe, and %s\nchanges %+v\nfrom %s\nto %s", round, broken[0].Message, changes, before, after)
		default:
			safe++
			held += len(objects)
		}
	}
	t.Logf("%d safe (%d objects held), %d unsafe, of which %d break an object", safe, held, unsafe, breaking)
	if safe < 150 || unsafe < 200 || breaking < 100 || held < 1000 {
		t.Errorf("too few to say anything: %d safe (%d objects), %d unsafe, %d breaking", safe, held, unsafe, breaking)
	}
}

// defaultsFit says that each default is one that its schema takes.
func defaultsFit(schema map[string]any) bool {
	for _, s := range nodes(schema) {
		if given := s["default"]; given != nil && !takes(s, given) {
			return false
		}
	}
	return true
}

// fitting makes objects that a definition takes whole.
func fitting(m maker, definition *unstructured.Unstructured, schema map[string]any) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for range 12 {
		u := randomWidget(m.value(schema, 0))
		if u.Object["spec"] == nil {
			delete(u.Object, "spec")
		}
		if broken, err := ValidateExisting(definition, []*unstructured.Unstructured{u}); err == nil && len(broken) == 0 {
			objects = append(objects, u)
		}
	}
	return objects
}

// A definition compared with itself, and with itself as a server returns it, does not change.
func TestNothingChanges(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(3, 9))}
	for range 300 {
		u := randomDefinition(m.object(3))
		b, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again unstructured.Unstructured
		if err := again.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
		if changes := compared(t, u, &again); len(changes) > 0 || !Same(u, &again) {
			t.Fatalf("changes %+v in %s", changes, b)
		}
	}
}

// What the definition does not take does not change what it is given.
func TestValidateExistingLeavesObjectsAlone(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(5, 5))}
	dropped := 0
	for range 300 {
		schema := m.object(3)
		u := randomWidget(m.fields(schema, 50))
		before := u.DeepCopy()
		broken, err := ValidateExisting(randomDefinition(schema), []*unstructured.Unstructured{u})
		if err != nil {
			continue
		}
		for _, b := range broken {
			if b.Lost {
				dropped++
			}
		}
		if !same(before.Object, u.Object) {
			t.Fatalf("%v became %v", before.Object, u.Object)
		}
	}
	if dropped < 30 {
		t.Errorf("only %d fields were lost: nothing is said", dropped)
	}
}
