package app

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestMostDeclared: definitions that declare without end leave room for the rules
// of others, and are told of.
func TestMostDeclared(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "- {template: spec.t%d}\n", i)
	}
	var kinds []object.Resource
	var definitions []metav1.Object
	for i := range 3 {
		plural := fmt.Sprintf("apps%d", i)
		kinds = append(kinds, object.Resource{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("App%d", i), Plural: plural, Custom: true})
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetName(plural + ".example.com")
		u.SetAnnotations(map[string]string{annotations.Relationships: b.String()})
		definitions = append(definitions, u)
	}
	s := &Session{Input: &Input{}, Snapshot: true, Kinds: object.NewKinds(kinds)}
	s.learn(definitions, nil)
	if n := len(s.Rules.Rules()); n < len(relation.BuiltIn()) || n > relation.MaxRules {
		t.Errorf("%d rules", n)
	}
	if len(s.Findings) != 2 || !strings.Contains(s.Findings[0].String(), "are ignored") {
		t.Errorf("findings: %v", s.Findings)
	}
}
