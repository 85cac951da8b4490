package journal

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// saved is a cluster with a document that a process wrote.
func saved(t *testing.T, items ...string) *memoryMap {
	t.Helper()
	m := &memoryMap{}
	s := storeOn(m)
	l, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.Items = items
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return m
}

// edited is what somebody does who may write ConfigMaps.
func edited(t *testing.T, m *memoryMap, edit func(data map[string]string)) {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(m.object, "data")
	if err != nil {
		t.Fatal(err)
	}
	edit(data)
	o := m.is()
	if err := unstructured.SetNestedStringMap(o.Object, data, "data"); err != nil {
		t.Fatal(err)
	}
	m.write(o.Object)
}

func loads(t *testing.T, m *memoryMap) (*list, error) {
	t.Helper()
	return storeOn(m).Load(t.Context())
}

func TestSigned(t *testing.T) {
	m := saved(t, "a")
	key := m.secret().is()
	if len(m.secret().object) == 0 || key.GetName() != "sysop-shop-journal-key" || key.GetLabels()["of"] != "shop" {
		t.Fatalf("the key: %v", key)
	}
	if immutable, _, _ := unstructured.NestedBool(key.Object, "immutable"); !immutable {
		t.Error("the key may be changed")
	}
	l, err := loads(t, m)
	if err != nil || l.Trust() != Verified || l.NeedsConsent() {
		t.Errorf("%+v, %v", l, err)
	}
	large := saved(t, strings.Repeat("same ", 100_000))
	if l, err = loads(t, large); err != nil || l.Trust() != Verified {
		t.Errorf("a compressed one: %v", err)
	}
}

// Whatever somebody writes who may write ConfigMaps and may not read the key is refused.
func TestForged(t *testing.T) {
	const planted = `{"apiVersion":"sysop.dev/v1","kind":"List","items":["mine"]}`
	another := saved(t, "mine")
	theirs, _, _ := unstructured.NestedString(another.object, "data", macKey)
	for name, edit := range map[string]func(map[string]string){
		"another document":               func(d map[string]string) { d[documentKey] = planted },
		"no signature":                   func(d map[string]string) { delete(d, macKey) },
		"another, without signature":     func(d map[string]string) { d[documentKey] = planted; delete(d, macKey) },
		"another, and its own signature": func(d map[string]string) { d[documentKey], d[macKey] = planted, theirs },
		"an empty signature":             func(d map[string]string) { d[macKey] = "" },
		"one byte":                       func(d map[string]string) { d[documentKey] += " " },
		"no JSON":                        func(d map[string]string) { d[documentKey] = "{" },
	} {
		m := saved(t, "a")
		edited(t, m, edit)
		before := m.version
		l, err := loads(t, m)
		forged := new(ForgedError)
		if !errors.As(err, &forged) || l != nil {
			t.Errorf("%s: %+v, %v", name, l, err)
			continue
		}
		for _, says := range []string{"configmap prod/sysop-shop-journal", "secret sysop-shop-journal-key", "kubectl get configmap/sysop-shop-journal -n prod -o yaml", "fix by hand", "delete it"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q is not in %v", name, says, err)
			}
		}
		if err := storeOn(m).Save(t.Context(), new(list)); !errors.As(err, new(*ConflictError)) || m.version != before {
			t.Errorf("%s: overwritten: %v", name, err)
		}
	}
}

// A signature is that of one place and one kind of document.
func TestSignatureIsOfAPlace(t *testing.T) {
	m := saved(t, "a")
	for name, change := range map[string]func(s *Store[list]){
		"another name":      func(s *Store[list]) { s.place.Name = "sysop-bank-journal" },
		"another namespace": func(s *Store[list]) { s.place.Namespace = "test" },
		"another kind":      func(s *Store[list]) { s.format.Kind = "Set" },
		"another version":   func(s *Store[list]) { s.format.APIVersion = "sysop.dev/v2" },
	} {
		s := storeOn(m)
		change(s)
		if _, err := s.Load(t.Context()); !errors.As(err, new(*ForgedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unsigned is a cluster with a document of an older version.
func unsigned(items string) *memoryMap {
	m := &memoryMap{}
	m.write(map[string]any{"metadata": map[string]any{"name": "sysop-shop-journal"}, "data": map[string]any{documentKey: `{"apiVersion":"sysop.dev/v1","kind":"List"` + items + `}`}})
	return m
}

// An unsigned document is shown; one with something pending is not acted on before somebody
// agreed, and then signed.
func TestUnsigned(t *testing.T) {
	m := unsigned(`,"items":["a"]`)
	s := storeOn(m)
	l, err := s.Load(t.Context())
	if err != nil || l.Trust() != Unsigned || !l.NeedsConsent() {
		t.Fatalf("%+v, %v", l, err)
	}
	l.Items = nil
	if err := s.Save(t.Context(), l); !errors.As(err, new(*UnsignedError)) || m.version != 1 || m.secret().object != nil {
		t.Fatalf("saved without consent: %v", err)
	}
	s.Accept(l)
	if again, err := s.Load(t.Context()); err != nil || again.NeedsConsent() {
		t.Errorf("asked twice: %v", err)
	}
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if l, err := loads(t, m); err != nil || l.Trust() != Verified {
		t.Errorf("it is not signed: %v", err)
	}
	// Another one that is written meanwhile was not agreed to.
	m = unsigned(`,"items":["a"]`)
	s = storeOn(m)
	if l, err = s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Accept(l)
	m.write(unsigned(`,"items":["b"]`).object)
	if l, err = s.Load(t.Context()); err != nil || !l.NeedsConsent() {
		t.Errorf("another one: %+v, %v", l, err)
	}
	// One with nothing pending is adopted silently.
	m = unsigned("")
	s = storeOn(m)
	if l, err = s.Load(t.Context()); err != nil || l.NeedsConsent() {
		t.Fatalf("%+v, %v", l, err)
	}
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if l, err := loads(t, m); err != nil || l.Trust() != Verified {
		t.Errorf("not adopted: %v", err)
	}
}

// Whoever is killed between the key and the journal leaves one that is unsigned, not forged;
// what is written then by somebody else is.
func TestKilledWhileItIsAdopted(t *testing.T) {
	m := unsigned(`,"items":["a"]`)
	s := storeOn(m)
	l, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Accept(l)
	m.fail = map[string]func(func()) error{"update": denied}
	if err := s.Save(t.Context(), l); err == nil || m.secret().object == nil {
		t.Fatalf("%v, key %v", err, m.secret().object)
	}
	m.fail = nil
	if l, err = loads(t, m); err != nil || !l.NeedsConsent() {
		t.Errorf("%+v, %v", l, err)
	}
	edited(t, m, func(d map[string]string) { d[documentKey] += " " })
	if _, err = loads(t, m); !errors.As(err, new(*ForgedError)) {
		t.Errorf("another one: %v", err)
	}
}

// That the key may not be read is not that there is none: the document can be seen, and
// nothing is written.
func TestKeyThatMayNotBeRead(t *testing.T) {
	for name, m := range map[string]*memoryMap{"signed": saved(t, "a"), "no key": unsigned(`,"items":["a"]`), "forged": saved(t)} {
		edited(t, m, func(d map[string]string) {
			if name == "forged" {
				d[documentKey] = `{"apiVersion":"sysop.dev/v1","kind":"List","items":["a"]}`
			}
		})
		m.secret().fail = map[string]func(func()) error{"get": denied}
		s, version := storeOn(m), m.version
		l, err := s.Load(t.Context())
		if err != nil || l.Trust() != Unverified || len(l.Items) != 1 {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		err = s.Save(t.Context(), l)
		if !errors.As(err, new(*KeyError)) || !strings.Contains(err.Error(), "get of secret sysop-shop-journal-key in prod") || m.version != version {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := &memoryMap{}
	m.secret().fail = map[string]func(func()) error{"get": denied}
	if err := storeOn(m).Save(t.Context(), &list{Items: []string{"a"}}); !errors.As(err, new(*KeyError)) || m.object != nil {
		t.Errorf("the first one: %v", err)
	}
}

// Who may not make a key writes unsigned; this process knows its own, another one asks.
func TestKeyThatMayNotBeMade(t *testing.T) {
	m := &memoryMap{}
	m.secret().fail = map[string]func(func()) error{"create": denied}
	s := storeOn(m)
	l := &list{Items: []string{"a"}}
	for range 2 {
		if err := s.Save(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	if m.secret().count["create"] != 1 {
		t.Errorf("it was tried %d times", m.secret().count["create"])
	}
	if l, err := s.Load(t.Context()); err != nil || l.NeedsConsent() {
		t.Errorf("its own: %+v, %v", l, err)
	}
	if l, err := loads(t, m); err != nil || !l.NeedsConsent() {
		t.Errorf("another process: %+v, %v", l, err)
	}
}

// The requests for the key are made again like those for the journal.
func TestKeyUnderFaults(t *testing.T) {
	for name, fail := range map[string]map[string]func(func()) error{
		"the answer to create is lost": {"create 1": lost},
		"create is dropped":            {"create 1": dropped},
		"the server restarts":          {"get 1": starting, "get 2": starting, "create 1": starting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryMap{}
				m.secret().fail = fail
				if err := storeOn(m).Save(t.Context(), &list{Items: []string{"a"}}); err != nil {
					t.Fatal(err)
				}
				if l, err := loads(t, m); err != nil || l.Trust() != Verified {
					t.Errorf("%+v, %v", l, err)
				}
			})
		})
	}
}

// What stands in place of a key and is none is neither a key nor no key.
func TestKeyThatIsNone(t *testing.T) {
	m := saved(t, "a")
	o := m.secret().is()
	unstructured.RemoveNestedField(o.Object, "data", secretKey)
	m.secret().write(o.Object)
	if _, err := loads(t, m); !errors.Is(err, errNoKey) {
		t.Errorf("loaded: %v", err)
	}
}

func TestRemove(t *testing.T) {
	m := saved(t, "a")
	s := storeOn(m)
	l, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	edited(t, m, func(map[string]string) {})
	if err := s.Remove(t.Context(), l); !errors.As(err, new(*ConflictError)) || m.object == nil || m.secret().object == nil {
		t.Fatalf("written without the key: %v", err)
	}
	if l, err = s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), l); err != nil || m.object != nil || m.secret().object != nil {
		t.Errorf("%v: %v, %v", err, m.object, m.secret().object)
	}
}
