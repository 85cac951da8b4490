package manual_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func TestRelated(t *testing.T) {
	thing, machine, secret := schema.ParseGroupKind("Thing.x"), schema.ParseGroupKind("Machine.x"), schema.ParseGroupKind("Secret")
	rules := []relation.Rule{
		{Name: "every", Relation: relation.Owns, To: "(owner)", Field: "metadata.ownerReferences[]"},
		{Name: "a", Relation: relation.Needs, From: []schema.GroupKind{thing, machine}, To: "Secret", Field: "spec.secret"},
		{Name: "b", Relation: relation.Needs, From: []schema.GroupKind{thing}, To: "Secret", Field: "spec.secret", Origin: "CRD things.x"},
		{Name: "c", Relation: relation.Owns, From: []schema.GroupKind{machine}, To: "Thing.x", Backward: true, Field: "spec.thing", Origin: "catalog x"},
		{Name: "d", Relation: relation.Serves, From: []schema.GroupKind{machine, secret}, To: "Secret, Thing.x", Field: "spec.for"},
		{Name: "e", Relation: relation.Needs, From: []schema.GroupKind{machine}, To: "Thing.other", Field: "spec.no"},
		{Name: "f", Relation: relation.Serves, From: []schema.GroupKind{thing}, To: "(scaled)", Field: "spec.target"},
		{Name: "g", Relation: relation.Needs, From: []schema.GroupKind{thing}, To: "Thing.x", Field: "spec.parent"},
		{Name: "pod-a", Relation: relation.Needs, From: []schema.GroupKind{secret}, To: "Secret", Field: "spec.a"},
		{Name: "pod-b", Relation: relation.Needs, From: []schema.GroupKind{secret}, To: "Node", Field: "spec.b"},
		{Name: "pod-a", Relation: relation.Needs, From: []schema.GroupKind{thing}, To: "Secret", Field: "spec.template.spec.a", Origin: "catalog x"},
		{Name: "pod-b", Relation: relation.Needs, From: []schema.GroupKind{thing}, To: "Node", Field: "spec.template.spec.b", Origin: "catalog x"},
		{Name: "again", Relation: relation.Needs, From: []schema.GroupKind{thing}, To: "Thing.x", Field: "spec.parent"},
	}
	var b strings.Builder
	for _, r := range manual.Related(thing, rules) {
		fmt.Fprintf(&b, "%s reversed=%v %s %s other=%v (%s)\n", r.Relation, r.Reversed, strings.Join(r.Kinds, ","), r.Field, r.OnOther, r.Origin)
	}
	want := `needs reversed=false Secret spec.secret other=false (CRD things.x)
needs reversed=false Secret spec.secret other=false (built-in)
needs reversed=false Thing.x spec.parent other=false (built-in)
needs reversed=false references of the pods spec.template other=false (catalog x)
serves reversed=false scaled spec.target other=false (built-in)
owns reversed=false Machine.x spec.thing other=true (catalog x)
needs reversed=true Thing.x spec.parent other=true (built-in)
serves reversed=true Machine.x,Secret spec.for other=true (built-in)
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestCompose(t *testing.T) {
	set, pod, claim, secret := schema.ParseGroupKind("StatefulSet.apps"), schema.ParseGroupKind("Pod"), schema.ParseGroupKind("PersistentVolumeClaim"), schema.ParseGroupKind("Secret")
	got := manual.Compose(
		[]manual.DeclaredParts{{By: "a", Kinds: []schema.GroupKind{set, pod}}, {By: "b", Kinds: []schema.GroupKind{pod, secret}}},
		[]manual.Owned{{Kind: pod, Count: 3, Through: set}, {Kind: claim, Count: 2, Through: set}, {Kind: claim, Count: 1}, {Kind: set, Count: 1}},
	)
	want := []manual.Part{
		{Kind: "StatefulSet.apps", Declared: []string{"a"}, Observed: 1},
		{Kind: "Pod", Declared: []string{"a", "b"}, Observed: 3, Via: "StatefulSet.apps"},
		{Kind: "Secret", Declared: []string{"b"}},
		{Kind: "PersistentVolumeClaim", Declared: []string{}, Observed: 3},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
