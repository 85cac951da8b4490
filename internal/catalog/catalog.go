// Package catalog is what the project knows of operators: an entry an operator,
// written as YAML in catalog/, compiled into the binary.
//
// go generate packs the YAML into entries.bin, since to parse all of it takes
// longer than to answer a question; a test holds the two equal.
package catalog

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

//go:generate go test . -run TestCompiled -update
//go:generate go test . -run TestPage -update
//go:generate go test . -run TestSignalsPage -update
//go:generate go test . -run TestRoleOfOperators -update
//go:generate go test . -run TestCounts$ -update

// Entry is what is known of one operator.
type Entry struct {
	// Name is that of the file: cert-manager.
	Name string `json:"name" read:"name,required"`
	// Title is its name for people, Description one sentence of what it does.
	Title       string `json:"title" read:",required"`
	Description string `json:"description" read:",required"`
	// Source says where its API is published.
	Source []string `json:"source" read:",required"`
	Kinds  []Kind   `json:"kinds" read:",empty" want:"a list of the kinds that the operator defines"`
	// Signals are those of kinds that no entry can name, by pattern: *.kro.run.
	Signals []signals.Signal `json:"signals,omitempty" read:"patterns"`
	// Relations are the relationship rules, by themselves not bound to a cluster.
	Relations []declare.Spec `json:"relations" read:"relations"`
	// Versions are those that can be installed, in the order in which they are written; none
	// where it is only known what the operator does. An entry that has some may be without
	// kinds and relations.
	Versions []Version `json:"versions,omitempty" read:"version,max=200" want:"a list of versions that can be installed"`
}

// Kind is a custom kind that an operator defines.
type Kind struct {
	// Kind is written Kind.group.
	Kind string `json:"kind" read:"customKind,required,unique"`
	// Plural is the name of its resource, as its definition has it; empty where that is unknown
	// .
	Plural   string   `json:"plural,omitempty" read:"plural"`
	Versions []string `json:"versions" read:",required"`
	// ClusterScoped says that its objects have no namespace.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
	// Composes lists the kinds of objects that the operator makes for an instance
	// and owns. It is a statement, from which no edge follows.
	Composes []string `json:"composes,omitempty" read:"kind,empty" want:"a list of kinds"`
	// Health evaluates the objects by the operator's API: one rule for every version
	// of the API, or some for different ones; without a kind and an origin, which Health
	// fills in.
	Health []health.Rule `json:"health,omitempty" read:"health"`
	// Signals say how an object is held, by the operator's API; without a kind and an
	// origin, which Signals fills in.
	Signals []signals.Signal `json:"signals,omitempty" read:"signals"`
	// Monitoring says how the pods that run for an object serve metrics; nil where that is unknown.
	Monitoring *Monitoring `json:"monitoring,omitempty"`
	// Backup says how the operator backs up the data of an object: the first way that an object
	// is configured for is used.
	Backup []Backup `json:"backup,omitempty" want:"a list of ways to back up an object"`
	// Copy is what a copy of an object must not have beside the original; nil for nothing.
	Copy *Copy `json:"copy,omitempty"`
}

// Monitoring is how the pods of a custom resource serve metrics.
type Monitoring struct {
	// Set is the operator's own switch: the fields by which the pods serve metrics, or are scraped.
	Set map[string]any `json:"set,omitempty" read:"values"`
	// Creates is the kind of the monitor that the operator makes then; empty where it makes none.
	Creates string `json:"creates,omitempty" read:"customKind"`
	// Port is the name or the number of the container port, and Path where; empty for /metrics.
	Port string `json:"port" read:",required"`
	Path string `json:"path,omitempty"`
	// HTTPS are the fields by which the pods serve them by https.
	HTTPS map[string]any `json:"https,omitempty" read:"values"`
	// Pods are the labels of the pods, as KEY=VALUE,...; {metadata.name} is the name of the object.
	Pods string `json:"pods,omitempty"`
	// Source names the documentation that says so.
	Source string `json:"source" read:",required"`
}

// All returns every entry, by name. The entries are shared: they must not be
// changed.
func All() []Entry { return entries() }

// Of returns the entries of the operators that define a served kind.
func Of(kinds *object.Kinds) []Entry {
	return wholes(func(e Entry) bool { return e.definesServed(kinds) })
}

// KindOf returns what is known of a kind, and of whose it is.
func KindOf(r object.Resource) (Entry, Kind, bool) {
	for _, c := range compiled() {
		for i, k := range c.Kinds {
			if k.Kind == r.GroupKind().String() {
				e := c.whole()
				return *e, e.Kinds[i], true
			}
		}
	}
	return Entry{}, Kind{}, false
}

// MonitoringOf returns how the pods of a kind serve metrics; false where that is unknown.
func MonitoringOf(gk schema.GroupKind) (Monitoring, bool) {
	_, kind, ok := KindOf(object.Resource{Group: gk.Group, Kind: gk.Kind})
	if !ok || kind.Monitoring == nil {
		return Monitoring{}, false
	}
	return *kind.Monitoring, true
}

// Kinds returns the kinds of all entries, for what is asked about them where no server says
// it: their names and scope.
func Kinds() []object.Resource {
	var out []object.Resource
	for _, e := range compiled() {
		for _, k := range e.Kinds {
			out = append(out, k.Resource())
		}
	}
	return out
}

// Resource returns the kind as a server has it, in the first of its versions.
func (k Kind) Resource() object.Resource {
	gk := declare.GroupKind(k.Kind)
	r := object.Resource{Group: gk.Group, Kind: gk.Kind, Plural: k.Plural, Singular: strings.ToLower(gk.Kind), Namespaced: !k.ClusterScoped, Listable: true, Custom: true}
	if len(k.Versions) > 0 {
		r.Version = k.Versions[0]
	}
	return r
}

// Rules returns the rules of the operators in the cluster: of each entry of which
// the cluster serves a kind, the relations that read something it serves.
func Rules(kinds *object.Kinds) []relation.Rule {
	var rules []relation.Rule
	for _, e := range Of(kinds) {
		rules = append(rules, e.Rules(kinds)...)
	}
	return rules
}

// Rules returns the rules of the entry that read a kind which the cluster serves.
func (e Entry) Rules(kinds *object.Kinds) []relation.Rule {
	specs := make([]*declare.Spec, 0, len(e.Relations))
	known := map[string]bool{declare.Any: true}
	for i := range e.Relations {
		read, _ := e.Relations[i].Reader()
		for _, kind := range read {
			serves, looked := known[kind]
			if !looked {
				serves = served(kind, kinds)
				known[kind] = serves
			}
			if serves {
				specs = append(specs, &e.Relations[i])
				break
			}
		}
	}
	if e.Name == "crossplane" {
		more := crossplane(kinds)
		for i := range more {
			specs = append(specs, &more[i])
		}
	}
	return declare.RulesOf(specs, e.Name, e.Origin(), kinds)
}

// Origin is the origin of the rules of the entry.
func (e Entry) Origin() string { return "catalog " + e.Name }

func served(kind string, kinds *object.Kinds) bool {
	_, ok := kinds.Kind(declare.GroupKind(kind))
	return ok
}

// String returns the title with the name.
func (e Entry) String() string { return fmt.Sprintf("%s (%s)", e.Title, e.Name) }
