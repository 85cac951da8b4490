package app

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// TestWiden has rows by the label of a namespace: all are listed, and that of the request is also
// read by name, for users who may not list them.
func TestWiden(t *testing.T) {
	m := &MetricsResult{Request: &MetricsRequest{Keys: []cost.Key{{By: cost.ByNamespaceLabel, Name: "team"}}}}
	got := m.widen(source.Query{Namespaces: []string{"shop"}})
	if !slices.Contains(got.Kinds, namespaceKind) || !slices.Contains(got.Objects, object.Ref{Kind: "Namespace", Name: "shop"}) {
		t.Errorf("query is %+v", got)
	}
	if got := m.widen(source.Query{All: true}); len(got.Kinds)+len(got.Objects) > 0 {
		t.Errorf("query of everything is %+v", got)
	}
}
