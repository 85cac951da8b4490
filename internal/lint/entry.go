package lint

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Entry compares all that an entry of the catalog names with the definitions: its kinds and
// their scope, the fields of relations, health rules and signals, and those of its examples.
func Entry(defs *Definitions, e *catalog.Entry, doc Document) []Finding {
	l := &linter{defs: defs, doc: doc, own: map[schema.GroupKind][]string{}, unknown: map[schema.GroupKind]bool{}}
	for i := range e.Kinds {
		k := &e.Kinds[i]
		l.own[declare.GroupKind(k.Kind)] = k.Versions
		where := anchor{path: []any{"kinds", i}, offset: -1}
		l.declared(k, where)
		l.healthRules(k, where.child("health"))
		l.signals(k, where.child("signals"))
	}
	l.relations(e.Relations)
	for i := range e.Versions {
		l.installable(&e.Versions[i], anchor{path: []any{"versions", i}, offset: -1})
	}
	return l.findings
}

// declared checks what an entry says of a kind itself.
func (l *linter) declared(k *catalog.Kind, where anchor) {
	gk := declare.GroupKind(k.Kind)
	is, ok := l.defs.Kind(gk)
	if !ok {
		if l.defs.Complete {
			l.unknownKind(k.Kind, gk, where.child("kind"))
		}
		return
	}
	if k.Plural != "" && is.Plural != "" && k.Plural != is.Plural {
		l.add(where.child("plural"), false, "the plural of %s is %s", k.Kind, is.Plural)
	}
	if k.ClusterScoped == is.Namespaced {
		scope := "namespaced"
		if !is.Namespaced {
			scope = "cluster-scoped"
		}
		l.add(where.child("clusterScoped"), false, "%s is %s", k.Kind, scope)
	}
	known := is.Versions()
	for _, v := range k.Versions {
		if len(known) > 0 && !slices.Contains(known, v) {
			l.add(where.child("versions"), true, "no CRD of %s %s is known: it is not checked (known: %s)", k.Kind, v, strings.Join(known, ", "))
		}
	}
	if len(known) > 0 && !slices.Contains(k.Versions, known[0]) {
		l.add(where.child("versions"), false, "%s is served as %s, which is not among its versions", k.Kind, known[0])
	}
	for i, c := range k.Composes {
		l.kindExists(c, where.child("composes", i))
	}
}

// kindExists reports a custom kind without a definition, where those of its group are known.
func (l *linter) kindExists(kind string, where anchor) {
	gk := declare.GroupKind(kind)
	if kind == declare.Any || declare.CheckKind(gk.Kind) == "" && !strings.Contains(kind, ".") {
		return
	}
	if _, ok := l.defs.Kind(gk); !ok && l.defs.Complete && l.groupKnown(gk.Group) {
		l.unknownKind(kind, gk, where)
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
func (l *linter) unknownKind(kind string, gk schema.GroupKind, where anchor) {
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
	l.add(where, true, "no CRD of %s is known%s: it is not checked", kind, object.DidYouMean(near))
}
