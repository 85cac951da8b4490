package regulate

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
)

const documentKey = "journal.json"

// storeWith is a store on a cluster that has what is given.
func storeWith(t *testing.T, data map[string]string) *ConfigMapStore {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	if data != nil {
		objects = append(objects, &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: system.JournalName("shop"), ResourceVersion: "1"}, Data: data})
	}
	return journal.NewStore(fake.NewSimpleDynamicClient(scheme, objects...), placeOf("shop", system.JournalName("shop"), "prod"), formatOf("shop", "prod"))
}

func someJournal() *Journal {
	at := time.Date(2026, 5, 1, 10, 0, 0, 123456789, time.UTC)
	return &Journal{System: "shop", Namespace: "prod", Next: 3, Holds: []*Hold{{
		ID: 2, App: "web", Signal: "Stop", Phase: Held, At: at, Causes: []Cause{{Rule: "trouble", App: "db", Why: "db Degraded\nfor 31 s", At: at}},
		Operations: []*Operation{{
			Action: "preset", Text: "spec.paused = true", State: Done, At: at,
			Target:  Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "prod", Name: "web"},
			Changes: []patch.Change{{Path: "/spec/x", ExistedBefore: true, Before: int64(9007199254740993), ExistsAfter: true, After: map[string]any{"a": []any{int64(1), 1.5, nil, "<b>"}}}},
		}},
	}}}
}

func TestJournalRoundTrip(t *testing.T) {
	s := storeWith(t, nil)
	j, err := s.Load(t.Context())
	if err != nil || j.System != "shop" || j.Namespace != "prod" || len(j.Holds) != 0 {
		t.Fatalf("where there is none: %+v, %v", j, err)
	}
	want := someJournal()
	if err := s.Save(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(t.Context())
	if err != nil || !reflect.DeepEqual(got.Holds, want.Holds) || got.Next != want.Next {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, c := range []struct {
		j    *Journal
		want string
	}{{someJournal(), "web Stop since 2026-05-01T10:00:00Z (Held): db Degraded for 31 s\n"}, {new(Journal), "nothing is held\n"}} {
		o, err := formatOf("shop", "prod").Encode(c.j)
		if err != nil || o.Data[heldKey] != c.want {
			t.Errorf("held: %q, %v", o.Data[heldKey], err)
		}
	}
}

func TestJournalSize(t *testing.T) {
	j := someJournal()
	for i := range 300000 { // that compresses badly
		j.Holds[0].Causes = append(j.Holds[0].Causes, Cause{Why: strconv.FormatUint(uint64(i)*2654435761*97, 36) + strconv.FormatUint(uint64(i)*40503*7919, 36)})
	}
	if err := storeWith(t, nil).Save(t.Context(), j); err == nil || !strings.Contains(err.Error(), "regulate recover") || !strings.Contains(err.Error(), "sysop-shop-journal") {
		t.Errorf("too large: %v", err)
	}
}

func TestJournalThatCannotBeRead(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"it is no JSON":              {documentKey: "hold my beer"},
		"it is of another version":   {documentKey: `{"apiVersion":"sysop.dev/v2","kind":"Journal","system":"shop","namespace":"prod"}`},
		"it is something else":       {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"System","system":"shop","namespace":"prod"}`},
		"it has an unknown field":    {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"leases":[]}`},
		"it is of another system":    {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"bank","namespace":"prod","next":1}`},
		"it was moved":               {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"test","next":1}`},
		"a phase is not known":       {documentKey: withHold(`"app":"web","signal":"Stop","phase":"Resting","operations":[]`)},
		"a phase is of what is left": {documentKey: withHold(`"app":"web","signal":"Stop","phase":"Left","operations":[]`)},
		"a state is not known":       {documentKey: withOperation(`"state":"Sleeping"`)},
		"a path is no pointer":       {documentKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":"spec.replicas"}]`)},
		"a path has a bad escape":    {documentKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":"/spec/~2"}]`)},
		"a path is empty":            {documentKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"changes":[{"path":""}]`)},
		"a scaled path":              {documentKey: withOperation(`"state":"Done","target":{"kind":"Deployment","name":"web"},"replicas":"spec"`)},
		"a target has no name":       {documentKey: withOperation(`"state":"Done","target":{"kind":"Deployment"},"changes":[{"path":"/spec/x"}]`)},
		"a target has no kind":       {documentKey: withOperation(`"state":"Done","target":{"name":"web"},"changes":[{"path":"/spec/x"}]`)},
		"an operation is null":       {documentKey: withHold(`"app":"web","signal":"Stop","phase":"Held","operations":[null]`)},
		"a hold has no app":          {documentKey: withHold(`"signal":"Stop","phase":"Held","operations":[]`)},
		"a hold has no signal":       {documentKey: withHold(`"app":"web","phase":"Held","operations":[]`)},
		"a hold is null":             {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"holds":[null]}`},
		"two holds have one id":      {documentKey: withHold(`"app":"web","signal":"Stop","phase":"Held","operations":[]},{"id":1,"app":"db","signal":"Stop","phase":"Held","operations":[]`)},
		"what is owned":              {documentKey: `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"prod","next":1,"owned":[{"uid":"u","paths":["x"]}]}`},
		"somebody took it out":       {heldKey: "web"},
		"it is empty, and not ours":  {"x": "y"},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := storeWith(t, data).Load(t.Context())
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
		if j, err := storeWith(t, map[string]string{documentKey: text}).Load(t.Context()); err != nil || len(j.Holds) != 1 {
			t.Errorf("%s: %v", text, err)
		}
	}
}
