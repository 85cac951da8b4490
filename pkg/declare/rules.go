package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Rules returns what the relations say as rules. Origin says where they come
// from, for people; their names begin with prefix. kinds are those of the
// cluster: they say which kinds are namespaced, and what a kind without a group
// means. Of a pod template come the rules of pods, under their own names.
func Rules(specs []Spec, prefix, origin string, kinds *object.Kinds) []relation.Rule {
	all := make([]*Spec, len(specs))
	for i := range specs {
		all[i] = &specs[i]
	}
	return RulesOf(all, prefix, origin, kinds)
}

// RulesOf is Rules for relations that stand elsewhere, which must not change.
func RulesOf(specs []*Spec, prefix, origin string, kinds *object.Kinds) []relation.Rule {
	rules := make([]relation.Rule, 0, len(specs))
	taken := map[string]int{}
	for _, s := range specs {
		if s.Template != "" || s.PodSpec != "" {
			rules = append(rules, s.podRules(origin)...)
			continue
		}
		name := prefix + ":" + s.name()
		if taken[name]++; taken[name] > 1 {
			name += fmt.Sprintf(":%d", taken[name])
		}
		rules = append(rules, s.rule(name, origin, kinds))
	}
	return rules
}

// name is that of the rule within its origin: Certificate:spec.secretName.
func (s *Spec) name() string {
	if s.Rule != "" {
		return s.Rule
	}
	read, _ := s.Reader()
	kind, _, _ := strings.Cut(read[0], ".")
	return kind + ":" + s.Path()
}

func (s *Spec) rule(name, origin string, kinds *object.Kinds) relation.Rule {
	_, _, via := s.evidence()
	read, named := s.Reader()
	r := relation.Rule{
		Name: name, Origin: origin, From: groupKinds(read), Via: via, To: people(named), Backward: s.Read == "to", Field: s.Path(), Source: s.Source,
		Terminal: s.Terminal, Manages: s.Manages, CrossNamespace: s.Crosses, Exposes: s.Exposes, Namespaces: s.Namespaces != "", Deletes: s.Deletes,
	}
	if s.Host != "" {
		r.To = "Service"
	}
	r.Relation, _ = relation.ParseRelation(s.Relation)
	if s.Annotation != "" && s.Value != "" {
		r.Annotation = s.Annotation
	}
	r.Metadata = s.metadata()
	// Most rules never meet an object: what they say is read when one does.
	r.Links = (&lazy{s: s, kinds: kinds}).links
	return r
}

// lazy is a reader that is made when it first reads.
type lazy struct {
	s     *Spec
	kinds *object.Kinds
	made  atomic.Pointer[reader]
}

func (l *lazy) links(o object.Object, emit relation.EmitFunc) {
	if !l.s.means(o) {
		return
	}
	r := l.made.Load()
	if r == nil {
		r = l.s.reader(l.kinds) // Two at once make the same.
		l.made.Store(r)
	}
	r.links(o, emit)
}

// means says whether an object is of a version for which the relation is said. One whose
// version is unknown is.
func (s *Spec) means(o object.Object) bool {
	return len(s.Versions) == 0 || o.Version == "" || slices.Contains(s.Versions, o.Version)
}

func people(kinds []string) string {
	if len(kinds) == 1 && kinds[0] == Any {
		return "any kind"
	}
	return strings.Join(kinds, ", ")
}

// metadata says that the metadata of an object suffices.
func (s *Spec) metadata() bool {
	for _, path := range [...]string{s.Field, s.Selector, s.Host} {
		if path != "" && !strings.HasPrefix(path, "metadata.") {
			return false // Most say so at once.
		}
	}
	relative := func(c Condition) bool { return c.Path[0] == '.' }
	elsewhere := func(path string) bool { return !inMetadata(path) }
	return !slices.ContainsFunc(s.When, relative) && !slices.ContainsFunc(s.Paths(), elsewhere)
}

// inMetadata says that a path leads to what contentOf has of the metadata.
func inMetadata(path string) bool {
	rest, ok := strings.CutPrefix(path, "metadata.")
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		rest = rest[:i]
	}
	return ok && slices.Contains([]string{"name", "namespace", "uid", "labels", "annotations"}, rest)
}

// reader is a Spec that is ready to read objects.
type reader struct {
	s        *Spec
	metadata bool // suffices
	kinds    *object.Kinds
	// named are the kinds at the other end; any says that a reference names them.
	named    []schema.GroupKind
	any      bool
	backward bool
	links    func(object.Object, relation.EmitFunc)

	path, nameField                    field.Path
	namespace, kind, group, namespaces place
	value                              template
	when                               []condition
}

// place is a path that may be relative to a reference.
type place struct {
	field.Path
	relative bool
}

type condition struct {
	at     place
	values []string
}

// reader makes a reader of a checked Spec.
func (s *Spec) reader(kinds *object.Kinds) *reader {
	_, named := s.Reader()
	r := &reader{s: s, metadata: s.metadata(), kinds: kinds, named: groupKinds(named), any: len(named) == 1 && named[0] == Any, backward: s.Read == "to"}
	r.nameField = placeOf(cmp.Or(s.NameField, ".name")).Path
	r.namespace, r.kind, r.group, r.namespaces = placeOf(s.Namespace), placeOf(s.Kind), placeOf(s.Group), placeOf(s.Namespaces)
	for _, c := range s.When {
		r.when = append(r.when, condition{placeOf(c.Path), c.Values})
	}
	switch key, text, _ := s.evidence(); key {
	case "template", "podSpec":
	case "field":
		r.path, r.links = placeOf(text).Path, r.references
	case "selector":
		r.path, r.links = placeOf(text).Path, r.selectors
	case "host":
		r.path, r.links = placeOf(text).Path, r.hosts
	case "name":
		r.value, _ = parseTemplate(text)
		r.links = r.conventions
	default:
		r.links = r.carried
		if s.Value != "" {
			r.value, _ = parseTemplate(s.Value)
			r.links = r.carriers
		}
	}
	return r
}

func placeOf(text string) place {
	if text == "" {
		return place{}
	}
	p, relative, _ := parsePath(text)
	return place{p, relative}
}

// text returns the first scalar at a place.
func (p place) text(fields, ref map[string]any) string {
	if p.IsZero() {
		return ""
	}
	if p.relative {
		fields = ref
	}
	for _, v := range p.Find(fields) {
		return field.Scalar(v)
	}
	return ""
}

// present says whether anything stands at a place.
func (p place) present(fields, ref map[string]any) bool {
	if p.relative {
		fields = ref
	}
	for range p.Find(fields) {
		return true
	}
	return false
}

// holds says whether all conditions hold, of the object and of the reference.
func (r *reader) holds(fields, ref map[string]any) bool {
	for _, c := range r.when {
		if len(c.values) == 0 && c.at.present(fields, ref) {
			return false
		}
		if len(c.values) > 0 && !slices.Contains(c.values, c.at.text(fields, ref)) {
			return false
		}
	}
	return true
}

// emit completes a link and passes it on. An inferred link is never missing; a link from an
// object to itself is dropped.
func (r *reader) emit(o object.Object, l relation.Link, emit relation.EmitFunc) {
	l.Optional = l.Optional || r.s.Optional
	l.Inferred = l.Inferred || r.s.Inferred || r.s.Name != ""
	l.Backward = r.backward
	t := &l.Target
	if t.Selector == nil {
		t.IfPresent = t.IfPresent || r.s.IfPresent || l.Inferred
		if namespaced, known := r.kinds.Namespaced(t.Kind); known {
			if !namespaced {
				t.Namespace = ""
			} else if t.Namespace == "" {
				return
			}
		}
		if o.Ref == (object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Namespace: t.Namespace, Name: t.Name}) {
			return
		}
	}
	emit(l)
}
