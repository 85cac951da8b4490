package lint

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// HealthRules holds the rules of a user's file against the definitions, and evaluates their
// expressions on objects that lack what they read. text is the file.
func HealthRules(defs *Definitions, rules []health.Rule, text []byte) []Finding {
	items, _ := health.RuleNodes(text)
	l := &linter{defs: defs, doc: Document{&yaml.Node{Kind: yaml.SequenceNode, Content: items}, text}, unknown: map[schema.GroupKind]bool{}}
	for i := range rules {
		pos := anchor{path: []any{i}, offset: -1}
		r := rules[i]
		if gk := declare.GroupKind(r.Kind); defs.Complete {
			if _, ok := defs.Kind(gk); !ok {
				l.unknownKind(r.Kind, gk, pos.child("kind"))
			}
		}
		l.probe(&r, pos)
		l.health(r, pos)
	}
	return l.findings
}

// probe evaluates the expressions of a rule on objects in which what they read is absent, null
// or empty. Each expression is reported once, with the first object on which it fails.
func (l *linter) probe(rule *health.Rule, pos anchor) {
	failures, err := rule.Probe()
	if err != nil {
		return // Who parses the rule says so, with its place.
	}
	reported := map[string]bool{}
	for _, f := range failures {
		if reported[f.Field] {
			continue
		}
		reported[f.Field] = true
		at := pos.child(f.Field)
		at.at = func(n *yaml.Node) (int, int) { return health.PlaceIn(n, l.doc.text, 1, 1) }
		l.add(at, false, "%s: %s cannot be evaluated where a field that it reads is absent, null, empty or of another value (%s): such an object is evaluated as if there was no rule", rule.Kind, f.Field, f.Message)
	}
}

// healthRules checks the rules of a kind of an entry, which stand at a place.
func (l *linter) healthRules(k *catalog.Kind, pos anchor) {
	for i, r := range k.Health {
		r.Kind = k.Kind
		at := pos
		if n := l.doc.node(pos.path); len(k.Health) > 1 || n != nil && n.Kind == yaml.SequenceNode {
			at = pos.child(i)
		}
		l.health(r, at)
	}
}

// health checks the fields that the expressions of a rule read.
func (l *linter) health(rule health.Rule, pos anchor) {
	l.reads(&rule, "", func(r health.Read) anchor { return pos.child(r.In) })
}

// reads checks the fields that the expressions of a rule read. About says of what part of an
// entry it is, where it is not the field of the rule, and where is the anchor of each.
func (l *linter) reads(rule *health.Rule, about string, posOf func(health.Read) anchor) {
	reads, err := rule.Reads()
	if err != nil {
		return // Who parses the rule says so, with its place.
	}
	found := map[string]bool{}
	for _, r := range reads {
		at := posOf(r)
		at.at = func(n *yaml.Node) (int, int) { return health.PlaceIn(n, l.doc.text, r.Line, r.Column) }
		l.hold(use{
			kind: rule.Kind, where: at, about: cmp.Or(about, r.In+": "), versions: rule.Versions, found: found,
			check: func(s field.Shape) *fault { return readFault(s, r) },
		})
	}
}

// readFault is what is wrong with a read in a shape.
func readFault(shape field.Shape, r health.Read) *fault {
	p, err := field.Parse(r.Path)
	if err != nil {
		return nil // The object itself.
	}
	found, wrong := at(shape, p)
	if wrong != nil {
		return wrong
	}
	if strings.HasSuffix(r.Path, "[]") && typeOf(container(shape, r.Path)) != "array" {
		return nil // It is a key of a map.
	}
	fieldType := typeOf(found)
	if r.Want != "" && fieldType != "" && fieldType != r.Want {
		return broken("%s is %s: expected %s", r.Path, article(fieldType), article(r.Want))
	}
	for _, v := range r.Literals {
		if wrong := literalFault(found, r.Path, v); wrong != nil {
			return wrong
		}
	}
	for _, path := range r.With {
		other, err := field.Parse(path)
		if err != nil {
			continue
		}
		with, wrong := at(shape, other)
		if wrong == nil && !comparableTypes(fieldType, typeOf(with)) {
			return broken("%s is %s, and %s is %s", r.Path, article(fieldType), path, article(typeOf(with)))
		}
	}
	return nil
}

// container is the shape of the list or map that a path ending in [] goes through.
func container(shape field.Shape, path string) field.Shape {
	p, err := field.Parse(strings.TrimSuffix(path, "[]"))
	if err != nil {
		return nil
	}
	found, wrong := at(shape, p)
	if wrong != nil {
		return nil
	}
	return found
}
