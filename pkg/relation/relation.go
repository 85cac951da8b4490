// Package relation has the relationship rules: which references an object has to others. A rule is
// a pure function, object -> links; it sees one object and never another. Only the graph resolves
// what a link refers to.
//
// The terms of the package:
//
//   - Relation, the meaning of a link: From owns To, From needs To, From serves To.
//   - Via, the kind of field it comes from: an owner reference, a label, an annotation, a field
//     of the spec, an environment variable.
//   - Target, what it refers to: a name, a UID or a selector.
//   - Evidence, the field and the value that prove it.
//
// # Use
//
// [BuiltIn] are the rules of Kubernetes itself. A [Set] applies rules to an object, and emits a
// [Link] for each reference that it finds:
//
//	set := relation.NewSet(relation.BuiltIn()...)
//	set.Links(o, func(rule int, l relation.Link) { ... })
//
// A field that is absent or of another shape gives no link, and no error. The graph finds out
// whether the target of a link exists. A Set is immutable and safe for concurrent use.
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
	// Owns: From created To, and To is deleted with it.
	Owns Relation = iota + 1
	// Needs: From does not work without To.
	Needs
	// Serves: From exists for To, which works without it.
	Serves
)

// Relations returns all of them, in the order in which they are shown.
func Relations() []Relation { return []Relation{Owns, Needs, Serves} }

func (r Relation) String() string {
	return [...]string{Owns: "owns", Needs: "needs", Serves: "serves"}[r]
}

// ParseRelation parses what String returns.
func ParseRelation(s string) (Relation, bool) {
	i := slices.IndexFunc(Relations(), func(r Relation) bool { return r.String() == s })
	if i < 0 {
		return 0, false
	}
	return Relations()[i], true
}

// Via is the kind of field that an edge comes from.
type Via uint8

// The five kinds.
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

// Link is a reference from one object to another, or to all that a selector matches.
type Link struct {
	// Target is what the link refers to.
	Target Target
	// Backward is set if the edge runs from the target to the object that was read, as it does for
	// an owner reference, which is a field of the child.
	Backward bool
	// Field is the path of the field, as kubectl explain writes it, with indices:
	// spec.volumes[0].secret.secretName.
	Field string
	// Value is the value of the field.
	Value string
	// Optional is set if the object works without the target.
	Optional bool
	// Inferred is set if a heuristic found the link.
	Inferred bool
	// Inactive is set if the object does nothing at present, so that nothing breaks today without
	// the target.
	Inactive bool
	// Settled is set if the object has what it needs of the target, and needs it again only for a
	// new one: a pod that runs, a claim that is bound.
	Settled bool
	// Controller is set for an owner reference whose owner controls the object.
	Controller bool
	// Blocks is set for an owner reference with blockOwnerDeletion: a foreground deletion of the
	// owner waits for the object.
	Blocks bool
}

// Target selects the objects of a link. Exactly one of Name and Selector is set, and one of Kind
// and KindBy.
type Target struct {
	// Kind is the group and kind, or a group with a resource name if IsResource is set.
	Kind       schema.GroupKind
	IsResource bool
	// KindBy, if set, is the object that gives the kind of the target (Rule.States), and Kind is
	// empty: the policy of a binding. The link counts only if that object was read, and if
	// Namespace is set exactly when the kind is namespaced.
	KindBy *object.Ref
	// Namespace is the namespace of the target. The graph ignores it for a cluster-scoped kind, so
	// a rule may set the namespace of the object.
	Namespace string
	Name      string
	// UID, if set, must be that of the object with the name: another UID is a new object under the
	// same name.
	UID types.UID
	// Selector matches targets by label or annotation in Namespace, or in every namespace if
	// AllNamespaces is set.
	Selector      *Selector
	AllNamespaces bool
	// Namespaces, if set, replaces Namespace: it matches, by label, the namespaces to search.
	Namespaces *Selector
	// Except excludes targets in the namespace of the object from Selector: the object's own pods.
	Except *Selector
	// IfPresent drops the link if no such object exists, instead of showing it as missing: a host
	// name may be anything.
	IfPresent bool
	// Granted is set if the link into another namespace counts only with a ReferenceGrant there.
	Granted bool
	// Definition selects the CustomResourceDefinition of Kind, for a reference to a kind. A
	// built-in kind has none.
	Definition bool
}

// EmitFunc receives the links of an object as a rule finds them.
type EmitFunc func(Link)

// Rule is one relationship: the kinds that declare it, its relation, and the function that reads it
// from an object.
type Rule struct {
	// Name identifies the rule in output: service-selector.
	Name string
	// From lists the kinds that are read.
	From []schema.GroupKind
	// Relation and Via are those of each edge of the rule.
	Relation Relation
	Via      Via
	// To is the kind at the other end, for documentation; empty if the object gives it.
	To string
	// Backward documents that the edges run from To to From, as those of backward links do.
	Backward bool
	// Field is the path of the field, for documentation: spec.tls[].secretName.
	Field string
	// Origin is empty for built-in rules, else the CRD, catalog entry or file that declares the
	// rule.
	Origin string
	// Source is the publication that the rule was written from; empty for built-in rules, whose
	// source is the API of Kubernetes.
	Source string
	// Metadata is set if the rule reads only metadata, so that the source need not read the whole
	// object.
	Metadata bool
	// CrossNamespace is set if objects of another namespace, or cluster-scoped ones, can link to an
	// object in a namespace. A graph of one namespace then reads the kinds of From in all of them.
	CrossNamespace bool
	// Terminal is set if To belongs to the stack of From and is not followed further: configuration
	// that a shared reader collects, such as the monitors of a Prometheus. Otherwise every
	// application would be part of the monitoring. With Namespaces, it counts only if the reader
	// itself is a root.
	Terminal bool
	// Peer is set if an edge makes neither end part of the stack of the other: the peers of a
	// NetworkPolicy, pod affinity.
	Peer bool
	// Evidence is set if the links make no edges: the graph compares them with edges, or derives
	// from them what a deletion removes. A link to the object itself states a fact about it.
	Evidence bool
	// Namespaces is set if links of the rule select namespaces by label, so that all Namespaces are
	// read. For a Peer rule they are not listed only for that: its links count if Namespaces are
	// read anyway.
	Namespaces bool
	// OnDemand is set if the kinds of From are read only on request, as Events are: the rule alone
	// does not make a source list them.
	OnDemand bool
	// Untyped is set if the rule reads the object as maps, in whatever version is served: client-go
	// has no Go type for the kind, or its versions still change.
	Untyped bool
	// Manages is set if From is a manager (a release, a GitOps application): it owns To only in a
	// stack of which it is the root, and is context otherwise.
	Manages bool
	// Deletes says, for a rule by which From owns To, what happens to To when From is deleted:
	// Always, Never, or the finalizer of From with which its controller deletes To. Empty means
	// unknown; owner references are the garbage collector's.
	Deletes string
	// Exposes is set if From routes requests from outside the cluster to To, which so has users of
	// its own, besides the objects that need it.
	Exposes bool
	// Annotation is the key that selectors of the rule use, so that the inventory stores it of
	// every object; empty if there is none.
	Annotation string
	// Links reads the object. It must not retain it.
	Links func(object.Object, EmitFunc)
	// Keys, if set, emits further names of an object of From, by which others refer to it
	// (Selector.Key): the pool of a ResourceSlice.
	Keys func(o object.Object, key func(string))

	// States, if set, returns the kind that an object of From gives to the targets of other objects
	// (Target.KindBy), and false if it gives none.
	States func(o object.Object) (schema.GroupKind, bool)

	// template reads a pod spec, in a rule for every kind that has one.
	template func(template, EmitFunc)
	// family reads for this rule and others at once; member is the rule's index in it.
	family *family
	member int
}

// Values of Rule.Deletes that are not finalizers.
const (
	Always = "always"
	Never  = "never"
)

// Set is a list of rules, by the kind that they read.
type Set struct {
	rules  []Rule
	byKind map[schema.GroupKind][]int
	every  []int
	// families are the rules of Together, by the kind that they read.
	families map[schema.GroupKind][]*members
}

// MaxRules is the largest number of rules in a set: a graph numbers them in 16 bits.
const MaxRules = 1 << 16

// NewSet returns the set of the first MaxRules rules. A rule without From reads every object.
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

// Rules returns the rules; Links emits their index.
func (s *Set) Rules() []Rule { return s.rules }

// Annotations returns the keys that selectors of the rules use.
func (s *Set) Annotations() []string {
	var keys []string
	for i := range s.rules {
		if k := s.rules[i].Annotation; k != "" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Crossing returns the kinds with links into a namespace from outside it, and the kind Namespace if
// a rule selects namespaces by label.
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

// Reads reports whether a rule reads more than the metadata of objects of the kind.
func (s *Set) Reads(gk schema.GroupKind) bool {
	return len(s.families[gk]) > 0 || slices.ContainsFunc(s.byKind[gk], func(i int) bool { return !s.rules[i].Metadata })
}

// OnDemand reports whether rules read objects of the kind only on request.
func (s *Set) OnDemand(gk schema.GroupKind) bool {
	rules := s.byKind[gk]
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(i int) bool { return !s.rules[i].OnDemand })
}

// Keys emits the further names of o.
func (s *Set) Keys(o object.Object, key func(string)) {
	for _, i := range s.byKind[o.GroupKind()] {
		if keys := s.rules[i].Keys; keys != nil {
			keys(o, key)
		}
	}
}

// States returns the kind that o gives to the targets of other objects, if any.
func (s *Set) States(o object.Object) (schema.GroupKind, bool) {
	for _, i := range s.byKind[o.GroupKind()] {
		if states := s.rules[i].States; states != nil {
			return states(o)
		}
	}
	return schema.GroupKind{}, false
}

// Links runs every rule that reads o, and emits each link with the index of its rule.
func (s *Set) Links(o object.Object, emit func(rule int, l Link)) {
	// One closure for all rules: one for each rule would allocate for each of very many objects.
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
