package relation

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PodShape is the part of a pod that a custom resource has.
type PodShape uint8

const (
	// PodTemplate is a pod template: {metadata, spec}.
	PodTemplate PodShape = iota
	// PodSpec is a pod spec, or some fields of one.
	PodSpec
	// Container is one container, or some fields of one.
	Container
)

// PodPart is a part of a custom resource with the shape of a part of a pod.
type PodPart struct {
	// Path is its path: spec.template. It is empty for the object itself.
	Path   string
	Shape  PodShape
	Fields map[string]any
	// Inferred is set if only its shape suggests a part of a pod: all its links are then inferred
	// and ifPresent.
	Inferred bool
}

// Templates returns the pod rules for kinds with pod templates, or other parts of pods: find visits
// the parts of an object. path is for documentation: spec.template. They are the built-in rules,
// with the evidence at the path of the part.
//
// A part without a service account has none here: the operator decides which one its pods use.
func Templates(from []schema.GroupKind, path, origin string, find func(o object.Object, visit func(PodPart))) []Rule {
	rules := PodRules(from, path, origin)
	return Together(rules, func(o object.Object, emit func(int, Link)) {
		find(o, func(p PodPart) { p.Links(o.Namespace, emit) })
	})
}

// PodRules returns the rules of Templates without the function that reads. The rule of a link of
// PodPart.Links is its index here.
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

// templateRules returns the rules that read a pod spec, for every carrier.
func templateRules() []Rule {
	return slices.DeleteFunc(slices.Concat(podRules(), containerRules(), volumeRules()), func(r Rule) bool { return r.template == nil })
}

// templateRows caches templateRules.
var templateRows = sync.OnceValue(templateRules)

// readers are the functions of templateRules.
var readers = func() (out []func(template, EmitFunc)) {
	for _, r := range templateRules() {
		out = append(out, r.template)
	}
	return out
}()

// Links reads the part for a pod in the namespace. Without a namespace (the carrier is
// cluster-scoped, and the namespace of its pods is unknown) it emits only links to cluster-scoped
// objects and links with their own namespace.
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

// clusterWide are the cluster-scoped kinds that a pod spec refers to.
var clusterWide = []schema.GroupKind{priorityClass, runtimeClass, csiDriver, clusterTrustBundle, gmsaCredentialSpec}
