package install

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// When a StatefulSet has its claims deleted (spec.persistentVolumeClaimRetentionPolicy).
const (
	whenDeleted = "whenDeleted"
	whenScaled  = "whenScaled"
	// deletePolicy deletes claims, which Retain, the default, does not.
	deletePolicy = "Delete"
)

// retention is what a StatefulSet says of its claims; empty where it says nothing.
func retention(set *unstructured.Unstructured, when string) string {
	if set == nil {
		return ""
	}
	then, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", when)
	return then
}

// deletesClaims says that a StatefulSet has claims deleted at some time.
func deletesClaims(set *unstructured.Unstructured) bool {
	return len(claimPrefixes(set)) > 0 && (retention(set, whenDeleted) == deletePolicy || retention(set, whenScaled) == deletePolicy)
}

// claimPrefixes are what the names of the claims of a StatefulSet begin with.
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

// ordinalOf is the number at the end of the name of a claim of a StatefulSet: TEMPLATE-SET-ORDINAL.
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

// ownedBySet says that a claim is deleted when a StatefulSet is: it, or a pod of it, owns the claim.
func ownedBySet(claim *unstructured.Unstructured, set string) bool {
	return slices.ContainsFunc(claim.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return ownsClaim(o, set) })
}

// ownsClaim says that an owner is a StatefulSet of the name, or a pod of it.
func ownsClaim(o metav1.OwnerReference, set string) bool {
	_, pod := ordinalOf(o.Name, []string{set + "-"})
	return strings.HasPrefix(o.APIVersion, "apps/") && o.Kind == statefulSetKind.Kind && o.Name == set || o.APIVersion == "v1" && o.Kind == "Pod" && pod
}

// goesWith says that a claim is deleted with a StatefulSet: the controller makes the set own the
// claims of its pods where the policy says so, and what it owns stays owned when it is scaled
// down. A claim of its name that it does not own yet, it may own by then.
func goesWith(claim, set *unstructured.Unstructured) bool {
	if ownedBySet(claim, set.GetName()) {
		return true
	}
	_, named := ordinalOf(claim.GetName(), claimPrefixes(set))
	return named && retention(set, whenDeleted) == deletePolicy
}

// ordinals are the numbers of the pods of a StatefulSet, from up to but not including to.
type ordinals struct{ from, to int64 }

func (o ordinals) has(n int64) bool { return n >= o.from && n < o.to }

// ordinalsOf are those that a StatefulSet wants, and of a live one those that it still has.
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

// number reads a whole number of a manifest, which was YAML or JSON.
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

// claimNamespaces are the namespaces whose claims count: in which a StatefulSet that is there, was
// recorded or is wanted has claims deleted. They are sorted.
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

// sets reads the StatefulSets of releases that make claims: somebody may have scaled them, or
// changed what becomes of their claims, since their release was made.
func (g *stateReader) sets() error {
	r, ok := g.kind(statefulSetKind)
	if !ok {
		return nil
	}
	var all []wanted
	for i := range g.state.Releases {
		live := &g.state.Releases[i]
		record := live.Current()
		if record == nil || live.Status == Uninstalled {
			continue
		}
		for _, u := range record.Objects {
			if len(claimPrefixes(u)) > 0 {
				ref := refOf(u)
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

// claims reads the claims of the namespaces where some may be deleted. What may not be listed is
// a gap, over which no plan is made.
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
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int { return object.Compare(refOf(a), refOf(b)) })
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
