package catalog_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

func widget(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/widget.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestParseVersions: all that a version can have is read.
func TestParseVersions(t *testing.T) {
	e, problems := catalog.Parse("widget", []byte(widget(t)))
	for _, p := range problems {
		t.Error(p)
	}
	if len(e.Versions) != 5 {
		t.Fatalf("%d versions", len(e.Versions))
	}
	v := e.Versions[0]
	if c := v.Source.Chart; c == nil || c.Name != "widget" || c.Values["replicas"] != int64(2) || c.Values["ratio"] != 0.5 || c.Values["since"] != "2026-01-31" {
		t.Errorf("the chart is %+v", v.Source.Chart)
	}
	if api := v.Requires[0].API; api.Kind != "Certificate.cert-manager.io" || !v.Requires[0].Optional || v.Requires[1].Range != ">=1.14, <2" || v.Conflicts[1].Package != "sprocket" {
		t.Errorf("it requires %+v and conflicts with %+v", v.Requires, v.Conflicts)
	}
	if got := e.Provided(&e.Versions[1]); len(got) != 2 || strings.Join(got[0].Versions, " ") != "v1 v1beta1" {
		t.Errorf("without a word of its own it provides %v", got)
	}
}
