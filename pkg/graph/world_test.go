package graph_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// world is a small cluster, written as lines:
//
//	a owns b       b has an owner reference to a
//	a made b       a owns b by a rule, inferred
//	a promises b   a owns b by a rule, if it exists
//	a heralds b    a manages b by a rule, if it exists
//	a needs b      a needs? b     optional
//	a guesses b    a needs b, inferred
//	a serves b
//	a collects b   a needs b, a leaf
//	a gathers b    a needs b, a leaf of a shared reader
//	a manages b    a owns b, as a manager
//	a regards b    a needs b, as a peer
//	gone a         a does not exist
//	unread a       a was read before, and its kind is forbidden now
//	a              a exists
//
// A name is kind:name, with the kinds of letters; a bare name is a Thing in the namespace ns, and
// ns/name one in another. Every named object exists unless it is gone or of the kind u, which is
// not read.
type world struct {
	t      testing.TB
	metas  map[object.Ref]*metav1.PartialObjectMetadata
	order  []object.Ref
	gone   map[object.Ref]bool
	unread map[object.Ref]bool
	links  map[string]map[object.Ref][]relation.Link
	notes  []string
}

var letters = map[string]object.Ref{
	"":     {Group: "test", Kind: "Thing", Namespace: "ns"},
	"u":    {Group: "test", Kind: "Other", Namespace: "ns"},
	"g":    {Group: "test", Kind: "Global"},
	"n":    {Kind: "Node"},
	"ns":   {Kind: "Namespace"},
	"in":   {Kind: "Namespace"},
	"sa":   {Kind: "ServiceAccount", Namespace: "ns"},
	"pod":  {Kind: "Pod", Namespace: "ns"},
	"apps": {Group: "apps", Kind: "Deployment", Namespace: "ns"},
	"rs":   {Group: "apps", Kind: "ReplicaSet", Namespace: "ns"},
	"job":  {Group: "batch", Kind: "Job", Namespace: "ns"},
	"sec":  {Kind: "Secret", Namespace: "ns"},
	"cm":   {Kind: "ConfigMap", Namespace: "ns"},
	"o":    {Group: "other", Kind: "Thing", Namespace: "ns"},
	"twin": {Group: "other", Kind: "Unlisted", Namespace: "ns"},
	"ext":  {Group: "extensions", Kind: "Deployment", Namespace: "ns"},
	"ev":   {Kind: "Event", Namespace: "ns"},
	"evs":  {Group: "events.k8s.io", Kind: "Event", Namespace: "ns"},
}

func refOf(name string) object.Ref {
	letter, rest, ok := strings.Cut(name, ":")
	if !ok {
		letter, rest = "", name
	}
	r, known := letters[letter]
	if !known {
		panic("no such kind: " + name)
	}
	r.Name = rest
	if ns, n, ok := strings.Cut(rest, "/"); ok {
		r.Namespace, r.Name = ns, n
	}
	return r
}

// nameOf is the inverse of refOf.
func nameOf(r object.Ref) string {
	for letter, l := range letters {
		if l.Group != r.Group || l.Kind != r.Kind {
			continue
		}
		name := r.Name
		if r.Namespace != l.Namespace {
			name = r.Namespace + "/" + name
		}
		if letter == "" {
			return name
		}
		return letter + ":" + name
	}
	return r.String()
}

func uidOf(name string) types.UID { return types.UID("uid of " + name) }

func newWorld(t testing.TB, lines string) *world {
	w := &world{
		t: t, metas: map[object.Ref]*metav1.PartialObjectMetadata{},
		gone: map[object.Ref]bool{}, unread: map[object.Ref]bool{}, links: map[string]map[object.Ref][]relation.Link{},
	}
	for line := range strings.Lines(lines) {
		line, _, _ = strings.Cut(line, "#")
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case len(words) == 1:
			w.object(words[0])
		case words[0] == "gone":
			w.gone[refOf(words[1])] = true
		case words[0] == "unread":
			w.unread[refOf(words[1])] = true
		case len(words) == 3:
			w.edge(words[0], words[1], words[2])
		default:
			t.Fatalf("line %q", line)
		}
	}
	return w
}

func (w *world) object(name string) *metav1.PartialObjectMetadata {
	r := refOf(name)
	if w.metas[r] == nil {
		w.metas[r] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, UID: uidOf(name)}}
		w.order = append(w.order, r)
	}
	return w.metas[r]
}

func (w *world) edge(from, word, to string) {
	if word == "owns" {
		w.object(from)
		r := refOf(from)
		w.owner(to, metav1.OwnerReference{APIVersion: r.Group + "/v1", Kind: r.Kind, Name: r.Name, UID: uidOf(from)})
		return
	}
	w.object(to)
	r := refOf(to)
	l := relation.Link{
		Target: relation.Target{Kind: r.GroupKind(), Namespace: r.Namespace, Name: r.Name},
		Field:  "spec." + word, Value: r.Name, Optional: word == "needs?", Inferred: word == "made" || word == "guesses",
	}
	l.Target.IfPresent = word == "promises" || word == "heralds"
	rule := map[string]string{"made": "owns", "promises": "owns", "heralds": "manages", "needs?": "needs", "guesses": "needs"}[word]
	if rule == "" {
		rule = word
	}
	w.link(from, rule, l)
}

func (w *world) owner(child string, o metav1.OwnerReference) {
	m := w.object(child)
	o.APIVersion = strings.TrimPrefix(o.APIVersion, "/")
	m.OwnerReferences = append(m.OwnerReferences, o)
}

// link adds a link to an object, by the rule of a relation.
func (w *world) link(name, rule string, l relation.Link) {
	w.object(name)
	if !slices.ContainsFunc(sayings, func(r relation.Rule) bool { return r.Name == "test-"+rule }) {
		w.t.Fatalf("no relation %q", rule)
	}
	if w.links[rule] == nil {
		w.links[rule] = map[object.Ref][]relation.Link{}
	}
	w.links[rule][refOf(name)] = append(w.links[rule][refOf(name)], l)
}

func (w *world) rules() *relation.Set {
	rules := slices.DeleteFunc(relation.BuiltIn(), func(r relation.Rule) bool { return r.Name != "owner-reference" })
	for _, r := range sayings {
		links := w.links[strings.TrimPrefix(r.Name, "test-")]
		r.Via = relation.Spec
		r.Links = func(o object.Object, emit relation.EmitFunc) {
			for _, l := range links[o.Ref] {
				emit(l)
			}
		}
		rules = append(rules, r)
	}
	return relation.NewSet(rules...)
}

// sayings are the rules of a world, in addition to owner references.
var sayings = []relation.Rule{
	{Name: "test-owns", Relation: relation.Owns},
	{Name: "test-needs", Relation: relation.Needs},
	{Name: "test-serves", Relation: relation.Serves},
	{Name: "test-collects", Relation: relation.Needs, Terminal: true},
	{Name: "test-gathers", Relation: relation.Needs, Terminal: true, Namespaces: true},
	{Name: "test-manages", Relation: relation.Owns, Manages: true},
	{Name: "test-regards", Relation: relation.Needs, Peer: true},
}

// build adds the objects in their order, or in a random one.
func (w *world) build(random *rand.Rand) *graph.Graph {
	b := graph.NewBuilder(w.rules(), builtInKinds())
	inv := inventory.New(w.notes, b.Extract)
	inv.ExtractUnread(b.Extract)
	refused := map[schema.GroupKind]bool{{Group: "test", Kind: "Other"}: true}
	order := slices.Clone(w.order)
	if random != nil {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, r := range order {
		o := object.Object{Ref: r, Version: "v1", Meta: w.metas[r], Body: w.metas[r]}
		switch {
		case w.unread[r]:
			refused[r.GroupKind()] = true
			inv.Unread(o)
		case !w.gone[r] && r.Kind != "Other":
			inv.Add(o)
		}
	}
	for _, r := range builtInKinds().All() {
		if !refused[r.GroupKind()] && r.Kind != "Unlisted" {
			inv.Cover(r.GroupKind(), "")
		}
	}
	return b.Build(inv)
}

func graphOf(t testing.TB, lines string) *graph.Graph {
	t.Helper()
	return newWorld(t, lines).build(nil)
}

func node(t testing.TB, g *graph.Graph, name string) graph.ID {
	t.Helper()
	id, ok := g.Find(refOf(name))
	if !ok {
		t.Fatalf("no node %s", name)
	}
	return id
}

func nodes(t testing.TB, g *graph.Graph, list string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for name := range strings.FieldsSeq(list) {
		ids = append(ids, node(t, g, name))
	}
	return ids
}
