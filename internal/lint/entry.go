package lint

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Entry compares all that an entry of the catalog names with the definitions: its kinds and
// their scope, the fields of relations, health rules, signals and backups, and those of its examples.
func Entry(defs *Definitions, e *catalog.Entry, doc Document) []Finding {
	l := &linter{defs: defs, doc: doc, own: map[schema.GroupKind][]string{}, unknown: map[schema.GroupKind]bool{}}
	for i := range e.Kinds {
		k := &e.Kinds[i]
		l.own[declare.GroupKind(k.Kind)] = k.Versions
		pos := anchor{path: []any{"kinds", i}, offset: -1}
		l.declared(k, pos)
		l.healthRules(k, pos.child("health"))
		l.signals(k, pos.child("signals"))
		l.monitoring(k, pos.child("monitoring"))
		l.backups(k, pos.child("backup"))
		l.copies(k, pos.child("copy"))
	}
	l.relations(e.Relations)
	for i := range e.Versions {
		l.installable(&e.Versions[i], anchor{path: []any{"versions", i}, offset: -1})
	}
	return l.findings
}

// monitoring checks the fields of the operator's switches for metrics and https, and the monitor that it makes.
func (l *linter) monitoring(k *catalog.Kind, pos anchor) {
	if k.Monitoring == nil {
		return
	}
	if k.Monitoring.Creates != "" {
		l.kindExists(k.Monitoring.Creates, pos.child("creates"))
	}
	for key, fields := range map[string]map[string]any{"set": k.Monitoring.Set, "https": k.Monitoring.HTTPS} {
		if len(fields) > 0 {
			l.hold(use{kind: k.Kind, where: pos.child(key), about: "monitoring: ", check: func(shape field.Shape) *fault {
				return content(shape, "", fields)
			}})
		}
	}
}

// declared checks what an entry says of a kind itself.
func (l *linter) declared(k *catalog.Kind, pos anchor) {
	gk := declare.GroupKind(k.Kind)
	resource, ok := l.defs.Kind(gk)
	if !ok {
		if l.defs.Complete {
			l.unknownKind(k.Kind, gk, pos.child("kind"))
		}
		return
	}
	if k.Plural != "" && resource.Plural != "" && k.Plural != resource.Plural {
		l.add(pos.child("plural"), false, "the plural of %s is %s", k.Kind, resource.Plural)
	}
	if k.ClusterScoped == resource.Namespaced {
		scope := "namespaced"
		if !resource.Namespaced {
			scope = "cluster-scoped"
		}
		l.add(pos.child("clusterScoped"), false, "%s is %s", k.Kind, scope)
	}
	known := resource.Versions()
	for _, v := range k.Versions {
		if len(known) > 0 && !slices.Contains(known, v) {
			l.add(pos.child("versions"), true, "no CRD of %s %s is known: it is not checked (known: %s)", k.Kind, v, strings.Join(known, ", "))
		}
	}
	if len(known) > 0 && !slices.Contains(k.Versions, known[0]) {
		l.add(pos.child("versions"), false, "%s is served as %s, which is not among its versions", k.Kind, known[0])
	}
	for i, c := range k.Composes {
		l.kindExists(c, pos.child("composes", i))
	}
}

// kindExists reports a custom kind without a definition, where those of its group are known.
func (l *linter) kindExists(kind string, pos anchor) {
	gk := declare.GroupKind(kind)
	if kind == declare.Any || declare.CheckKind(gk.Kind) == "" && !strings.Contains(kind, ".") {
		return
	}
	if _, ok := l.defs.Kind(gk); !ok && l.defs.Complete && l.groupKnown(gk.Group) {
		l.unknownKind(kind, gk, pos)
	}
}

func (l *linter) groupKnown(group string) bool {
	for gk, k := range l.defs.kinds {
		if gk.Group == group && !k.builtIn {
			return true
		}
	}
	return false
}

// unknownKind reports a kind without a definition. One that is nearly the name of another
// in its group is taken for a mistake.
func (l *linter) unknownKind(kind string, gk schema.GroupKind, pos anchor) {
	var names []string
	for other := range l.defs.kinds {
		if other.Group == gk.Group {
			names = append(names, other.Kind)
		}
	}
	near := object.Nearest(gk.Kind, names)
	if l.unknown[gk] {
		return
	}
	l.unknown[gk] = true
	l.add(pos, true, "no CRD of %s is known%s: it is not checked", kind, object.DidYouMean(near))
}
