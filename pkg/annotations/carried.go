package annotations

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// helmRelease is the annotation that Helm sets on every object it installs.
const helmRelease = "meta.helm.sh/release-name"

// carrierRelation is a relationship by an annotation or a label of the carriers.
type carrierRelation struct {
	via      relation.Via
	instance object.Resource
	carriers []object.Resource
	key      string
	value    expr
}

func (r *reader) carried(c clauses, via relation.Via) ([]relation.Rule, []declare.Spec) {
	if !r.need(c.on, "on:<Kind>") || !r.need(c.value, "value:"+nameExpr) {
		return nil, nil
	}
	carriers := r.kindList(c.on, ';')
	value, err := parseExpr(c.value)
	if err != nil {
		r.report(err)
		return nil, nil
	}
	if value.mentions(namespaceRef) && !r.instance.Namespaced {
		r.report(c.value.problem("%s is cluster-scoped, %s.metadata.namespace has no value: expected %s", r.instance.Kind, instanceWord, nameExpr))
		return nil, nil
	}
	selector, bare := value.bare()
	if !bare || via != relation.Label {
		if !r.need(c.key, "key:<"+via.String()+" key>") {
			return nil, nil
		}
	}
	if c.key.text != "" && len(content.IsLabelKey(strings.ToLower(c.key.text))) > 0 {
		r.report(c.key.problem("%q is not a valid key: expected prefix/name", field.Shorten(c.key.text)))
	}
	if len(carriers) == 0 {
		return nil, nil
	}
	s := carrierRelation{via: via, instance: r.instance, carriers: carriers, key: c.key.text, value: value}
	var specs []declare.Spec
	for _, part := range s.byDirection(carriers) {
		one := s
		one.carriers = part
		if spec, ok := one.spec(); ok {
			specs = append(specs, spec)
		}
	}
	if bare && via == relation.Label {
		return []relation.Rule{s.selectorRule(selector)}, specs
	}
	return s.rules(), specs
}

// rules returns rules that read the carriers if the template is invertible; else rules that read
// the instance and select its carriers by the value.
func (s carrierRelation) rules() []relation.Rule {
	var near, far []object.Resource
	for _, k := range s.carriers {
		if s.value.invertible() && (k.Namespaced || !s.instance.Namespaced || s.value.mentions(namespaceRef)) {
			near = append(near, k)
		} else {
			far = append(far, k)
		}
	}
	rule := relation.Rule{Relation: s.relation(), Via: s.via, Metadata: !s.value.mentions(pathRef)}
	var rules []relation.Rule
	for _, carriers := range s.byDirection(near) {
		rule.From, rule.To, rule.Field, rule.Links = groupKinds(carriers), s.instance.GroupKind().String(), s.field(), s.onCarrier
		rule.Backward = s.instanceFirst(rule.From[0])
		rules = append(rules, rule)
	}
	for _, carriers := range s.byDirection(far) {
		rule.From, rule.To, rule.Field = []schema.GroupKind{s.instance.GroupKind()}, kindNames(carriers), "metadata.name"
		rule.Backward = !s.instanceFirst(carriers[0].GroupKind())
		for _, ref := range s.value.refs {
			if ref.what == pathRef {
				rule.Field = ref.path.String()
			}
		}
		rule.Links = func(o object.Object, emit relation.EmitFunc) { s.onInstance(carriers, o, emit) }
		if s.via == relation.Annotation {
			rule.Annotation = s.key
		}
		rules = append(rules, rule)
	}
	return rules
}

// owns reports whether the instance is inferred to own its carriers: the creator of an object sets
// the label with the name of the instance, or Helm's annotation.
func (s carrierRelation) owns() bool {
	if s.via == relation.Label {
		return s.value.mentions(nameRef)
	}
	return s.key == helmRelease
}

// byDirection splits the carriers by the direction of their edges, since a rule has only one.
func (s carrierRelation) byDirection(all []object.Resource) [][]object.Resource {
	var parts [2][]object.Resource
	for _, k := range all {
		if s.instanceFirst(k.GroupKind()) {
			parts[0] = append(parts[0], k)
		} else {
			parts[1] = append(parts[1], k)
		}
	}
	return slices.DeleteFunc(parts[:], func(p []object.Resource) bool { return len(p) == 0 })
}

func (s carrierRelation) relation() relation.Relation {
	switch {
	case s.owns():
		return relation.Owns
	case s.via == relation.Label:
		return relation.Serves
	}
	return relation.Needs
}

// instanceFirst reports whether the edge runs from the instance to the carrier: an owner owns, and
// a passive kind is needed by the other end.
func (s carrierRelation) instanceFirst(carrier schema.GroupKind) bool {
	return s.relation() != relation.Needs || passive(carrier)
}

// passive reports whether a kind only holds data.
func passive(k schema.GroupKind) bool {
	if k.Group != "" {
		return false
	}
	switch k.Kind {
	case "Secret", "ConfigMap", "PersistentVolumeClaim", "PersistentVolume":
		return true
	}
	return false
}

func (s carrierRelation) field() string {
	if s.via == relation.Label {
		return field.Key("metadata.labels", s.key)
	}
	return field.Key("metadata.annotations", s.key)
}

// onCarrier links a carrier to the instances that its value names. An instance that does not exist
// is missing, unless the value may name other things as well.
func (s carrierRelation) onCarrier(o object.Object, emit relation.EmitFunc) {
	carries := o.Meta.GetAnnotations
	if s.via == relation.Label {
		carries = o.Meta.GetLabels
	}
	value, ok := carries()[s.key]
	if !ok {
		return
	}
	for _, m := range s.value.instances(value) {
		target := relation.Target{Kind: s.instance.GroupKind(), Name: m.name, IfPresent: s.value.among || s.owns()}
		if s.instance.Namespaced {
			if target.Namespace = cmp.Or(m.namespace, o.Namespace); target.Namespace == "" {
				continue
			}
		}
		if isSelf(o, target) {
			continue
		}
		emit(relation.Link{Target: target, Backward: s.instanceFirst(o.GroupKind()), Field: s.field(), Value: value, Inferred: s.owns()})
	}
}

// onInstance links an instance to the carriers that hold its rendered value. A cluster-scoped
// carrier with a bare name may refer to an instance of that name in another namespace, so that link
// is inferred.
func (s carrierRelation) onInstance(carriers []object.Resource, o object.Object, emit relation.EmitFunc) {
	for _, want := range s.value.render(o) {
		selector := &relation.Selector{Labels: map[string]string{s.key: want.value}}
		if s.via == relation.Annotation {
			selector = &relation.Selector{Annotation: s.key, Match: func(v string) bool { return s.value.holds(v, want.value, o.Namespace) }}
		}
		for _, k := range carriers {
			emit(relation.Link{
				Target:   relation.Target{Kind: k.GroupKind(), Namespace: o.Namespace, Selector: selector, AllNamespaces: o.Namespace == ""},
				Backward: !s.instanceFirst(k.GroupKind()),
				Field:    want.field,
				Value:    want.value,
				Inferred: s.owns() || !k.Namespaced && s.value.mentions(nameRef),
			})
		}
	}
}

// isSelf reports whether the target is the object itself, which is no relationship.
func isSelf(o object.Object, t relation.Target) bool {
	return o.Ref == object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: t.Namespace, Name: t.Name}
}

func groupKinds(rs []object.Resource) []schema.GroupKind {
	all := make([]schema.GroupKind, len(rs))
	for i, r := range rs {
		all[i] = r.GroupKind()
	}
	return all
}

func kindNames(rs []object.Resource) string {
	all := make([]string, len(rs))
	for i, r := range rs {
		all[i] = r.GroupKind().String()
	}
	return strings.Join(all, ", ")
}
