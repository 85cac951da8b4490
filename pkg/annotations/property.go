package annotations

import (
	"cmp"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// property reads a relationship by a field of the instance that holds a name.
// Whether the instances have such a field is not known here: a misspelled one is
// silent.
func (r *reader) property(c clauses) ([]relation.Rule, []declare.Spec) {
	if !r.need(c.on, "on:"+instanceWord+".spec.<path>") || !r.need(c.value, "value:<Kind>.metadata.name") {
		return nil, nil
	}
	if c.key.text != "" {
		r.report(c.key.problem("key: says nothing in a relationship by a field: want on: and value: only"))
	}
	paths := r.paths(c.on)
	targets, either := r.targets(c.value)
	if len(targets) == 0 {
		return nil, nil
	}
	var rules []relation.Rule
	var specs []declare.Spec
	for _, p := range paths {
		for _, k := range targets {
			specs = append(specs, declare.Spec{
				From: spellAll([]object.Resource{r.instance}), To: spellAll([]object.Resource{k}), Relation: relation.Needs.String(), Field: p.String(), IfPresent: either,
			})
		}
		rules = append(rules, relation.Rule{
			From:     []schema.GroupKind{r.instance.GroupKind()},
			Relation: relation.Needs,
			Via:      relation.Spec,
			To:       kindNames(targets),
			Field:    p.String(),
			Links:    func(o object.Object, emit relation.Emit) { namesAt(p, targets, either, o, emit) },
		})
	}
	return rules, specs
}

func (r *reader) paths(s span) []field.Path {
	parts, err := s.split(';')
	if err != nil {
		r.report(err)
		return nil
	}
	const before = len(instanceWord) + len(".")
	var all []field.Path
	for _, part := range r.atMost(parts) {
		if !strings.HasPrefix(part.text, instanceWord+".") {
			r.report(part.problem("want on:%s.<path>, such as %s.spec.secretName", instanceWord, instanceWord))
			continue
		}
		p, err := field.Parse(part.text[before:])
		if wrong, ok := errors.AsType[*field.Error](err); ok {
			r.report(part.from(before+wrong.Offset).problem("%s", wrong.Message))
			continue
		}
		all = append(all, p)
	}
	return all
}

// targets resolves Kind.metadata.name, also Kind.spec.metadata.name as KubePlus
// documents it, and Kind;Kind.metadata.name. Where several kinds are declared the
// name may be that of any.
func (r *reader) targets(s span) (targets []object.Resource, either bool) {
	parts, err := s.split(';')
	if err != nil {
		r.report(err)
		return nil, false
	}
	parts = r.atMost(parts)
	_, named := kindBefore(parts[len(parts)-1])
	for _, part := range parts {
		kind, ok := kindBefore(part)
		if _, err := r.find(part.text); err == nil && named {
			kind, ok = part, true
		}
		if !ok {
			r.report(part.problem("%q cannot be evaluated: want <Kind>.metadata.name, the name of the object that is meant", shorten(part.text)))
			continue
		}
		k, err := r.kind(kind)
		switch {
		case err != nil:
			r.report(err)
		case k.Namespaced && !r.instance.Namespaced:
			r.report(part.problem("%s is cluster-scoped, so the namespace of the %s cannot be known: want a cluster-scoped kind", r.instance.Kind, k.Kind))
		default:
			targets = append(targets, k)
		}
	}
	return targets, len(parts) > 1
}

// kindBefore returns what stands before .metadata.name.
func kindBefore(s span) (span, bool) {
	kind, ok := strings.CutSuffix(s.text, ".metadata.name")
	kind = strings.TrimSuffix(kind, ".spec")
	return s.to(len(kind)), ok && kind != "" && strings.Split(kind, ".")[0] != instanceWord
}

// namesAt links an instance to the objects whose names stand at the path.
func namesAt(p field.Path, targets []object.Resource, either bool, o object.Object, emit relation.Emit) {
	var link func(at string, v any)
	link = func(at string, v any) {
		name, namespace := "", ""
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				link(field.Item(at, i), e)
			}
			return
		case map[string]any:
			name, _ = v["name"].(string)
			namespace, _ = v["namespace"].(string)
			at = field.Join(at, "name")
		case string:
			name = v
		}
		if !isName(name) {
			return
		}
		for _, k := range targets {
			t := relation.Target{Kind: k.GroupKind(), Name: name, IfPresent: either}
			if k.Namespaced {
				t.Namespace = cmp.Or(namespace, o.Namespace)
			}
			if !isSelf(o, t) {
				emit(relation.Link{Target: t, Field: at, Value: name})
			}
		}
	}
	for at, v := range p.Find(o.Fields()) {
		link(at, v)
	}
}
