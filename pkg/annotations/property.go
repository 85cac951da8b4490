package annotations

import (
	"errors"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// property parses a relationship by a field of the instance that holds a name. It has no schema, so
// a misspelled field gives no finding.
func (r *reader) property(c clauses) ([]relation.Rule, []declare.Spec) {
	if !r.need(c.on, "on:"+instanceWord+".spec.<path>") || !r.need(c.value, "value:<Kind>.metadata.name") {
		return nil, nil
	}
	if c.key.text != "" {
		r.report(c.key.problem("key: has no effect in a relationship by a field: expected on: and value: only"))
	}
	paths := r.paths(c.on)
	targets, either := r.targets(c.value)
	if len(targets) == 0 {
		return nil, nil
	}
	var specs []declare.Spec
	for _, p := range paths {
		for _, k := range targets {
			specs = append(specs, declare.Spec{
				From: spellAll([]object.Resource{r.instance}), To: spellAll([]object.Resource{k}), Relation: relation.Needs.String(), Field: p.String(), IfPresent: either,
			})
		}
	}
	return declare.Rules(specs, "", "", r.kinds), specs
}

func (r *reader) paths(s span) []field.Path {
	parts, err := s.split(';')
	if err != nil {
		r.report(err)
		return nil
	}
	const before = len(instanceWord) + len(".")
	var all []field.Path
	for _, part := range r.limit(parts) {
		if !strings.HasPrefix(part.text, instanceWord+".") {
			r.report(part.problem("expected on:%s.<path>, such as %s.spec.secretName", instanceWord, instanceWord))
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

// targets resolves Kind.metadata.name, Kind.spec.metadata.name (as KubePlus documents it), and
// Kind;Kind.metadata.name. either is set if the name may belong to any of several kinds.
func (r *reader) targets(s span) (targets []object.Resource, either bool) {
	parts, err := s.split(';')
	if err != nil {
		r.report(err)
		return nil, false
	}
	parts = r.limit(parts)
	_, named := kindBefore(parts[len(parts)-1])
	for _, part := range parts {
		kind, ok := kindBefore(part)
		if _, err := r.find(part.text); err == nil && named {
			kind, ok = part, true
		}
		if !ok {
			r.report(part.problem("%q cannot be evaluated: expected <Kind>.metadata.name, the name of the target", field.Shorten(part.text)))
			continue
		}
		k, err := r.kind(kind)
		switch {
		case err != nil:
			r.report(err)
		case k.Namespaced && !r.instance.Namespaced:
			r.report(part.problem("%s is cluster-scoped, so the namespace of the %s is unknown: expected a cluster-scoped kind", r.instance.Kind, k.Kind))
		default:
			targets = append(targets, k)
		}
	}
	return targets, len(parts) > 1
}

// kindBefore returns the text before .metadata.name.
func kindBefore(s span) (span, bool) {
	kind, ok := strings.CutSuffix(s.text, ".metadata.name")
	kind = strings.TrimSuffix(kind, ".spec")
	return s.to(len(kind)), ok && kind != "" && strings.Split(kind, ".")[0] != instanceWord
}
