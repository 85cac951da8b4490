package install

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	kubetesting "k8s.io/client-go/testing"
)

const documentKey = "journal.json"

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// versioned is a client whose objects have resource versions that writes are held against.
func versioned(t *testing.T) *fake.FakeDynamicClient {
	t.Helper()
	c := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{configMaps: "ConfigMapList", {Version: "v1", Resource: "secrets"}: "SecretList"})
	n := 0
	c.PrependReactor("*", "*", func(a kubetesting.Action) (bool, runtime.Object, error) {
		var o *unstructured.Unstructured
		switch a := a.(type) {
		case kubetesting.UpdateAction: // of which a create is one as well
			o = a.GetObject().(*unstructured.Unstructured)
		default:
			return false, nil, nil
		}
		if a.GetVerb() == "update" {
			is, err := c.Tracker().Get(a.GetResource(), a.GetNamespace(), o.GetName())
			if err != nil {
				return true, nil, err
			}
			if v := is.(*unstructured.Unstructured).GetResourceVersion(); v != o.GetResourceVersion() {
				return true, nil, apierrors.NewConflict(a.GetResource().GroupResource(), o.GetName(), errors.New("changed"))
			}
		}
		n++
		o.SetResourceVersion(fmt.Sprint(n))
		return false, nil, nil
	})
	return c
}

var shopAt = Installation{Name: "shop", Namespace: "apps", System: true}

func testStore(c *fake.FakeDynamicClient) *ClusterStore {
	s := newStore(c, shopAt)
	s.Store.Limit = 2 * time.Second
	return s
}

func TestStoreKeepsTheJournal(t *testing.T) {
	c := versioned(t)
	s := testStore(c)
	j, err := s.Load(t.Context())
	if err != nil || j.Run != nil || j.Installation != shopAt {
		t.Fatalf("%+v %v", j, err)
	}
	j.Run = &Run{ID: "one", Action: Install, Steps: []StepState{{ID: "release/apps/db", Kind: InstallRelease, Release: "db", Namespace: "apps", Phase: Started, Made: []object.Ref{{Kind: "Job", Namespace: "apps", Name: "x"}}}}}
	if err := s.Save(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	same, err := testStore(c).Load(t.Context())
	if err != nil || same.Run.ID != "one" || same.Run.Steps[0].Made[0].Name != "x" || !same.Installation.System {
		t.Fatalf("%+v %v", same.Run, err)
	}
	same.Run.Why = "the other one wrote"
	if err := s.Save(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	j.Run.Why = "mine"
	if err := s.Save(t.Context(), j); !errors.As(err, new(*journal.ConflictError)) {
		t.Errorf("a write over another one's: %v", err)
	}
	found, err := find(t.Context(), c, "shop", []string{"apps", "none", "apps"})
	if err != nil || len(found) != 1 || found[0].Installation != shopAt || found[0].Touches()[0] != (helm.ReleaseName{Name: "db", Namespace: "apps"}) {
		t.Errorf("found %+v %v", found, err)
	}
	if err := s.Remove(t.Context(), same); err != nil {
		t.Error(err)
	}
	if j, err := s.Load(t.Context()); err != nil || j.Run != nil || j.Version() != "" {
		t.Errorf("removed: %+v %v", j, err)
	}
}

// A write whose answer is lost is looked for; one that did not arrive is done again.
func TestStoreAnswersLost(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		for _, verb := range []string{"create", "update"} {
			c := versioned(t)
			s := testStore(c)
			j := &Journal{Installation: shopAt, Run: &Run{ID: "one"}}
			if verb == "update" {
				if err := s.Save(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				j.Run.Why = "changed"
			}
			lost := 1
			c.PrependReactor(verb, "configmaps", func(a kubetesting.Action) (bool, runtime.Object, error) {
				if lost == 0 {
					return false, nil, nil
				}
				lost--
				if arrives {
					o := a.(kubetesting.UpdateAction).GetObject().(*unstructured.Unstructured).DeepCopy()
					o.SetResourceVersion("99")
					write := c.Tracker().Create
					if verb == "update" {
						if err := c.Tracker().Update(a.GetResource(), o, a.GetNamespace()); err != nil {
							t.Error(err)
						}
						return true, nil, errors.New("connection reset")
					}
					if err := write(a.GetResource(), o, a.GetNamespace()); err != nil {
						t.Error(err)
					}
				}
				return true, nil, errors.New("connection reset")
			})
			if err := s.Save(t.Context(), j); err != nil {
				t.Errorf("%s, arrives %v: %v", verb, arrives, err)
			}
			is, err := s.Load(t.Context())
			if err != nil || is.Run.Why != j.Run.Why || is.Version() != j.Version() || lost != 0 {
				t.Errorf("%s, arrives %v: %+v %v", verb, arrives, is, err)
			}
		}
	}
}

// What cannot be read is an error that names it and a way out, and is not overwritten.
func TestStoreDamaged(t *testing.T) {
	good := `{"apiVersion":"sysop.dev/v1alpha1","kind":"InstallJournal","installation":{"Name":"shop","Namespace":"apps","System":true}`
	for text, says := range map[string]string{
		"":   "it has no journal.json",
		"{":  "unexpected end",
		"{}": "another version",
		`{"apiVersion":"sysop.dev/v2","kind":"InstallJournal"}`: "another version",
		good + `,"newer":1}`:       "newer version",
		good + `,"run":{"id":""}}`: "no id",
		good + `,"run":{"id":"x","steps":[{"id":"s","kind":"install","phase":"begun"}]}}`:                                "names no release",
		good + `,"run":{"id":"x","steps":[{"id":"s","kind":"dance","phase":"begun"}]}}`:                                  `unknown kind "dance"`,
		good + `,"run":{"id":"x","steps":[{"id":"s","kind":"await","phase":"over"}]}}`:                                   `unknown phase "over"`,
		`{"apiVersion":"sysop.dev/v1alpha1","kind":"InstallJournal","installation":{"Name":"other","Namespace":"apps"}}`: "it belongs to other",
	} {
		c := versioned(t)
		s := testStore(c)
		o, err := formatOf(shopAt).Encode(&Journal{Installation: shopAt})
		if err != nil {
			t.Fatal(err)
		}
		o.Name, o.Namespace, o.Data = JournalName("shop"), "apps", map[string]string{documentKey: text}
		if _, err := c.Resource(configMaps).Namespace("apps").Create(t.Context(), journal.Unstructured(o), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Load(t.Context())
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "configmap apps/sysop-install-shop") || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
		if err := s.Save(t.Context(), &Journal{Installation: shopAt}); !errors.As(err, new(*journal.ConflictError)) {
			t.Errorf("%q: overwritten: %v", text, err)
		}
		found, err := find(t.Context(), c, "shop", []string{"apps"})
		if err != nil || len(found) != 1 || found[0].Err == nil {
			t.Errorf("%q: found %+v %v", text, found, err)
		}
	}
}

func TestStoreKeeps(t *testing.T) {
	c := versioned(t)
	s := testStore(c)
	secret := thing("Secret", "apps", "password", map[string]any{"data": map[string]any{"p": "czNjcmV0"}})
	plain := definition("Kettle", 1)
	var kept []BeforeImage
	for _, o := range []*unstructured.Unstructured{secret, plain} {
		b, err := s.SaveBefore(t.Context(), "one", o)
		if err != nil {
			t.Fatal(err)
		}
		changed := o.DeepCopy()
		changed.SetLabels(map[string]string{"later": "yes"})
		if again, err := s.SaveBefore(t.Context(), "one", changed); err != nil || again.Object != b.Object || again.StoredIn != b.StoredIn || b.Sum == "" || again.Sum != "" {
			t.Errorf("again: %+v %v", again, err)
		}
		is, err := s.LoadBefore(t.Context(), b)
		if err != nil || !sameContent(is, o) {
			t.Errorf("%s: %v %v, want the oldest", b.Object, is, err)
		}
		kept = append(kept, b)
	}
	if !strings.HasPrefix(kept[0].StoredIn, "secret/") {
		t.Errorf("a Secret is kept in %s", kept[0].StoredIn)
	}
	if err := s.Drop(t.Context(), "one", nil); err != nil {
		t.Error(err)
	}
	for _, b := range kept {
		if _, err := s.LoadBefore(t.Context(), b); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", b.StoredIn, err)
		}
	}
}

// Journals are looked for where they are asked for, by their name, and nowhere else: neither a
// planted nor an unreadable one in another namespace is read, and no list is asked for.
func TestFindIgnoresOtherNamespaces(t *testing.T) {
	c := versioned(t)
	if err := testStore(c).Save(t.Context(), &Journal{Installation: shopAt, Run: &Run{ID: "one"}}); err != nil {
		t.Fatal(err)
	}
	planted := Installation{Name: "shop", Namespace: "tenant", System: true}
	o, err := formatOf(shopAt).Encode(&Journal{Installation: planted})
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Namespace, o.Data[documentKey] = JournalName("shop"), "tenant", "{"
	if _, err := c.Resource(configMaps).Namespace("tenant").Create(t.Context(), journal.Unstructured(o), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.PrependReactor("*", "configmaps", func(a kubetesting.Action) (bool, runtime.Object, error) {
		if a.GetVerb() == "list" || a.GetNamespace() != "apps" {
			t.Errorf("it asks to %s configmaps in %q", a.GetVerb(), a.GetNamespace())
		}
		return false, nil, nil
	})
	found, err := find(t.Context(), c, "shop", []string{"apps"})
	if err != nil || len(found) != 1 || found[0].Err != nil || found[0].Journal.Run.ID != "one" {
		t.Errorf("%+v %v", found, err)
	}
}
