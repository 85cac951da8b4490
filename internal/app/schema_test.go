package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ktypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// schemaServer serves the definitions of the kinds A and B, whose token is a key
// of a Secret.
type schemaServer struct {
	*httptest.Server
	asked  atomic.Int64
	status int
}

func newSchemaServer(t *testing.T) *schemaServer {
	t.Helper()
	s := &schemaServer{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		name := filepath.Base(r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if s.status != http.StatusOK {
			w.WriteHeader(s.status)
			_ = json.NewEncoder(w).Encode(metav1.Status{Status: "Failure", Code: int32(s.status), Reason: metav1.StatusReasonForbidden, Message: "customresourcedefinitions " + name + " is forbidden: no"})
			return
		}
		fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q,"generation":1},"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{
			"spec":{"type":"object","properties":{"token":{"type":"object","properties":{"name":{"type":"string"},"key":{"type":"string","description":"The key of the secret to select from."}}}}}}}}}]}}`, name)
	}))
	t.Cleanup(s.Close)
	return s
}

var kindA, kindB = schema.GroupKind{Group: "x.io", Kind: "A"}, schema.GroupKind{Group: "x.io", Kind: "B"}

func (s *schemaServer) schemas(t *testing.T, dir string, generation int64) *schemas {
	t.Helper()
	cluster, err := source.NewCluster(source.ClusterOptions{Config: &rest.Config{Host: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := object.NewKinds([]object.Resource{{Group: "x.io", Kind: "A", Version: "v1", Plural: "as"}, {Group: "x.io", Kind: "B", Version: "v1", Plural: "bs"}})
	meta := func(name string) *schemaInfo {
		return &schemaInfo{crd: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name + ".x.io", UID: ktypes.UID("uid-" + name), Generation: generation}}}
	}
	return &schemas{kinds: kinds, cluster: cluster, dir: dir, infos: map[schema.GroupKind]*schemaInfo{kindA: meta("as"), kindB: meta("bs")}}
}

// pass sends a few objects of each kind through, at once.
func pass(t *testing.T, s *schemas) *gapSink {
	t.Helper()
	sink := &gapSink{}
	in := s.before(t.Context(), sink)
	var wg sync.WaitGroup
	for _, gk := range []schema.GroupKind{kindA, kindB, {Kind: "Pod"}} {
		for range 3 {
			wg.Go(func() { in.Add(object.Object{Ref: object.Ref{Group: gk.Group, Kind: gk.Kind, Name: "x"}}) })
		}
	}
	wg.Wait()
	if sink.added != 9 {
		t.Errorf("%d objects came through", sink.added)
	}
	return sink
}

type gapSink struct {
	EarlyGaps
	mu    sync.Mutex
	added int
}

func (g *gapSink) Add(object.Object) { g.mu.Lock(); g.added++; g.mu.Unlock() }
func (g *gapSink) Gap(gap object.Gap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.EarlyGaps.Gap(gap)
}

func learnedTo(s *schemas, gk schema.GroupKind) string {
	d := s.digest(gk)
	if d == nil {
		return ""
	}
	return d.Fields["spec"].Fields["token"].To
}

func TestSchemaCache(t *testing.T) {
	server, dir := newSchemaServer(t), filepath.Join(t.TempDir(), "deep", "er")
	ask := func(what, dir string, generation, want int64) *infer.SchemaHints {
		t.Helper()
		before, s := server.asked.Load(), server.schemas(t, dir, generation)
		sink := pass(t, s)
		if got := server.asked.Load() - before; got != want {
			t.Errorf("%s: %d requests, want %d", what, got, want)
		}
		if len(sink.Gaps) > 0 || learnedTo(s, kindA) != "secret" || learnedTo(s, kindB) != "secret" {
			t.Errorf("%s: learned %q %q, gaps %v", what, learnedTo(s, kindA), learnedTo(s, kindB), sink.Gaps)
		}
		return s.digest(kindA)
	}
	cold := ask("cold", dir, 1, 2)
	if warm := ask("warm", dir, 1, 0); !reflect.DeepEqual(cold, warm) {
		t.Errorf("the cache says %+v, the definition %+v", warm, cold)
	}
	if err := os.WriteFile(filepath.Join(dir, "uid-as.json"), []byte(`{"inference":1,"generation":1,"ver`), 0o600); err != nil {
		t.Fatal(err)
	}
	ask("a broken file", dir, 1, 1)
	ask("mended", dir, 1, 0)
	ask("another generation", dir, 2, 2)
	text, err := os.ReadFile(filepath.Join(dir, "uid-as.json"))
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(string(text), fmt.Sprintf(`"inference":%d`, infer.Version), `"inference":0`, 1)
	if err := os.WriteFile(filepath.Join(dir, "uid-as.json"), []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	ask("of an older inference", dir, 1, 1)
	ask("no cache", "", 1, 2)
	ask("no directory", filepath.Join(dir, "uid-as.json"), 1, 2)
	if left, _ := filepath.Glob(filepath.Join(dir, "schema-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSchemasForbidden: who may not read definitions gets an answer, and is told
// once.
func TestSchemasForbidden(t *testing.T) {
	server := newSchemaServer(t)
	server.status = http.StatusForbidden
	s := server.schemas(t, t.TempDir(), 1)
	sink := pass(t, s)
	seen := map[object.Gap]bool{}
	for _, g := range sink.Gaps {
		seen[g] = true
	}
	if len(seen) != 1 || s.digest(kindA) != nil {
		t.Errorf("gaps %v", sink.Gaps)
	}
}

func TestSchemasOfSnapshot(t *testing.T) {
	server := newSchemaServer(t)
	s := server.schemas(t, "", 1)
	whole, err := s.cluster.Definition(t.Context(), "as.x.io")
	if err != nil {
		t.Fatal(err)
	}
	before := server.asked.Load()
	s.infos = map[schema.GroupKind]*schemaInfo{kindA: {crd: &unstructured.Unstructured{Object: whole}}}
	pass(t, s)
	if learnedTo(s, kindA) != "secret" || s.digest(kindB) != nil || server.asked.Load() != before {
		t.Error("a snapshot has its definitions with it")
	}
	var none *schemas
	if sink := (&EarlyGaps{}); none.before(t.Context(), sink) != source.Sink(sink) {
		t.Error("where nothing is guessed, nothing is in the way")
	}
}

func TestFileName(t *testing.T) {
	for text, want := range map[string]string{"127.0.0.1:6443": "127_0_0_1_6443", "../../etc": "______etc", "a-B9": "a-B9"} {
		if got := fileName(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
