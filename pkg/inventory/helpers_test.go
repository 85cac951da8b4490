package inventory

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var thing = schema.GroupKind{Group: "test", Kind: "Thing"}

func ref(ns, name string) object.Ref {
	return object.Ref{Group: thing.Group, Kind: thing.Kind, Namespace: ns, Name: name}
}

func made(r object.Ref, uid types.UID, labels map[string]string) object.Object {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name, UID: uid, Labels: labels}}
	return object.Object{Ref: r, Version: "v1", Meta: m, Body: m}
}

// found formats rows by their names, in order.
func found(inv *Inventory, ids []ID) string {
	var names []string
	for _, id := range ids {
		r := inv.Ref(id)
		names = append(names, r.Namespace+"/"+r.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
