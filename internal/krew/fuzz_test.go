package krew_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

// Whatever a file holds, each finding has a place in it and a remedy, and what krew cannot read
// is told of.
func FuzzLint(f *testing.F) {
	for _, text := range []string{
		good, "", "---\n", "[]", "kind: Plugin\n---\nkind: Plugin\n", "spec: &a {platforms: [*a]}", "metadata: &a {labels: *a}",
		"spec: {platforms: [{selector: {matchExpressions: [{key: os, operator: In}]}, files: [{from: '[', to: ..}]}]}",
		"spec: {platforms: [null, {bin: '..'}]}", "<<: {kind: Plugin}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := krew.Lint("tea.yaml", []byte(text), nil)
		lines := strings.Count(text, "\n") + 1
		for _, f := range found {
			if f.Line < 1 || f.Line > lines || f.Message == "" || f.Remedy == "" {
				t.Errorf("%+v in %d lines", f, lines)
			}
		}
		m, err := krew.Parse([]byte(text))
		if len(found) == 0 && (err != nil || m.Kind != krew.Kind || m.Metadata.Name != "tea" || len(m.Spec.Platforms) == 0) {
			t.Errorf("nothing found in %+v, %v", m, err)
		}
	})
}
