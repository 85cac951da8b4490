package annotations

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// spec returns the relationship in the grammar of sysop.dev/relationships, and false if that cannot
// express it (one of several names, in a value with other text). All its carriers have one
// direction.
func (s carrierRelation) spec() (declare.Spec, bool) {
	to := spellAll(s.carriers)
	instance := []string{declare.Spell(s.instance.GroupKind())}
	if path, bare := s.value.bare(); bare && s.via == relation.Label {
		return declare.Spec{From: instance, To: to, Relation: relation.Serves.String(), Selector: path.String()}, s.key == ""
	}
	out := declare.Spec{From: instance, To: to, Relation: s.relation().String(), Inferred: s.owns()}
	if s.via == relation.Label {
		out.Label = s.key
	} else {
		out.Annotation = s.key
	}
	carrierFirst := !s.instanceFirst(s.carriers[0].GroupKind())
	if s.value.among {
		if nameOnly := len(s.value.refs) == 1 && s.value.refs[0].what == nameRef && s.value.literals[0]+s.value.literals[1] == ""; !nameOnly || s.via == relation.Label {
			return out, false
		}
		out.List = true
	} else {
		out.Value = s.value.template()
	}
	switch {
	case carrierFirst && out.List:
		out.From, out.To = out.To, out.From
	case carrierFirst:
		out.From, out.To, out.Read = out.To, out.From, "to"
	case out.List:
		out.Read = "to"
	}
	return out, true
}

// template formats the value with braces around its paths.
func (e expr) template() string {
	var b strings.Builder
	for i, r := range e.refs {
		b.WriteString(e.literals[i])
		path := map[refKind]string{nameRef: "metadata.name", namespaceRef: "metadata.namespace"}[r.what]
		if r.what == pathRef {
			path = r.path.String()
		}
		b.WriteString("{" + path + "}")
	}
	b.WriteString(e.literals[len(e.refs)])
	return b.String()
}

func spellAll(rs []object.Resource) []string {
	all := make([]string, len(rs))
	for i, r := range rs {
		all[i] = declare.Spell(r.GroupKind())
	}
	return all
}
