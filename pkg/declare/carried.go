package declare

import (
	"cmp"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// carried links the object to what its label or annotation names.
func (r *reader) carried(o object.Object, emit relation.EmitFunc) {
	carries := o.Meta.GetLabels
	key := r.s.Label
	if r.s.Annotation != "" {
		carries, key = o.Meta.GetAnnotations, r.s.Annotation
	}
	value, ok := carries()[key]
	if !ok || value == "" {
		return
	}
	var fields map[string]any
	if !r.namespace.IsZero() || len(r.when) > 0 {
		if fields = contentOf(o, r.metadata); !r.holds(fields, nil) {
			return
		}
	}
	names := []string{value}
	if r.s.List {
		names = strings.Split(value, ",")
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		namespace := ""
		if r.s.Annotation != "" { // A label cannot hold a slash.
			if before, after, ok := strings.Cut(name, "/"); ok {
				namespace, name = before, after
			}
		}
		namespace = cmp.Or(namespace, r.namespace.text(fields, nil), o.Namespace)
		if !object.MayBeName(name) || namespace != "" && !object.MayBeName(namespace) {
			continue
		}
		for i, gk := range r.named {
			t := relation.Target{Kind: gk, Namespace: namespace, Name: name, IfPresent: i > 0 || len(r.named) > 1}
			r.emit(o, relation.Link{Target: t, Field: r.s.Path(), Value: value}, emit)
		}
	}
}

// carriers links the object to those that carry the label or annotation with the
// value that it is written for.
func (r *reader) carriers(o object.Object, emit relation.EmitFunc) {
	fields := contentOf(o, r.metadata)
	if !r.holds(fields, nil) {
		return
	}
	for _, want := range r.value.render(fields) {
		selector := &relation.Selector{Labels: map[string]string{r.s.Label: want.text}}
		if r.s.Annotation != "" {
			selector = &relation.Selector{Annotation: r.s.Annotation, Match: func(v string) bool { return v == want.text }}
		}
		r.choose(o, fields, want.at, want.text, selector, emit)
	}
}

// conventions links the object to what has a name that is made of its fields.
func (r *reader) conventions(o object.Object, emit relation.EmitFunc) {
	fields := contentOf(o, r.metadata)
	if !r.holds(fields, nil) {
		return
	}
	for _, want := range r.value.render(fields) {
		if !object.MayBeName(want.text) {
			continue
		}
		for _, gk := range r.named {
			t := relation.Target{Kind: gk, Namespace: cmp.Or(r.namespace.text(fields, nil), o.Namespace), Name: want.text}
			r.emit(o, relation.Link{Target: t, Field: want.at, Value: want.text}, emit)
		}
	}
}

// clusterDomain ends the full names of Services, where a cluster has the usual domain.
const clusterDomain = ".svc.cluster.local"

// hosts links the object to the Services that the hosts at the path mean. In the
// format fqdn a name with a dot in it is complete, as it is to a mesh, which knows
// nothing of the search path of pods.
func (r *reader) hosts(o object.Object, emit relation.EmitFunc) {
	fields := contentOf(o, r.metadata)
	for m := range r.path.Matches(fields) {
		if !r.holds(fields, m.Holder) {
			continue
		}
		items, ok := m.Value.([]any)
		if !ok {
			items = []any{m.Value}
		}
		for _, item := range items {
			text, _ := item.(string)
			if r.s.Format == "fqdn" && strings.Contains(text, ".") && !strings.HasSuffix(strings.TrimSuffix(text, "."), clusterDomain) {
				continue
			}
			relation.ServicesAt(text, o.Namespace, func(namespace, service, shown string) {
				t := relation.Target{Kind: groupKind("Service"), Namespace: namespace, Name: service, IfPresent: true}
				r.emit(o, relation.Link{Target: t, Field: m.At, Value: shown}, emit)
			})
		}
	}
}
