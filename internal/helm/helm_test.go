package helm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	helm "helm.sh/helm/v4/pkg/chart/v2"
	v1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// A request, and an answer that is still read, end with the context of the run.
func TestBoundRequestsEnd(t *testing.T) {
	held := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-held
	}))
	defer s.Close()
	defer close(held)
	ctx, end := context.WithCancelCause(t.Context())
	c := &http.Client{Transport: &bound{ctx: ctx, next: http.DefaultTransport}}
	get := func() (*http.Response, error) {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Do(r)
	}
	answer, err := get()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	stopped := errors.New("stopped by hand")
	end(stopped)
	if _, err := io.ReadAll(answer.Body); err == nil {
		t.Error("the answer was read to its end")
	}
	again, err := get()
	if !errors.Is(err, stopped) {
		t.Errorf("after the end: %v", err)
	}
	if again != nil {
		_ = again.Body.Close()
	}
}

// Helm changes the chart it is given: ours stays as it is.
func TestCopiedChart(t *testing.T) {
	sub := &helm.Chart{Metadata: &helm.Metadata{Name: "sub", Dependencies: []*helm.Dependency{{Name: "x"}}}, Values: map[string]any{"list": []any{map[string]any{"a": 1}}}}
	c := &helm.Chart{Metadata: &helm.Metadata{Name: "top"}}
	c.SetDependencies(sub)
	is := copied(c)
	other := is.Dependencies()[0]
	other.Metadata.Dependencies[0].Enabled = true
	other.Values["list"].([]any)[0].(map[string]any)["a"] = 2
	other.Metadata.Name = "changed"
	is.SetDependencies()
	if sub.Metadata.Dependencies[0].Enabled || sub.Values["list"].([]any)[0].(map[string]any)["a"] != 1 || len(c.Dependencies()) != 1 || sub.Name() != "sub" || !c.IsRoot() || sub.Parent() != c {
		t.Errorf("%+v of %+v", sub, c)
	}
	if other.Parent() != is {
		t.Error("the copy has the parent of the original")
	}
}

// Every record that a run makes has its marks, also that of a rollback, which brings those of
// the former one along.
func TestRecordsAreMarked(t *testing.T) {
	m := &marking{Driver: driver.NewMemory(), marks: RecordLabels{Run: "new", Package: "db"}}
	former := map[string]string{RunLabel: "old", "team": "a", "owner": "helm", "status": "deployed"}
	r := &v1.Release{Name: "db", Namespace: "default", Version: 2, Info: &v1.Info{Status: "pending-rollback"}, Labels: former}
	if err := m.Create("sh.helm.release.v1.db.v2", r); err != nil {
		t.Fatal(err)
	}
	if r.Labels[RunLabel] != "new" || r.Labels[PackageLabel] != "db" || r.Labels["team"] != "a" || r.Labels["owner"] != "" || r.Labels[SystemLabel] != "" || former[RunLabel] != "old" {
		t.Errorf("labels %v, and of before %v", r.Labels, former)
	}
}
