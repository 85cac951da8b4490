package relation

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PodShape is what of a pod a custom resource carries.
type PodShape uint8

const (
	// PodTemplate is a pod template: {metadata, spec}.
	PodTemplate PodShape = iota
	// PodSpec is a pod spec, or some fields of one.
	PodSpec
	// Container is one container, or some fields of one.
	Container
)

// PodPart is a piece of a custom resource that has the shape of a piece of a pod.
type PodPart struct {
	// Path is where it stands: spec.template. Empty for the object itself.
	Path   string
	Shape  PodShape
	Fields map[string]any
	// Inferred says that it is taken for one by its shape: all that it says is a
	// guess, and only what is there is meant.
	Inferred bool
}

// Templates returns the rules of pods for kinds that carry pod templates, or
// other pieces of pods: find visits those of an object. path is for people:
// spec.template. They are the built-in rules, with the evidence where it stands.
//
// A piece that says no service account means none here: what the operator puts
// into the pods that it makes is its own affair.
func Templates(from []schema.GroupKind, path, origin string, find func(o object.Object, visit func(PodPart))) []Rule {
	rules := PodRules(from, path, origin)
	return Together(rules, func(o object.Object, emit func(int, Link)) {
		find(o, func(p PodPart) { p.Links(o.Namespace, emit) })
	})
}

// PodRules returns the rules that Templates makes, as rows: without the function
// that reads. PodPart.Links says which of them makes a link, by its place.
func PodRules(from []schema.GroupKind, path, origin string) []Rule {
	if path != "" {
		path += "."
	}
	rules := slices.Clone(templateRows())
	for i := range rules {
		r := &rules[i]
		r.From, r.Origin, r.Field, r.Links, r.template = from, origin, path+r.Field, nil, nil
	}
	return rules
}

// templateRules returns the rows that read a pod spec, whoever carries it.
func templateRules() []Rule {
	return slices.DeleteFunc(slices.Concat(podRules(), containerRules(), volumeRules()), func(r Rule) bool { return r.template == nil })
}

// templateRows are the same, made once.
var templateRows = sync.OnceValue(templateRules)

// readers are the functions of templateRules.
var readers = func() (out []func(template, EmitFunc)) {
	for _, r := range templateRules() {
		out = append(out, r.template)
	}
	return out
}()

// Links reads the piece for a pod in the namespace. Without one (the carrier is
// cluster-scoped, and where its pods run is not known), it says only what is not
// in a namespace either, or names its own.
func (p PodPart) Links(namespace string, emit func(rule int, l Link)) {
	t := p.template(namespace)
	if t.spec == nil {
		return
	}
	var current int
	hand := func(l Link) {
		if l.Target.Namespace == "" && !slices.Contains(clusterWide, l.Target.Kind) {
			return
		}
		if p.Inferred {
			l.Inferred, l.Target.IfPresent = true, true
		}
		emit(current, l)
	}
	for i, read := range readers {
		current = i
		read(t, hand)
	}
}

// clusterWide are the kinds that a pod names and that are in no namespace.
var clusterWide = []schema.GroupKind{priorityClass, runtimeClass, csiDriver, clusterTrustBundle, gmsaCredentialSpec}
