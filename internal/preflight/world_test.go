package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// basics are in every cluster of these tests.
const basics = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system}
---
`

// wholeTypes are the kinds that are read as Go types.
var wholeTypes = sync.OnceValue(func() []schema.GroupVersionKind { return slices.Concat(check.Whole(), relation.Typed()) })

// whole hands on all objects, and says that all kinds were read but those that are named.
type whole struct {
	*inventory.Inventory
	unread []string
}

func (w whole) Add(o object.Object) {
	if !slices.Contains(w.unread, o.Kind) {
		w.Inventory.Add(o)
	}
}

func (whole) Cover(schema.GroupKind, string) {}

// readYAML reads documents as a cluster, in which all kinds may be read but those that are
// named.
func readYAML(t testing.TB, text string, unread []string) (*graph.Graph, *check.Collector, *object.Kinds) {
	t.Helper()
	snap, err := source.Open("-", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := snap.Kinds(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	facts := check.NewCollector()
	inv := inventory.New(nil, b.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	})
	types := wholeTypes()
	detail := func(r object.Resource) (source.Detail, string) {
		for _, gvk := range types {
			if gvk.GroupKind() == r.GroupKind() {
				return source.Typed, gvk.Version
			}
		}
		return source.Fields, ""
	}
	if err := snap.Reading(detail).Read(context.Background(), source.Query{All: true}, whole{inv, unread}); err != nil {
		t.Fatal(err)
	}
	for _, r := range kinds.All() {
		if !slices.Contains(unread, r.Kind) {
			inv.Cover(r.GroupKind(), "")
		}
	}
	return b.Build(inv), facts, kinds
}

// ask is a batch and a cluster as YAML, as a Question. Objects of the batch that the
// cluster has too exist, and are in the graph of both as the batch has them.
func ask(t testing.TB, cluster, batch string, unread ...string) Request {
	t.Helper()
	q := Request{Admissions: []Admission{}}
	there := map[object.Ref]bool{}
	var kept []string
	g, facts, kinds := readYAML(t, basics+cluster, unread)
	q.World = check.NewWorld(g, facts, kinds, func(gk schema.GroupKind, _ string) bool { return !slices.Contains(unread, gk.Kind) })
	for n := range g.Nodes() {
		there[n.Ref] = n.State == graph.Present
	}
	mine := map[object.Ref]bool{}
	for i, doc := range documents(t, batch) {
		ref := refIn(doc)
		mine[ref] = true
		q.Batch = append(q.Batch, Item{Ref: ref, Origin: fmt.Sprintf("batch.yaml:%d", i+1), Object: doc, Exists: there[ref]})
		kept = append(kept, yamlOf(t, doc))
	}
	for _, doc := range documents(t, basics+cluster) {
		if !mine[refIn(doc)] {
			kept = append(kept, yamlOf(t, doc))
		}
	}
	q.Graph, _, _ = readYAML(t, strings.Join(kept, "\n---\n"), unread)
	return q
}

func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), &u.Object); err != nil {
			t.Fatalf("%v in %s", err, part)
		}
		if len(u.Object) > 0 {
			data, err := yaml.YAMLToJSON([]byte(part))
			if err != nil {
				t.Fatal(err)
			}
			if err := u.UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			out = append(out, u)
		}
	}
	return out
}

func yamlOf(t testing.TB, u *unstructured.Unstructured) string {
	t.Helper()
	data, err := yaml.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// refIn is the reference of a document; what is in a namespace says so.
func refIn(u *unstructured.Unstructured) object.Ref {
	gvk := u.GroupVersionKind()
	return object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// firstFit places pods by CPU, memory and node selector alone, in their order; where one
// finds no node, none of the nodes is big enough for what is asked for.
func firstFit(c *schedule.Cluster, pods []schedule.Pod) schedule.Result {
	used := map[string]corev1.ResourceList{}
	take := func(node string, p *corev1.Pod) {
		if used[node] == nil {
			used[node] = corev1.ResourceList{}
		}
		plus(used[node], resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}), 1)
	}
	for _, p := range c.Pods {
		take(p.Spec.NodeName, p)
	}
	var answer schedule.Result
	for _, p := range pods {
		placed := false
		for _, n := range c.Nodes {
			if placed = room(n, used[n.Name], p.Pod); placed {
				take(n.Name, p.Pod)
				answer.Placement = append(answer.Placement, schedule.Placed{Pod: p.Name, Node: n.Name})
				break
			}
		}
		if !placed {
			message := fmt.Sprintf("%s: none of %s has room for it", p.Name, object.Count(len(c.Nodes), "node"))
			return schedule.Result{Verdict: impossible, Proofs: []schedule.Reason{{Pods: []string{p.Name}, Reason: "InsufficientCPU", Message: message}}}
		}
	}
	answer.Verdict = fits
	return answer
}

func room(n *corev1.Node, used corev1.ResourceList, p *corev1.Pod) bool {
	if !labels.SelectorFromSet(p.Spec.NodeSelector).Matches(labels.Set(n.Labels)) {
		return false
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if len(terms) == 1 && len(terms[0].MatchFields) == 1 && terms[0].MatchFields[0].Key == metav1.ObjectNameField && terms[0].MatchFields[0].Values[0] != n.Name {
			return false
		}
	}
	for name, q := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
		sum := used[name].DeepCopy()
		sum.Add(q)
		if sum.Cmp(n.Status.Allocatable[name]) > 0 {
			return false
		}
	}
	return true
}

// dump writes a report for people who compare.
func dump(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d pods\n", r.Verdict, r.Pods)
	for _, j := range r.Findings {
		who := ""
		if j.Object.Name != "" {
			who = " " + plain(j.Object)
		}
		where := ""
		if j.Field != "" {
			where = " at " + j.Field
		}
		fmt.Fprintf(&b, "%s %s%s%s %s\n  %s\n", j.Verdict, j.Topic, who, where, j.Reason, j.Message)
	}
	for _, p := range r.Placement {
		fmt.Fprintf(&b, "%s -> %s\n", p.Pod, p.Node)
	}
	for _, n := range r.NotChecked {
		fmt.Fprintf(&b, "not checked: %s\n", n)
	}
	if r.AutoscalerNote != "" {
		fmt.Fprintf(&b, "%s\n", r.AutoscalerNote)
	}
	return b.String()
}
