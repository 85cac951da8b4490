package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// memoryMap is a ConfigMap of an API server, with its precondition, and what goes wrong with
// the nth request of a verb.
type memoryMap struct {
	dynamic.ResourceInterface
	object  map[string]any
	version int
	fail    map[string]func(do func()) error // by verb and number: patch 1
	count   map[string]int
	// keys is the Secret beside it.
	keys *memoryMap
}

func (m *memoryMap) secret() *memoryMap {
	if m.keys == nil {
		m.keys = &memoryMap{}
	}
	return m.keys
}

var errCut = errors.New("connection reset by peer")

// lost does it and loses the answer; dropped does not do it.
func lost(do func()) error  { do(); return errCut }
func dropped(func()) error  { return errCut }
func denied(func()) error   { return apierrors.NewForbidden(configMaps.GroupResource(), "x", nil) }
func starting(func()) error { return apierrors.NewServiceUnavailable("starting") }

func (m *memoryMap) request(verb string, do func() error) error {
	if m.count == nil {
		m.count = map[string]int{}
	}
	m.count[verb]++
	f := m.fail[verb+" "+strconv.Itoa(m.count[verb])]
	if f == nil {
		f = m.fail[verb]
	}
	if f == nil {
		return do()
	}
	return f(func() { _ = do() })
}

func (m *memoryMap) write(o map[string]any) {
	m.version++
	m.object = (&unstructured.Unstructured{Object: o}).DeepCopy().Object
	_ = unstructured.SetNestedField(m.object, strconv.Itoa(m.version), "metadata", "resourceVersion")
}

func (m *memoryMap) is() *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: m.object}).DeepCopy()
}

func (m *memoryMap) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (out *unstructured.Unstructured, err error) {
	err = m.request("get", func() error {
		if m.object == nil {
			return apierrors.NewNotFound(configMaps.GroupResource(), name)
		}
		out = m.is()
		return nil
	})
	return out, err
}

func (m *memoryMap) Create(_ context.Context, o *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (out *unstructured.Unstructured, err error) {
	err = m.request("create", func() error {
		if m.object != nil {
			return apierrors.NewAlreadyExists(configMaps.GroupResource(), o.GetName())
		}
		m.write(o.Object)
		out = m.is()
		return nil
	})
	return out, err
}

func (m *memoryMap) Delete(_ context.Context, name string, o metav1.DeleteOptions, _ ...string) error {
	return m.request("delete", func() error {
		switch {
		case m.object == nil:
			return apierrors.NewNotFound(configMaps.GroupResource(), name)
		case o.Preconditions != nil && *o.Preconditions.ResourceVersion != m.is().GetResourceVersion():
			return apierrors.NewConflict(configMaps.GroupResource(), name, errors.New("it has been modified"))
		}
		m.object = nil
		return nil
	})
}

func (m *memoryMap) Update(_ context.Context, o *unstructured.Unstructured, uo metav1.UpdateOptions, _ ...string) (out *unstructured.Unstructured, err error) {
	if uo.FieldManager != "test" {
		return nil, fmt.Errorf("written by %q", uo.FieldManager)
	}
	err = m.request("update", func() error {
		if m.object == nil {
			return apierrors.NewNotFound(configMaps.GroupResource(), o.GetName())
		}
		if want := o.GetResourceVersion(); want == "" || want != m.is().GetResourceVersion() {
			return apierrors.NewConflict(configMaps.GroupResource(), o.GetName(), errors.New("it has been modified"))
		}
		m.write(o.Object)
		out = m.is()
		return nil
	})
	return out, err
}

// list is a document.
type list struct {
	Revision `json:"-"`
	Items    []string `json:"items,omitempty"`
}

type storedList struct {
	Header `json:",inline"`
	*list  `json:",inline"`
}

func listFormat() Format[list] {
	return Format[list]{
		Header:   Header{APIVersion: "sysop.dev/v1", Kind: "List"},
		New:      func() *list { return new(list) },
		Revision: func(l *list) *Revision { return &l.Revision },
		Inline:   func(h Header, l *list) any { return &storedList{h, l} },
		Valid: func(l *list) error {
			if slices.Contains(l.Items, "") {
				return errors.New("an item is empty")
			}
			return nil
		},
		Open:    "was begun",
		Pending: func(l *list) bool { return len(l.Items) > 0 },
		Summary: func(l *list) map[string]string { return map[string]string{"count": strconv.Itoa(len(l.Items))} },
	}
}

func storeOn(m *memoryMap) *Store[list] {
	return &Store[list]{place: Place{Namespace: "prod", Name: "sysop-shop-journal", Labels: map[string]string{"of": "shop"}, FieldManager: "test"}, format: listFormat(), client: m, keys: m.secret(), Limit: DefaultLimit}
}

func TestStoreRoundTrip(t *testing.T) {
	m := &memoryMap{}
	s := storeOn(m)
	l, err := s.Load(t.Context())
	if err != nil || len(l.Items) != 0 || l.Version() != "" {
		t.Fatalf("where there is none: %+v, %v", l, err)
	}
	l.Items = []string{"a", "b"}
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(t.Context())
	if err != nil || !same(got, l) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, l)
	}
	if text, _, _ := unstructured.NestedString(m.object, "data", documentKey); text != `{"apiVersion":"sysop.dev/v1","kind":"List","items":["a","b"]}` {
		t.Errorf("stored: %s", text)
	}
	if count, _, _ := unstructured.NestedString(m.object, "data", "count"); count != "2" || m.is().GetLabels()["of"] != "shop" {
		t.Errorf("count %q, labels %v", count, m.is().GetLabels())
	}
}

// What somebody else wrote beside the document stays.
func TestStoreKeepsLabelsOfOthers(t *testing.T) {
	m := &memoryMap{}
	s := storeOn(m)
	l, _ := s.Load(t.Context())
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	labeled := m.is()
	labeled.SetLabels(map[string]string{"of": "changed", "team": "a"})
	labeled.SetAnnotations(map[string]string{"note": "b"})
	m.write(labeled.Object)
	l, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if is := m.is(); is.GetLabels()["of"] != "shop" || is.GetLabels()["team"] != "a" || is.GetAnnotations()["note"] != "b" {
		t.Errorf("%v %v", is.GetLabels(), is.GetAnnotations())
	}
}

// What cannot be read is an error that names it and a way out, and is not overwritten.
func TestStoreThatCannotBeRead(t *testing.T) {
	for text, says := range map[string]string{
		"":   "it has no journal.json",
		"{":  "unexpected end",
		"{}": "another version",
		`{"apiVersion":"sysop.dev/v2","kind":"List"}`:                          "another version",
		`{"apiVersion":"sysop.dev/v1","kind":"Set"}`:                           "another version",
		`{"apiVersion":"sysop.dev/v1","kind":"List","more":1}`:                 "newer version",
		`{"apiVersion":"sysop.dev/v1","kind":"List","Items":["a"]}`:            "newer version",
		`{"apiVersion":"sysop.dev/v1","kind":"List","items":["a",""]}`:         "an item is empty",
		`{"apiVersion":"sysop.dev/v1","kind":"List","items":["a"],"items":[]}`: "duplicate",
	} {
		m := &memoryMap{}
		m.write(map[string]any{"metadata": map[string]any{"name": "x"}, "data": map[string]any{documentKey: text}})
		s := storeOn(m)
		l, err := s.Load(t.Context())
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "configmap prod/sysop-shop-journal") || !strings.Contains(err.Error(), "fix by hand what it says was begun, then delete it") {
			t.Errorf("%s: got %+v, %v, want %q", text, l, err, says)
		}
		if err := s.Save(t.Context(), new(list)); !errors.As(err, new(*ConflictError)) {
			t.Errorf("%s: overwritten: %v", text, err)
		}
	}
}

func TestStoreSize(t *testing.T) {
	m := &memoryMap{}
	s := storeOn(m)
	l := &list{Items: []string{strings.Repeat("same ", 100_000)}}
	if err := s.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	data, _, _ := unstructured.NestedMap(m.object, "data")
	binary, _, _ := unstructured.NestedMap(m.object, "binaryData")
	if data[documentKey] != nil || binary[compressedKey] == nil {
		t.Error("a large one is not compressed")
	}
	got, err := s.Load(t.Context())
	if err != nil || !same(got, l) {
		t.Fatalf("it does not come back: %v", err)
	}
	got.Items = nil
	if err := s.Save(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Load(t.Context()); err != nil || got.Items != nil {
		t.Errorf("small again: %v", err)
	}
	var b strings.Builder
	for i := uint64(1); b.Len() < 4<<20; i = i*6364136223846793005 + 1442695040888963407 {
		fmt.Fprintf(&b, "%x", i)
	}
	version := m.version
	got.Items = []string{b.String()}
	if err := s.Save(t.Context(), got); err == nil || !strings.Contains(err.Error(), "a ConfigMap holds") || m.version != version {
		t.Errorf("too large: %v", err)
	}
}

// A gzip that unpacks to more than any journal has is no journal.
func TestDecompressBounded(t *testing.T) {
	zip, err := compress(make([]byte, maxDecompressed+1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decompress(zip); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("error %v", err)
	}
}

func TestSaveUnderFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		fail     map[string]func(func()) error
		between  func(m *memoryMap) // between loading and saving, on a journal that is there
		fresh    bool               // there is none yet
		conflict bool
		err      string
		writes   int // of journals
	}{
		{name: "nothing", writes: 1},
		{name: "the answer is lost", fail: map[string]func(func()) error{"update 1": lost}, writes: 1},
		{name: "the request is dropped", fail: map[string]func(func()) error{"update 1": dropped}, writes: 2},
		{name: "dropped, then lost", fail: map[string]func(func()) error{"update 1": dropped, "update 2": lost}, writes: 2},
		{name: "lost, and the server restarts", fail: map[string]func(func()) error{"update 1": lost, "get 1": starting, "update 2": starting, "get 2": starting}, writes: 3},
		{name: "the server restarts", fail: map[string]func(func()) error{"update 1": starting, "update 2": starting, "update 3": starting}, writes: 4},
		{name: "the first one: the answer to create is lost", fresh: true, fail: map[string]func(func()) error{"create 1": lost}},
		{name: "the first one: create is dropped", fresh: true, fail: map[string]func(func()) error{"create 1": dropped}},
		{name: "forbidden", fail: map[string]func(func()) error{"update": denied}, err: "forbidden", writes: 1},
		{name: "the server stays away", fail: map[string]func(func()) error{"update": starting}, err: "starting", writes: 20},
		{name: "another run wrote", between: func(m *memoryMap) { other(t, m) }, conflict: true, writes: 1},
		{name: "another run made it", fresh: true, between: func(m *memoryMap) { other(t, m) }, conflict: true},
		{name: "an older version was killed while it made it", fresh: true, between: func(m *memoryMap) {
			m.write(map[string]any{"metadata": map[string]any{"name": "x"}})
		}, writes: 1},
		{name: "it was deleted", between: func(m *memoryMap) { m.object = nil }, writes: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryMap{}
				s := storeOn(m)
				j, err := s.Load(t.Context())
				if err == nil && !c.fresh {
					err = s.Save(t.Context(), j)
				}
				if err != nil {
					t.Fatal(err)
				}
				j.Items = []string{"a", "<b>"}
				if c.between != nil {
					c.between(m)
				}
				before := m.object
				m.fail, m.count = c.fail, nil
				err = s.Save(t.Context(), j)
				var conflict *ConflictError
				switch {
				case errors.As(err, &conflict) != c.conflict:
					t.Fatalf("error %v, want a conflict: %t", err, c.conflict)
				case c.conflict:
					if !reflect.DeepEqual(m.object, before) || !strings.Contains(conflict.Object, "prod/sysop-shop-journal") {
						t.Errorf("it was overwritten, or is not named: %v", err)
					}
					return
				case c.err != "":
					if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "prod/sysop-shop-journal") {
						t.Errorf("error %v, want %q", err, c.err)
					}
					if m.count["update"] > c.writes {
						t.Errorf("%d attempts, want %d at most", m.count["update"], c.writes)
					}
					return
				case err != nil:
					t.Fatal(err)
				}
				if m.count["update"] != c.writes {
					t.Errorf("%d writes, want %d", m.count["update"], c.writes)
				}
				m.fail = nil
				got, err := s.Load(t.Context())
				if err != nil || !same(got, j) {
					t.Errorf("what is there then: %+v, %v\nwant %+v", got, err, j)
				}
				if err := s.Save(t.Context(), j); err != nil {
					t.Errorf("save once more: %v", err)
				}
			})
		})
	}
}

// other is another run's write.
func other(t *testing.T, m *memoryMap) {
	s := storeOn(m)
	j, err := s.Load(t.Context())
	if err == nil {
		j.Items = []string{"another"}
		err = s.Save(t.Context(), j)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func same(a, b *list) bool { return slices.Equal(a.Items, b.Items) && a.Version() == b.Version() }
