package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// TestFile has the page and its picture as files, from what was read last.
func TestFile(t *testing.T) {
	a := &API{Page: demoPage(t)}
	const stack = "stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-2"
	for _, c := range []struct{ as, at, want, never string }{
		{"html", stack, "<!doctype html>", "<svg"},
		{"svg", "stacks", "cluster1", "<script"},
		{"svg", stack, "moodle-2-smtp", "wordpress-importer"},
		{"svg", "stacks", "OpenCost&#39;s public prices", "default"},
		{"svg", stack + "&impact=Secret/moodle/cluster1-secret", "✖ breaks", "<script"},
		{"svg", stack + "&impact=Secret/moodle/gone", "moodle-2-smtp", "✖ breaks"},
		{"svg", stack + "&root=PersistentVolumeClaim/moodle/moodle-2-data", "PersistentVolumeClaim", "moodle-2-smtp"},
		{"svg", "stack?root=StorageClass.storage.k8s.io/standard", "StorageClass", "moodle-2"},
	} {
		answer, err := a.file(t.Context(), url.Values{"as": {c.as}, "at": {c.at}})
		if err != nil {
			t.Fatal(err)
		}
		var text string
		if err := json.Unmarshal(answer, &text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, c.never) {
			t.Errorf("%s of %s: no %q, or %q", c.as, c.at, c.want, c.never)
		}
	}
	if p := a.last().State; p.Mode == "file" || p.Address != "" {
		t.Errorf("the page itself became a file: %s at %q", p.Mode, p.Address)
	}
	for _, q := range []url.Values{{"as": {"pdf"}}, {"as": {"svg"}, "at": {"stack?in=nothing"}}, {"as": {"svg"}, "at": {"stack?%zz"}}} {
		if _, err := a.file(t.Context(), q); err == nil {
			t.Errorf("no error for %v", q)
		}
	}
}
