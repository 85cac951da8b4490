package health_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// world is a few objects and how each fares by itself, written down in lines:
//
//	a owns b, a needs b, a serves b, a scales b
//	a needs? b                optional
//	a makes b                 a says that it owns b, which may not be there yet
//	a is Degraded since 3     the hour; nobody says anything of those that are not named so
//	a is silent               it has no status
//	a ended Degraded since 3
//	a kept-by Rollout 7 3     its owners of that kind keep it as history; for revision 7, made at 3
//	a at 7                    the revision that an owner is at
//	gone a, unread a          it is named, and not there, or not read
//
// A name is Kind:name; a name alone is a Thing, which is a custom resource.
type world struct {
	t     testing.TB
	metas map[object.Ref]*metav1.PartialObjectMetadata
	state map[object.Ref]string
	links map[string]map[object.Ref][]relation.Link
	own   map[object.Ref]health.Health
}

var groups = map[string]string{"Thing": "test", "Job": "batch", "CronJob": "batch", "ReplicaSet": "apps", "PodDisruptionBudget": "policy", "VerticalPodAutoscaler": "autoscaling.k8s.io"}

func refOf(name string) object.Ref {
	kind, rest, ok := strings.Cut(name, ":")
	if !ok {
		kind, rest = "Thing", name
	}
	return object.Ref{Group: groups[kind], Kind: kind, Namespace: "ns", Name: rest}
}

func nameOf(r object.Ref) string {
	if r.Kind == "Thing" {
		return r.Name
	}
	return r.Kind + ":" + r.Name
}

var kinds = object.NewKinds(slices.Collect(func(yield func(object.Resource) bool) {
	for _, kind := range append(slices.Sorted(maps.Keys(groups)), "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Secret") {
		lower := strings.ToLower(kind)
		if !yield(object.Resource{Group: groups[kind], Version: "v1", Kind: kind, Plural: lower + "s", Singular: lower, Namespaced: true, Listable: true, Custom: groups[kind] == "test"}) {
			return
		}
	}
}))

func newWorld(t testing.TB, lines string) *world {
	t.Helper()
	w := &world{
		t: t, metas: map[object.Ref]*metav1.PartialObjectMetadata{}, state: map[object.Ref]string{},
		links: map[string]map[object.Ref][]relation.Link{}, own: map[object.Ref]health.Health{},
	}
	for line := range strings.Lines(lines) {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "gone" || words[0] == "unread":
			w.state[refOf(words[1])] = words[0]
		case words[1] == "is" || words[1] == "ended":
			w.object(words[0])
			w.says(refOf(words[0]), words[1:])
		case words[1] == "kept-by" || words[1] == "at":
			w.object(words[0])
			w.keep(refOf(words[0]), words[1:])
		case len(words) == 3:
			w.edge(words[0], words[1], words[2])
		default:
			t.Fatalf("line %q", line)
		}
	}
	return w
}

func hour(text string) time.Time {
	return time.Date(2026, 11, 1, int(text[0]-'0'), 0, 0, 0, time.UTC)
}

func (w *world) says(r object.Ref, words []string) {
	h := health.Health{Status: health.Status(words[1]), Reason: "Said", Ended: words[0] == "ended", Stage: "conditions"}
	if words[1] == "silent" {
		h = health.Health{Status: health.Unknown, Reason: health.NoStatus, Message: "it has no status", Unreported: true}
	}
	if len(words) == 4 {
		h.Since = hour(words[3])
	}
	w.own[r] = h
}

// keep says what is known of a history; after what is said of the object otherwise.
func (w *world) keep(r object.Ref, words []string) {
	h, ok := w.own[r]
	if !ok {
		h = health.Health{Status: health.Healthy, Reason: "Said", Stage: "conditions"}
	}
	h.History = &health.History{Revision: words[1]}
	if words[0] == "kept-by" {
		h.History = &health.History{Owners: []string{words[1]}, Revision: strings.Trim(words[2], "-"), Made: hour(words[3])}
	}
	w.own[r] = h
}

func (w *world) object(name string) *metav1.PartialObjectMetadata {
	r := refOf(name)
	if w.metas[r] == nil {
		w.metas[r] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, UID: types.UID(name)}}
	}
	return w.metas[r]
}

func (w *world) edge(from, word, to string) {
	w.object(from)
	m, f, target := w.object(to), refOf(from), refOf(to)
	if word == "owns" {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: strings.TrimPrefix(f.Group+"/v1", "/"), Kind: f.Kind, Name: f.Name, UID: types.UID(from),
		})
		return
	}
	l := relation.Link{
		Target: relation.Target{Kind: target.GroupKind(), Namespace: target.Namespace, Name: target.Name},
		Field:  cmp.Or(map[string]string{"scales": "spec.scaleTargetRef.name", "targets": "spec.targetRef.name"}[word], "spec."+word), Value: target.Name, Optional: word == "needs?",
	}
	word = strings.TrimSuffix(word, "?")
	if w.links[word] == nil {
		w.links[word] = map[object.Ref][]relation.Link{}
	}
	w.links[word][f] = append(w.links[word][f], l)
}

func (w *world) graph() *graph.Graph {
	rules := slices.DeleteFunc(relation.BuiltIn(), func(r relation.Rule) bool { return r.Name != "owner-reference" })
	for name, r := range map[string]relation.Relation{"needs": relation.Needs, "serves": relation.Serves, "scales": relation.Serves, "targets": relation.Serves, "makes": relation.Owns} {
		links := w.links[name]
		rules = append(rules, relation.Rule{Name: "test-" + name, Relation: r, Via: relation.Spec, Links: func(o object.Object, emit relation.EmitFunc) {
			for _, l := range links[o.Ref] {
				emit(l)
			}
		}})
	}
	slices.SortFunc(rules, func(a, b relation.Rule) int { return cmp.Compare(a.Name, b.Name) })
	b := graph.NewBuilder(relation.NewSet(rules...), kinds)
	inv := inventory.New(nil, b.Extract)
	covered := map[string]bool{}
	for r, state := range w.state {
		covered[r.Kind] = covered[r.Kind] || state == "unread"
	}
	for r, m := range w.metas {
		if w.state[r] == "" {
			inv.Add(object.Object{Ref: r, Version: "v1", Meta: m, Body: m})
		}
	}
	for _, r := range kinds.All() {
		if !covered[r.Kind] {
			inv.Cover(r.GroupKind(), "")
		}
	}
	return b.Build(inv)
}

func (w *world) assess() (*graph.Graph, *health.Assessment) {
	g := w.graph()
	return g, health.Assess(g, func(id graph.ID) (health.Health, bool) {
		h, ok := w.own[g.Ref(id)]
		if !ok {
			h = health.Health{Status: health.Healthy, Reason: "Said", Stage: "conditions"}
		}
		return h, true
	})
}

// stack is the health of the stack of some roots.
func (w *world) stack(roots string) (*graph.Graph, *health.Assessment, *health.Stack) {
	w.t.Helper()
	g, a := w.assess()
	var ids []graph.ID
	for name := range strings.FieldsSeq(roots) {
		id, ok := g.Find(refOf(name))
		if !ok {
			w.t.Fatalf("no node %s", name)
		}
		ids = append(ids, id)
	}
	return g, a, a.Stack(g.Stack(ids, graph.StackOptions{}))
}
