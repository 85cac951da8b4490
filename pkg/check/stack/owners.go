package stack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func ownerRules() []check.Rule {
	return []check.Rule{
		{
			ID: "owner-valid", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(13)},
			Title: "Owner references name existing owners",
			Why:   "The garbage collector deletes an object whose owners are all absent; an owner in another namespace counts as absent.",
			Fix:   "Remove the owner reference, or have the operator set it to the object that it acts for.",
			Stack: ownersValid,
		},
		{
			ID: "owner-set", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(13)},
			Title: "Objects that an operator creates for a custom resource are owned by it",
			Why:   "Without an owner reference they stay when the custom resource is deleted, and their purpose is lost.",
			Fix:   "Have the operator set an owner reference (controllerutil.SetControllerReference) on what it creates.",
			Stack: ownersSet,
		},
		{
			ID: "owner-controls", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(13)},
			Title: "Owner references of workloads and pods name a controller",
			Why:   "Without controller: true two operators may both adopt one object, a PodDisruptionBudget in percent cannot be computed, and kubectl drain refuses the pods; without blockOwnerDeletion a foreground deletion does not wait for it.",
			Fix:   "Have the operator set controller and blockOwnerDeletion in the owner reference (controllerutil.SetControllerReference does).",
			Stack: ownersControl,
		},
	}
}

// ownersValid reports the graph's problems with owner references.
func ownersValid(s *check.Stack, r *check.Result) {
	wrong := map[object.Ref]bool{}
	for _, p := range s.Stack.Problems() {
		if p.Reason != graph.TwoControllers && !strings.HasPrefix(p.Reason, "Owner") {
			continue
		}
		wrong[p.Object] = true
		f := check.Finding{Object: p.Object, Field: p.Field, Value: p.Reason, Message: p.Message}
		if p.Severity == graph.Error {
			f.Severity = check.Error
		}
		if p.Related != (object.Ref{}) {
			f.Related = []object.Ref{p.Related}
		}
		r.AddFinding(f)
	}
	for _, ref := range s.Members() {
		if id, ok := s.World.Graph.Find(ref); ok && !wrong[ref] && len(ownersByReference(s.World, id)) > 0 {
			r.Pass(ref)
		}
	}
}

// ownersByReference returns the existing owners that an object names in its metadata.
func ownersByReference(w *check.ClusterState, id graph.ID) []graph.ID {
	var out []graph.ID
	for e := range w.Graph.In(id) {
		if e.Relation == relation.Owns && e.Via == relation.Owner && !slices.Contains(out, e.From) {
			out = append(out, e.From)
		}
	}
	return out
}

// ownersSet finds objects that an operator made for a custom resource of the stack, and that
// have no owner. That needs two signs: the operator is known to make such objects
// (declaredUnowned) and a mark or the name fits; or the object has all labels that the owned
// objects of the custom resource have in common (and that the custom resource itself does not
// have), one of which names the custom resource.
func ownersSet(s *check.Stack, r *check.Result) {
	members := s.Members()
	for _, root := range members {
		if k, ok := s.World.Kinds.Kind(root.GroupKind()); !ok || !k.Custom || root.Namespace == "" {
			continue
		}
		id, ok := s.World.Graph.Find(root)
		if !ok {
			continue
		}
		for _, ref := range members {
			if f, ok := declaredUnowned(s.World, id, root, ref); ok {
				r.AddFinding(f)
			}
		}
		owned, marks := sharedLabels(s.World, id, root)
		for _, ref := range owned {
			r.Pass(ref)
		}
		if len(marks) < 2 || !slices.ContainsFunc(slices.Collect(maps.Values(marks)), func(v string) bool { return v == root.Name }) {
			continue
		}
		for _, ref := range members {
			if ref.Namespace == root.Namespace && isUnowned(s.World, ref, marks) {
				r.AddFinding(unownedFinding(ref, root, marks))
			}
		}
	}
}

// declaredUnowned reports whether the catalog or an annotation of its definition declares that
// a custom resource owns an object, without an owner reference: by two pieces of evidence, or
// by a mark on the object and by its name.
func declaredUnowned(w *check.ClusterState, root graph.ID, rootRef, ref object.Ref) (check.Finding, bool) {
	id, ok := w.Graph.Find(ref)
	if !ok || ref.Namespace != rootRef.Namespace || !isOwnedKind(ref.GroupKind()) || len(ownersByReference(w, id)) > 0 || hasBrokenOwner(w, ref) {
		return check.Finding{}, false
	}
	if !slices.Contains(w.Graph.OwnersOf(id), root) {
		return check.Finding{}, false // At most the custom resource's release installed it.
	}
	var evidence []string
	marked := false
	for e := range w.Graph.Between(root, id) {
		if e.Relation != relation.Owns || e.Origin == "" || e.Origin == "inferred" || slices.Contains(evidence, e.Why()) {
			continue
		}
		evidence = append(evidence, e.Why())
		marked = marked || !e.Inferred && (e.Via == relation.Label || e.Via == relation.Annotation)
	}
	named := ref.Name == rootRef.Name || strings.HasPrefix(ref.Name, rootRef.Name+"-") || strings.HasSuffix(ref.Name, "-"+rootRef.Name)
	if len(evidence) < 2 && (!marked || !named) {
		return check.Finding{}, false
	}
	f := check.Finding{
		Object: ref, Field: "metadata.ownerReferences", Related: []object.Ref{rootRef},
		Message: fmt.Sprintf("has no owner reference, although %s creates it (%s): it stays when that is deleted, unless the operator deletes it", check.Near(rootRef, ref), evidence[0]),
	}
	if mayOutlive(ref) {
		f.Severity = check.Info
	}
	return f, true
}

// mayOutlive reports whether an object may outlive its owner on purpose.
func mayOutlive(r object.Ref) bool {
	return r.Group == "" && (r.Kind == "Secret" || r.Kind == "ConfigMap")
}

// sharedLabels returns the objects that a custom resource owns by owner reference, and the
// labels that all of them have and that it does not have itself.
func sharedLabels(w *check.ClusterState, root graph.ID, ref object.Ref) (owned []object.Ref, marks map[string]string) {
	own := w.Graph.Labels(root)
	for e := range w.Graph.Out(root) {
		if e.Relation != relation.Owns || e.Via != relation.Owner || w.Graph.State(e.To) != graph.Present {
			continue
		}
		to := w.Graph.Ref(e.To)
		if to.Namespace != ref.Namespace {
			continue
		}
		owned = append(owned, to)
		if to.GroupKind() == check.PodKind {
			continue // It has labels of a template, and more.
		}
		labels := w.Graph.Labels(e.To)
		if marks == nil {
			marks = maps.Clone(labels)
			maps.DeleteFunc(marks, func(k, v string) bool { return own[k] == v })
			continue
		}
		maps.DeleteFunc(marks, func(k, v string) bool { return labels[k] != v })
	}
	return owned, marks
}

// isUnowned reports whether an object has all the labels, and neither an owner nor an
// installer. Data that outlives its owner on purpose does not count, nor do custom resources,
// which people write with the labels that an operator needs.
func isUnowned(w *check.ClusterState, ref object.Ref, marks map[string]string) bool {
	id, ok := w.Graph.Find(ref)
	if !ok || len(w.Graph.OwnersOf(id)) > 0 || !isOwnedKind(ref.GroupKind()) {
		return false
	}
	labels := w.Graph.Labels(id)
	for k, v := range marks {
		if labels[k] != v {
			return false
		}
	}
	if _, helm := w.Facts.Annotation(ref, graph.HelmName); helm || strings.EqualFold(labels["app.kubernetes.io/managed-by"], "Helm") {
		return false
	}
	if hasBrokenOwner(w, ref) {
		return false // It names an owner; owner-valid reports a broken reference.
	}
	return labels["argocd.argoproj.io/instance"] == "" && labels["kustomize.toolkit.fluxcd.io/name"] == "" && labels["helm.toolkit.fluxcd.io/name"] == ""
}

// hasBrokenOwner reports whether an owner reference of an object is broken.
func hasBrokenOwner(w *check.ClusterState, ref object.Ref) bool {
	return slices.ContainsFunc(w.Graph.Problems(), func(p graph.Problem) bool { return p.Object == ref && strings.HasPrefix(p.Reason, "Owner") })
}

// isOwnedKind are the kinds whose objects need an owner where an operator makes them.
func isOwnedKind(gk schema.GroupKind) bool {
	switch gk.Group {
	case "":
		return gk.Kind == "Service" || gk.Kind == "ConfigMap" || gk.Kind == "Secret" || gk.Kind == "ServiceAccount" || gk.Kind == "Pod"
	case "apps", "batch", "policy", "rbac.authorization.k8s.io", "networking.k8s.io", "autoscaling":
		return true
	}
	return false
}

func unownedFinding(ref, root object.Ref, marks map[string]string) check.Finding {
	keys := slices.Sorted(maps.Keys(marks))
	name := keys[slices.IndexFunc(keys, func(k string) bool { return marks[k] == root.Name })]
	f := check.Finding{
		Object: ref, Field: "metadata.ownerReferences", Related: []object.Ref{root},
		Message: fmt.Sprintf("has no owner reference, although it has the %d labels of all that %s owns (%s=%s): it stays when that is deleted, unless the operator deletes it", len(marks), check.Near(root, ref), name, marks[name]),
	}
	if mayOutlive(ref) {
		f.Severity = check.Info
	}
	return f
}

// ownersControl checks the owner references of workloads and pods that a custom resource owns.
func ownersControl(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		o, err := meta.Accessor(wl.Object)
		if err != nil {
			continue
		}
		refs := o.GetOwnerReferences()
		for i, owner := range refs {
			group, _, _ := strings.Cut(owner.APIVersion, "/")
			if k, ok := s.World.Kinds.Kind(schema.GroupKind{Group: group, Kind: owner.Kind}); !ok || !k.Custom {
				continue
			}
			lacks := missingFields(refs, &owner)
			if len(lacks) == 0 {
				r.Pass(wl.Ref)
				continue
			}
			f := check.Finding{
				Object: wl.Ref, Field: fmt.Sprintf("metadata.ownerReferences[%d]", i), Value: owner.Kind + "/" + owner.Name,
				Message: fmt.Sprintf("its owner reference to %s/%s does not set %s", owner.Kind, owner.Name, strings.Join(lacks, " and ")),
			}
			if wl.Ref.Kind == "Pod" && slices.Contains(lacks, "controller") {
				f.Severity = check.Warning
				f.Message += ": kubectl drain takes the pod for one without a controller, and refuses"
			}
			r.AddFinding(f)
		}
	}
}

// missingFields returns the unset fields of an owner reference. Among several owners one
// controls.
func missingFields(all []metav1.OwnerReference, o *metav1.OwnerReference) []string {
	var out []string
	isTrue := func(b *bool) bool { return b != nil && *b }
	if !isTrue(o.Controller) && !slices.ContainsFunc(all, func(x metav1.OwnerReference) bool { return isTrue(x.Controller) }) {
		out = append(out, "controller")
	}
	if !isTrue(o.BlockOwnerDeletion) {
		out = append(out, "blockOwnerDeletion")
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
