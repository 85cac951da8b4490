package install

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The fields of spec.persistentVolumeClaimRetentionPolicy of a StatefulSet.
const (
	whenDeleted = "whenDeleted"
	whenScaled  = "whenScaled"
	// deletePolicy deletes claims; the default, Retain, does not.
	deletePolicy = "Delete"
)

// retention returns the policy of a StatefulSet for its claims; empty if it has none.
func retention(set *unstructured.Unstructured, when string) string {
	if set == nil {
		return ""
	}
	then, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", when)
	return then
}

// deletesClaims reports whether a StatefulSet has claims deleted, when it is scaled down or
// deleted.
func deletesClaims(set *unstructured.Unstructured) bool {
	return len(claimPrefixes(set)) > 0 && (retention(set, whenDeleted) == deletePolicy || retention(set, whenScaled) == deletePolicy)
}

// claimPrefixes returns the prefixes of the names of a StatefulSet's claims.
func claimPrefixes(o *unstructured.Unstructured) []string {
	if o == nil || o.GroupVersionKind().GroupKind() != statefulSetKind {
		return nil
	}
	templates, _, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates")
	var out []string
	for _, t := range templates {
		m, _ := t.(map[string]any)
		if name, _, _ := unstructured.NestedString(m, "metadata", "name"); name != "" {
			out = append(out, name+"-"+o.GetName()+"-")
		}
	}
	return out
}

// ordinalOf returns the ordinal in the name of a StatefulSet's claim: TEMPLATE-SET-ORDINAL.
func ordinalOf(name string, prefixes []string) (int64, bool) {
	for _, p := range prefixes {
		number, ok := strings.CutPrefix(name, p)
		if !ok || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// ownedBySet reports whether the set, or a pod of it, owns a claim, which is then deleted with it.
func ownedBySet(claim *unstructured.Unstructured, set string) bool {
	return slices.ContainsFunc(claim.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return ownsClaim(o, set) })
}

// ownsClaim reports whether an owner is the named StatefulSet or a pod of it.
func ownsClaim(o metav1.OwnerReference, set string) bool {
	_, pod := ordinalOf(o.Name, []string{set + "-"})
	return strings.HasPrefix(o.APIVersion, "apps/") && o.Kind == statefulSetKind.Kind && o.Name == set || o.APIVersion == "v1" && o.Kind == "Pod" && pod
}

// goesWith reports whether a claim is deleted with a StatefulSet. With the Delete policy the
// controller makes the set an owner of its pods' claims, and that ownership survives scaling down.
// A claim that matches by name and is not owned yet may become owned.
func goesWith(claim, set *unstructured.Unstructured) bool {
	if ownedBySet(claim, set.GetName()) {
		return true
	}
	_, named := ordinalOf(claim.GetName(), claimPrefixes(set))
	return named && retention(set, whenDeleted) == deletePolicy
}

// ordinals are the ordinals of the pods of a StatefulSet, from inclusive, to exclusive.
type ordinals struct{ from, to int64 }

func (o ordinals) has(n int64) bool { return n >= o.from && n < o.to }

// ordinalsOf returns the ordinals that a StatefulSet wants, and for a live one those that it still
// has.
func ordinalsOf(set *unstructured.Unstructured) ordinals {
	replicas, from := int64(1), int64(0)
	if n, ok := number(set, "spec", "replicas"); ok {
		replicas = n
	}
	if n, ok := number(set, "status", "replicas"); ok {
		replicas = max(replicas, n)
	}
	if n, ok := number(set, "spec", "ordinals", "start"); ok {
		from = n
	}
	return ordinals{from, from + replicas}
}

// number reads an integer field of a manifest, which was YAML or JSON.
func number(u *unstructured.Unstructured, path ...string) (int64, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	case int:
		return int64(n), true
	}
	return 0, false
}

// claimNamespaces returns the namespaces to list claims in, sorted: those in which a live, recorded
// or desired StatefulSet has claims deleted.
func claimNamespaces(s *State, parts []*Part) []string {
	var out []string
	add := func(u *unstructured.Unstructured, namespace string) {
		if deletesClaims(u) {
			out = append(out, cmp.Or(u.GetNamespace(), namespace))
		}
	}
	for _, u := range s.Sets {
		add(u, "")
	}
	for i := range s.Releases {
		for _, record := range s.Releases[i].Records {
			for _, u := range record.Objects {
				add(u, s.Releases[i].Namespace)
			}
		}
	}
	for _, p := range parts {
		for _, u := range rendered(p).Objects {
			add(u, p.Namespace)
		}
	}
	return distinct(out)
}

// sets reads the live StatefulSets with claims of the releases: others may have scaled them, or
// changed their policy, since the release.
func (g *stateReader) sets() error {
	r, ok := g.kind(statefulSetKind)
	if !ok {
		return nil
	}
	var all []wanted
	for i := range g.state.Releases {
		live := &g.state.Releases[i]
		record := live.Current()
		if record == nil || live.Status == helm.Uninstalled {
			continue
		}
		for _, u := range record.Objects {
			if len(claimPrefixes(u)) > 0 {
				ref := object.RefOf(u)
				ref.Namespace = cmp.Or(ref.Namespace, live.Namespace)
				all = append(all, wanted{ref: ref, resource: r})
			}
		}
	}
	g.readAll(all)
	for _, w := range all {
		if w.err == nil {
			g.state.Sets[w.ref] = w.object
		} else if err := g.absent(w.resource, w.ref.Namespace, w.err); err != nil {
			return err
		}
	}
	return nil
}

// claims reads the claims of the namespaces where some may be deleted. A forbidden list is a gap,
// which blocks the plan.
func (g *stateReader) claims() error {
	r, ok := g.kind(claimKind)
	if !ok {
		r = object.Resource{Version: "v1", Kind: claimKind.Kind, Plural: "persistentvolumeclaims", Namespaced: true}
	}
	for _, ns := range claimNamespaces(&g.state, g.ask.Parts) {
		list, err := g.reader.ListMetadata(g.ctx, r, ns, "")
		if err != nil {
			if err := g.absent(r, ns, err); err != nil {
				return err
			}
			continue
		}
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int { return object.Compare(object.RefOf(a), object.RefOf(b)) })
		g.state.Claims[ns] = list
	}
	return nil
}

// claimsOf lists the claims of a namespace that are not being deleted.
func claimsOf(ctx context.Context, objects Objects, namespace string) ([]*unstructured.Unstructured, error) {
	list, err := objects.List(ctx, claimKind, namespace)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i := range list {
		if list[i].GetDeletionTimestamp() == nil {
			out = append(out, &list[i])
		}
	}
	return out, nil
}
