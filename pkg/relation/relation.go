// Package relation knows the relationship rules: what one object says about
// others. A rule is a value and pure, object -> links; it sees one object and
// never another. The graph alone resolves what a link points at.
//
// The words of the house:
//
//   - Relation, what a link means: From owns To, From needs To, From serves To.
//   - Via, how it is known: an owner reference, a label, an annotation, a field
//     of the spec, an environment variable.
//   - Target, what it points at: a name, a UID or a selector.
//   - Evidence, the field and the value that say so.
//
// # Use
//
// [BuiltIn] are the rules of Kubernetes itself. A [Set] applies rules to an object, and emits
// a [Link] for each thing that this says of another:
//
//	set := relation.NewSet(relation.BuiltIn()...)
//	set.Links(o, func(rule int, l relation.Link) { ... })
//
// A field that is absent or of another shape gives no link, and no error. A link is what is
// written: whether its target is there, and may be meant, the graph says. A Set is not
// changed once it is made, and several goroutines may use it at once.
package relation

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Relation is the meaning of an edge.
type Relation uint8

// The three relations.
const (
	// Owns: From made To and takes it along when it goes.
	Owns Relation = iota + 1
	// Needs: From does not work without To.
	Needs
	// Serves: From exists for the sake of To, which could live without it.
	Serves
)

// Relations lists all of them, in the order in which they are shown.
func Relations() []Relation { return []Relation{Owns, Needs, Serves} }

func (r Relation) String() string {
	return [...]string{Owns: "owns", Needs: "needs", Serves: "serves"}[r]
}

// ParseRelation reads what String wrote.
func ParseRelation(s string) (Relation, bool) {
	i := slices.IndexFunc(Relations(), func(r Relation) bool { return r.String() == s })
	if i < 0 {
		return 0, false
	}
	return Relations()[i], true
}

// Via is how an edge is known.
type Via uint8

// The five ways.
const (
	Owner Via = iota + 1
	Label
	Annotation
	Spec
	Env
)

func (v Via) String() string {
	return [...]string{Owner: "owner", Label: "label", Annotation: "annotation", Spec: "spec", Env: "env"}[v]
}

// Link is what one object says about another, or about all that a selector
// finds.
type Link struct {
	// Target is what the link points at.
	Target Target
	// Backward says that the edge runs from the target to the object that was
	// read. An owner reference is one: it is written on the child.
	Backward bool
	// Field is the path of the field that says so, as kubectl explain writes it
	// with indices: spec.volumes[0].secret.secretName.
	Field string
	// Value is what stood there.
	Value string
	// Optional says that the object works without the target.
	Optional bool
	// Inferred says that this is a guess.
	Inferred bool
	// Inactive says that the object is out of work, so that nothing breaks today if
	// the target is not there.
	Inactive bool
	// Settled says that the object has got what it asks of the target, and needs it again
	// only when something is made anew: a pod that runs, a claim that has its volume.
	Settled bool
	// Controller says, of an owner reference, that the owner controls the object.
	Controller bool
	// Blocks says, of an owner reference, that a deletion in the foreground waits for the
	// object (blockOwnerDeletion).
	Blocks bool
}

// Target says which objects a link means. Exactly one of Name and Selector is
// set, and one of Kind and KindBy.
type Target struct {
	// Kind is the group and kind, or a group with a resource name where
	// IsResource is set.
	Kind       schema.GroupKind
	IsResource bool
	// KindBy, where set, is the object that says of what kind the target is
	// (Rule.States), and Kind is empty: the policy of a binding. The link counts only
	// where that one was read, and where Namespace is set if and only if its kind is
	// namespaced.
	KindBy *object.Ref
	// Namespace is that of the target. For a kind that is cluster-scoped the
	// graph ignores it, so a rule may leave the namespace of the object here.
	Namespace string
	Name      string
	// UID must be that of the object found under Name where it is set: another
	// one is another object with a used name.
	UID types.UID
	// Selector finds targets by label or annotation within Namespace, or in every
	// namespace where AllNamespaces is set.
	Selector      *Selector
	AllNamespaces bool
	// Namespaces, where set, chooses by their labels the namespaces in which the
	// selector looks, instead of Namespace.
	Namespaces *Selector
	// Except, beside Selector, finds those in the namespace of the object that are not
	// meant although Selector finds them: its own pods.
	Except *Selector
	// IfPresent drops the link where no such object exists, instead of showing a
	// missing one: a host name may be anything.
	IfPresent bool
	// Granted says that in another namespace than that of the object the link counts
	// only where a ReferenceGrant there allows it.
	Granted bool
	// Definition means the CustomResourceDefinition of Kind, which a reference to a
	// kind does not name; of a built-in kind there is none.
	Definition bool
}

// EmitFunc takes the links of an object as a rule finds them.
type EmitFunc func(Link)

// Rule is one relationship: which kinds say it, what it means and the function
// that reads it off an object.
type Rule struct {
	// Name identifies the rule in output: service-selector.
	Name string
	// From lists the kinds that are read.
	From []schema.GroupKind
	// Relation and Via are those of each edge that the rule makes.
	Relation Relation
	Via      Via
	// To is the kind at the other end, for people; empty where the object says it.
	To string
	// Backward says, for people, that the edges run from To to From, as those of
	// backward links do.
	Backward bool
	// Field is the path that is read, for people: spec.tls[].secretName.
	Field string
	// Origin says where the rule comes from: empty for the built-in ones, else the
	// CRD, catalogue entry or file that declares it.
	Origin string
	// Source says where that is published from which the rule was written; empty for
	// the built-in rules, whose source is the API of Kubernetes.
	Source string
	// Metadata says that the rule reads the metadata of an object and nothing else,
	// so that the object need not be read whole for it.
	Metadata bool
	// CrossNamespace says that an object of another namespace, or of the cluster, can say
	// this of one in a namespace: to know who serves a namespace, the kinds of From
	// are read in all of them.
	CrossNamespace bool
	// Terminal says that To belongs to the stack of From and is not followed any
	// further: configuration that a shared reader collects, such as the monitors of
	// a Prometheus. Without it every application would be part of the monitoring.
	// With Namespaces, what others have is collected: that counts only where the
	// reader is itself asked for.
	Terminal bool
	// Peer says that an edge of the rule makes neither end part of the stack of the
	// other: whom a NetworkPolicy lets in, beside whom a pod wants to run.
	Peer bool
	// Evidence says that the links of the rule make no edges: the graph holds them
	// against what the edges say, or knows by them what goes with a deletion. A link to
	// itself says something of the object.
	Evidence bool
	// Namespaces says that links of the rule choose namespaces by their labels, so
	// that all Namespaces are read. Those of a rule that is Aside are not worth a
	// list: they count where Namespaces are read anyway.
	Namespaces bool
	// OnDemand says that the kinds of From are left out unless they are asked for, as
	// Events are: that this rule reads them does not make the source list them.
	OnDemand bool
	// Untyped says that the rule reads the object as maps, in whatever version it is
	// served: the kind is no Go type of ours, or its versions still change.
	Untyped bool
	// Manages says that From is a manager (a release, a GitOps application): it owns
	// To only where it is itself what was asked for, and is context otherwise.
	Manages bool
	// Deletes says, of a rule by which From owns To, what becomes of To when From is
	// deleted: Always, Never, or the name of the finalizer of From by which its
	// controller deletes To. Where it is empty nothing is known; owner references are the
	// garbage collector's.
	Deletes string
	// Exposes says that From leads requests from outside the cluster to To, which so has
	// users of its own, whoever else needs it.
	Exposes bool
	// Annotation is the key that selectors of the rule ask for, so that the
	// annotation is kept of every object; empty where none does.
	Annotation string
	// Links reads the object. It must not keep it.
	Links func(object.Object, EmitFunc)
	// Keys, where set, hands out further names of an object of From, by which others
	// mean it (Selector.Key): the pool of a ResourceSlice.
	Keys func(o object.Object, key func(string))

	// States, where set, is the kind that an object of From gives to links of others
	// (Target.KindBy); false where it gives none.
	States func(o object.Object) (schema.GroupKind, bool)

	// template reads a pod spec, in a rule that holds for whoever carries one.
	template func(template, EmitFunc)
	// family reads for this rule and others at once; member is its place in it.
	family *family
	member int
}

// Values of Rule.Deletes that are no finalizers.
const (
	Always = "always"
	Never  = "never"
)

// Set is a list of rules by the kind that they read.
type Set struct {
	rules  []Rule
	byKind map[schema.GroupKind][]int
	every  []int
	// families are the rules of Together, by the kind that they read.
	families map[schema.GroupKind][]*members
}

// MaxRules is how many rules a set holds: a graph numbers them in 16 bits.
const MaxRules = 1 << 16

// NewSet returns the set of rules, of which it takes the first MaxRules. A rule
// without From reads every object.
func NewSet(rules ...Rule) *Set {
	rules = rules[:min(len(rules), MaxRules)]
	s := &Set{rules: rules, byKind: map[schema.GroupKind][]int{}, families: map[schema.GroupKind][]*members{}}
	for i, r := range rules {
		if r.family != nil && len(r.From) > 0 {
			s.join(i, &rules[i])
			continue
		}
		if len(r.From) == 0 {
			s.every = append(s.every, i)
		}
		for _, gk := range r.From {
			s.byKind[gk] = append(s.byKind[gk], i)
		}
	}
	return s
}

// Rules returns the rules; their position is the number that Links hands out.
func (s *Set) Rules() []Rule { return s.rules }

// Annotations returns the keys that selectors of the rules ask for.
func (s *Set) Annotations() []string {
	var keys []string
	for i := range s.rules {
		if k := s.rules[i].Annotation; k != "" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Crossing returns the kinds that reach into a namespace from outside it, and
// Namespaces where a rule goes by their labels.
func (s *Set) Crossing() []schema.GroupKind {
	var kinds []schema.GroupKind
	for i := range s.rules {
		if s.rules[i].Namespaces && !s.rules[i].Peer && !slices.Contains(kinds, namespace) {
			kinds = append(kinds, namespace)
		}
		if !s.rules[i].CrossNamespace {
			continue
		}
		for _, gk := range s.rules[i].From {
			if !slices.Contains(kinds, gk) {
				kinds = append(kinds, gk)
			}
		}
	}
	return kinds
}

// Reads says whether a rule looks into objects of the kind, beyond the metadata
// that every object has.
func (s *Set) Reads(gk schema.GroupKind) bool {
	return len(s.families[gk]) > 0 || slices.ContainsFunc(s.byKind[gk], func(i int) bool { return !s.rules[i].Metadata })
}

// OnDemand says that rules look into objects of the kind only where it is asked
// for.
func (s *Set) OnDemand(gk schema.GroupKind) bool {
	rules := s.byKind[gk]
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(i int) bool { return !s.rules[i].OnDemand })
}

// Keys hands on the further names of o.
func (s *Set) Keys(o object.Object, key func(string)) {
	for _, i := range s.byKind[o.GroupKind()] {
		if keys := s.rules[i].Keys; keys != nil {
			keys(o, key)
		}
	}
}

// States returns the kind that o gives to links of others, if it does.
func (s *Set) States(o object.Object) (schema.GroupKind, bool) {
	for _, i := range s.byKind[o.GroupKind()] {
		if states := s.rules[i].States; states != nil {
			return states(o)
		}
	}
	return schema.GroupKind{}, false
}

// Links runs every rule that reads o, and hands on each link with the number of
// its rule.
func (s *Set) Links(o object.Object, emit func(rule int, l Link)) {
	// One function for all rules: one a rule would be an allocation a rule, for
	// each of very many objects.
	var current int
	hand := func(l Link) { emit(current, l) }
	for _, list := range [2][]int{s.every, s.byKind[o.GroupKind()]} {
		for _, current = range list {
			s.rules[current].Links(o, hand)
		}
	}
	for _, m := range s.families[o.GroupKind()] {
		m.links(o, emit)
	}
}
