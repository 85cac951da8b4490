package definition

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// crdRelationships checks that the CRD or the catalog declares the relations of the kind.
func crdRelationships(d *check.Definition, r *check.Result) {
	if d.Relationships > 0 {
		r.Pass(d.Ref)
		return
	}
	if d.World.Catalogued != nil {
		if _, ok := d.World.Catalogued(d.Kind); ok {
			r.Pass(d.Ref)
			return
		}
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "metadata.annotations",
		Message: "neither the CRD nor the catalog says what a " + d.Kind.Kind + " needs and creates: its stacks rest on owner references and inferred relations",
	})
}

// crdAnnotations checks that the relationship annotations are valid.
func crdAnnotations(d *check.Definition, r *check.Result) {
	for _, wrong := range d.Annotations {
		wrong = strings.TrimPrefix(wrong, "CRD "+d.CRD.Name+": ")
		r.AddFinding(check.Finding{Object: d.Ref, Field: "metadata.annotations", Message: wrong})
	}
	if len(d.Annotations) == 0 && (d.Relationships > 0 || len(d.Composition) > 0 || d.Usage != "") {
		r.Pass(d.Ref)
	}
}

// crdUsage checks that the usage text exists where the definition points.
func crdUsage(d *check.Definition, r *check.Result) {
	switch {
	case d.UsageUnread != "":
		r.AddUnknown(d.Ref, "its usage text could not be read: "+d.UsageUnread)
	case d.UsageMissing != "":
		r.AddFinding(check.Finding{Object: d.Ref, Field: "metadata.annotations[resource/usage]", Message: "its usage text cannot be read: " + d.UsageMissing})
	case d.Usage != "" && strings.TrimSpace(d.Usage) == "":
		r.AddFinding(check.Finding{Object: d.Ref, Field: "metadata.annotations[resource/usage]", Message: "its usage text is empty"})
	case d.Usage != "":
		r.Pass(d.Ref)
	}
}

// crdComposition compares the composition that a definition declares with the objects that its
// instances own.
func crdComposition(d *check.Definition, r *check.Result) {
	if len(d.Composition) == 0 || len(d.Instances) == 0 {
		return
	}
	direct, deep := ownedKinds(d)
	if len(deep) == 0 {
		r.AddUnknown(d.Ref, "none of its "+object.Count(len(d.Instances), "instance")+" owns anything yet, so its declared parts cannot be compared")
		return
	}
	found := false
	for _, gk := range slices.SortedFunc(maps.Keys(direct), object.CompareKinds) {
		if slices.Contains(d.Composition, gk) {
			continue
		}
		found = true
		r.AddFinding(check.Finding{
			Object: d.Ref, Field: "metadata.annotations[resource/composition]", Value: gk.String(), Related: []object.Ref{direct[gk]},
			Message: "instances own " + gk.String() + " objects, which the CRD does not list among their parts",
		})
	}
	for _, gk := range d.Composition {
		if deep[gk] || !mayOwn(d, gk) {
			continue
		}
		if !d.World.Read(gk, "") {
			r.AddUnknown(d.Ref, gk.String()+" objects were not all read, so it is unknown whether instances own any")
			continue
		}
		found = true
		r.AddFinding(check.Finding{
			Object: d.Ref, Field: "metadata.annotations[resource/composition]", Value: gk.String(),
			Message: "the CRD lists " + gk.String() + " among its parts, and none of the " + object.Count(len(d.Instances), "instance") + " owns one: it is not always created, or has no owner reference",
		})
	}
	if !found {
		r.Pass(d.Ref)
	}
}

// ownedKinds returns the kinds that instances own at any depth, with an example each.
func ownedKinds(d *check.Definition) (direct map[schema.GroupKind]object.Ref, deep map[schema.GroupKind]bool) {
	direct, deep = map[schema.GroupKind]object.Ref{}, map[schema.GroupKind]bool{}
	for _, ref := range d.Instances {
		id, ok := d.World.Graph.Find(ref)
		if !ok {
			continue
		}
		for _, owned := range d.World.Graph.Owned(id) {
			if child := d.World.Graph.Ref(owned); d.World.Graph.State(owned) == graph.Present {
				if have, ok := direct[child.GroupKind()]; !ok || object.Compare(child, have) < 0 {
					direct[child.GroupKind()] = child
				}
			}
		}
		for _, child := range d.World.Owned(ref) {
			deep[child.GroupKind()] = true
		}
	}
	return direct, deep
}

// mayOwn reports whether instances can own objects of a kind: a namespaced object cannot own a
// cluster-scoped one.
func mayOwn(d *check.Definition, gk schema.GroupKind) bool {
	if d.World.Kinds == nil {
		return true
	}
	k, ok := d.World.Kinds.Kind(gk)
	return ok && (k.Namespaced || d.CRD.Spec.Scope == "Cluster")
}
