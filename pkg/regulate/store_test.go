package regulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// memoryMap is a ConfigMap of an API server, with its precondition, and what goes wrong with
// the nth request of a verb.
type memoryMap struct {
	dynamic.ResourceInterface
	object  map[string]any
	version int
	fail    map[string]func(do func()) error // by verb and number: patch 1
	count   map[string]int
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

func (m *memoryMap) Patch(_ context.Context, name string, pt types.PatchType, body []byte, po metav1.PatchOptions, _ ...string) (out *unstructured.Unstructured, err error) {
	if pt != types.ApplyPatchType || po.FieldManager != FieldManager || po.Force == nil || !*po.Force {
		return nil, fmt.Errorf("not server-side applied by force: %s %+v", pt, po)
	}
	o := map[string]any{}
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	err = m.request("patch", func() error {
		want, _, _ := unstructured.NestedString(o, "metadata", "resourceVersion")
		if want == "" || m.object == nil || want != m.is().GetResourceVersion() {
			return apierrors.NewConflict(configMaps.GroupResource(), name, errors.New("it has been modified"))
		}
		m.write(o)
		out = m.is()
		return nil
	})
	return out, err
}

func storeOn(m *memoryMap) *ConfigMapStore {
	return &ConfigMapStore{system: "shop", namespace: "prod", client: m, Patience: patience}
}

func someJournal() *Journal {
	at := time.Date(2026, 5, 1, 10, 0, 0, 123456789, time.UTC)
	return &Journal{System: "shop", Namespace: "prod", Next: 3, Holds: []*Hold{{
		ID: 2, App: "web", Signal: "Stop", Phase: Held, At: at, Causes: []Cause{{Rule: "trouble", App: "db", Why: "db Degraded\nfor 31 s", At: at}},
		Operations: []*Operation{{
			Action: "preset", Text: "spec.paused = true", State: Done, At: at,
			Target:  Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "prod", Name: "web"},
			Changes: []Change{{Path: "/spec/x", Had: true, Was: int64(9007199254740993), Has: true, Now: map[string]any{"a": []any{int64(1), 1.5, nil, "<b>"}}}},
		}},
	}}}
}

func TestJournalRoundTrip(t *testing.T) {
	m := &memoryMap{}
	s := storeOn(m)
	j, err := s.Load(t.Context())
	if err != nil || j.System != "shop" || j.Namespace != "prod" || len(j.Holds) != 0 {
		t.Fatalf("where there is none: %+v, %v", j, err)
	}
	want := someJournal()
	want.version = j.version
	if err := s.Save(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(t.Context())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	held, _, _ := unstructured.NestedString(m.object, "data", "held")
	if held != "web Stop since 2026-05-01T10:00:00Z (Held): db Degraded for 31 s\n" {
		t.Errorf("held: %q", held)
	}
	if l := m.is().GetLabels()[system.Label]; l != "shop" {
		t.Errorf("label %q", l)
	}
	version := m.version
	got.Holds = nil
	if err := s.Save(t.Context(), got); err != nil || m.version != version+1 {
		t.Errorf("save again: %v, %d writes", err, m.version-version)
	}
	if held, _, _ := unstructured.NestedString(m.object, "data", "held"); held != "nothing is held\n" {
		t.Errorf("held: %q", held)
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
		{name: "the answer is lost", fail: map[string]func(func()) error{"patch 1": lost}, writes: 1},
		{name: "the request is dropped", fail: map[string]func(func()) error{"patch 1": dropped}, writes: 2},
		{name: "dropped, then lost", fail: map[string]func(func()) error{"patch 1": dropped, "patch 2": lost}, writes: 2},
		{name: "lost, and the server restarts", fail: map[string]func(func()) error{"patch 1": lost, "get 1": starting, "patch 2": starting, "get 2": starting}, writes: 3},
		{name: "the server restarts", fail: map[string]func(func()) error{"patch 1": starting, "patch 2": starting, "patch 3": starting}, writes: 4},
		{name: "the first one: the answer to create is lost", fresh: true, fail: map[string]func(func()) error{"create 1": lost}, writes: 1},
		{name: "the first one: create is dropped", fresh: true, fail: map[string]func(func()) error{"create 1": dropped}, writes: 1},
		{name: "the first one: the answer to apply is lost", fresh: true, fail: map[string]func(func()) error{"patch 1": lost}, writes: 1},
		{name: "the first one: apply is dropped", fresh: true, fail: map[string]func(func()) error{"patch 1": dropped}, writes: 2},
		{name: "forbidden", fail: map[string]func(func()) error{"patch": denied}, err: "forbidden", writes: 1},
		{name: "the server stays away", fail: map[string]func(func()) error{"patch": starting}, err: "starting", writes: 20},
		{name: "another run wrote", between: func(m *memoryMap) { other(t, m) }, conflict: true, writes: 1},
		{name: "another run made it", fresh: true, between: func(m *memoryMap) { other(t, m) }, conflict: true},
		{name: "another run is about to make it", fresh: true, between: func(m *memoryMap) {
			m.write(map[string]any{"metadata": map[string]any{"name": "x"}})
		}, writes: 1},
		{name: "it was deleted", between: func(m *memoryMap) { m.object = nil }, writes: 2},
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
				j.Holds = someJournal().Holds
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
					if m.count["patch"] > c.writes {
						t.Errorf("%d attempts, want %d at most", m.count["patch"], c.writes)
					}
					return
				case err != nil:
					t.Fatal(err)
				}
				if m.count["patch"] != c.writes {
					t.Errorf("%d writes, want %d", m.count["patch"], c.writes)
				}
				m.fail = nil
				got, err := s.Load(t.Context())
				if err != nil || !reflect.DeepEqual(got, j) {
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
		j.Next = 99
		err = s.Save(t.Context(), j)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestJournalSize(t *testing.T) {
	m := &memoryMap{}
	s := storeOn(m)
	j := someJournal()
	op := *j.Holds[0].Operations[0]
	for range 2000 {
		o := op
		j.Holds[0].Operations = append(j.Holds[0].Operations, &o)
	}
	if err := s.Save(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	data, _, _ := unstructured.NestedMap(m.object, "data")
	binary, _, _ := unstructured.NestedMap(m.object, "binaryData")
	if data[journalKey] != nil || binary[zippedKey] == nil {
		t.Errorf("a large one is not compressed: %v", len(fmt.Sprint(data)))
	}
	got, err := s.Load(t.Context())
	if err != nil || !reflect.DeepEqual(got, j) {
		t.Fatalf("it does not come back: %v", err)
	}
	got.Holds[0].Operations = got.Holds[0].Operations[:1]
	if err := s.Save(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Load(t.Context()); err != nil || len(got.Holds[0].Operations) != 1 {
		t.Errorf("small again: %v", err)
	}
	for i := range 300000 { // that compresses badly
		got.Holds[0].Causes = append(got.Holds[0].Causes, Cause{Why: strconv.FormatUint(uint64(i)*2654435761*97, 36) + strconv.FormatUint(uint64(i)*40503*7919, 36)})
	}
	version := m.version
	err = s.Save(t.Context(), got)
	if err == nil || !strings.Contains(err.Error(), "regulate recover") || !strings.Contains(err.Error(), "sysop-shop-journal") || m.version != version {
		t.Errorf("too large: %v", err)
	}
}

func TestJournalThatCannotBeRead(t *testing.T) {
	for name, data := range map[string]map[string]any{
		"it is no JSON":              {journalKey: "hold my beer"},
		"it is of another version":   {journalKey: `{"apiVersion":"sysop.dev/v2","kind":"Journal","system":"shop","namespace":"prod"}`},
		"it is something else":       {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"System","system":"shop","namespace":"prod"}`},
		"it has an unknown field":    {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"leases":[]}`},
		"it is of another system":    {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"bank","namespace":"prod","next":1}`},
		"it was moved":               {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"test","next":1}`},
		"a phase is not known":       {journalKey: withHold(`"app":"web","signal":"Stop","phase":"Resting","operations":[]`)},
		"a phase is of what is left": {journalKey: withHold(`"app":"web","signal":"Stop","phase":"Left","operations":[]`)},
		"a state is not known":       {journalKey: withOperation(`"state":"Sleeping"`)},
		"a path is no pointer":       {journalKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":"spec.replicas"}]`)},
		"a path has a bad escape":    {journalKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":"/spec/~2"}]`)},
		"a path is empty":            {journalKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":""}]`)},
		"a scaled path":              {journalKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"replicas":"spec"`)},
		"a target has no name":       {journalKey: withOperation(`"state":"Done","target":{"kind":"Deployment"},"changes":[{"path":"/spec/x"}]`)},
		"a target has no kind":       {journalKey: withOperation(`"state":"Done","target":{"name":"web"},"changes":[{"path":"/spec/x"}]`)},
		"an operation is null":       {journalKey: withHold(`"app":"web","signal":"Stop","phase":"Held","operations":[null]`)},
		"a hold has no app":          {journalKey: withHold(`"signal":"Stop","phase":"Held","operations":[]`)},
		"a hold has no signal":       {journalKey: withHold(`"app":"web","phase":"Held","operations":[]`)},
		"a hold is null":             {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"holds":[null]}`},
		"two holds have one id":      {journalKey: withHold(`"app":"web","signal":"Stop","phase":"Held","operations":[]},{"id":1,"app":"db","signal":"Stop","phase":"Held","operations":[]`)},
		"what is owned":              {journalKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"owned":[{"uid":"u","paths":["x"]}]}`},
		"somebody took it out":       {heldKey: "web"},
		"it is empty, and not ours":  {"x": "y"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memoryMap{}
			m.write(map[string]any{"metadata": map[string]any{"name": system.JournalName("shop")}, "data": data})
			j, err := storeOn(m).Load(t.Context())
			if err == nil || !strings.Contains(err.Error(), "configmap prod/sysop-shop-journal") || !strings.Contains(err.Error(), "delete it") {
				t.Errorf("got %+v, %v", j, err)
			}
		})
	}
}

func withHold(fields string) string {
	return `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":2,"holds":[{"id":1,` + fields + `}]}`
}

func withOperation(fields string) string {
	return withHold(`"app":"web","signal":"Stop","phase":"Held","operations":[{` + fields + `}]`)
}

// What is valid is read, in the shape in which the cases above are wrong.
func TestJournalThatCanBeRead(t *testing.T) {
	for _, text := range []string{
		withOperation(`"state":"Done","replicas":"/spec/size/count","target":{"kind":"Deployment","name":"web"},"changes":[{"path":"/metadata/annotations/a~1b~0c"},{"path":"/data/"}]`),
		withOperation(`"action":"http","state":"Done","target":{"name":""}`),
	} {
		m := &memoryMap{}
		m.write(map[string]any{"metadata": map[string]any{"name": system.JournalName("shop")}, "data": map[string]any{journalKey: text}})
		if j, err := storeOn(m).Load(t.Context()); err != nil || len(j.Holds) != 1 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTruncated(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "..."},
		{"abcdef", 5, "ab..."},
		{"", 5, ""},
		{"ééééé", 7, "éé..."},
		{"ééééé", 8, "éé..."},
		{"a\xffb", 100, "a\uFFFDb"},
	} {
		if got := truncated(c.in, c.n); got != c.want || len(got) > max(c.n, len(c.want)) {
			t.Errorf("truncated(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
