package declare

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Equal says whether two relations say the same, wherever they stand.
func (s Spec) Equal(o Spec) bool {
	s.Line, s.Column, s.Source, o.Line, o.Column, o.Source = 0, 0, "", 0, 0, ""
	return reflect.DeepEqual(s, o)
}

// Of returns what the relation says of one kind: without the others of a list in
// which it stands. Nothing where it does not speak of the kind.
func (s Spec) Of(kind string) []Spec {
	switch {
	case slices.Contains(s.From, kind):
		s.From = []string{kind}
	case slices.Contains(s.To, kind):
		s.To = []string{kind}
	default:
		return nil
	}
	return []Spec{s}
}

// Format writes relations as the annotation sysop.dev/relationships of a kind has
// them: a YAML list, a line each, without from or to where that is the kind.
func Format(specs []Spec, self string) string {
	var b strings.Builder
	for _, s := range specs {
		b.WriteString("- {" + strings.Join(s.fields(self), ", ") + "}\n")
	}
	return b.String()
}

func (s Spec) fields(self string) []string {
	var out []string
	text := func(key, value string) {
		if value != "" {
			out = append(out, key+": "+quote(value))
		}
	}
	kinds := func(key string, list []string) {
		if len(list) == 1 {
			text(key, list[0])
		} else if len(list) > 1 {
			out = append(out, key+": ["+strings.Join(list, ", ")+"]")
		}
	}
	from := len(s.From) == 1 && s.From[0] == self
	if !from {
		kinds("from", s.From)
	}
	if from || len(s.To) != 1 || s.To[0] != self {
		kinds("to", s.To)
	}
	for _, f := range []struct{ key, value string }{
		{"relation", s.Relation},
		{"field", s.Field},
		{"selector", s.Selector},
		{"host", s.Host},
		{"label", s.Label},
		{"annotation", s.Annotation},
		{"name", s.Name},
		{"template", s.Template},
		{"podSpec", s.PodSpec},
		{"value", s.Value},
		{"read", s.Read},
		{"namespace", s.Namespace},
		{"kind", s.Kind},
		{"group", s.Group},
		{"nameField", s.NameField},
		{"format", s.Format},
		{"namespaces", s.Namespaces},
		{"empty", s.Empty},
		{"emptyNamespaces", s.EmptyNamespaces},
	} {
		text(f.key, f.value)
	}
	if len(s.When) > 0 {
		out = append(out, "when: {"+conditions(s.When)+"}")
	}
	for _, f := range []struct {
		key string
		set bool
	}{
		{"list", s.List}, {"everywhere", s.Everywhere}, {"optional", s.Optional}, {"inferred", s.Inferred}, {"ifPresent", s.IfPresent}, {"leaf", s.Leaf}, {"manages", s.Manages}, {"crosses", s.Crosses},
	} {
		if f.set {
			out = append(out, f.key+": true")
		}
	}
	text("rule", s.Rule)
	text("source", s.Source)
	return out
}

func conditions(when []Condition) string {
	var all []string
	for _, c := range when {
		values := make([]string, len(c.Values))
		for i, v := range c.Values {
			values[i] = quote(v)
		}
		value := "[" + strings.Join(values, ", ") + "]"
		switch len(values) {
		case 0:
			value = "null"
		case 1:
			value = values[0]
		}
		all = append(all, quote(c.Path)+": "+value)
	}
	return strings.Join(all, ", ")
}

// quote writes a text so that YAML reads it as that text within {}.
func quote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return r > 127 || !field.InWord(byte(r)) && !strings.ContainsRune("./-", r)
	}) < 0
	switch {
	case !plain || s == "" || s[0] == '-' || s[0] == '.':
	case slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)):
	case s[0] >= '0' && s[0] <= '9':
	default:
		return s
	}
	return strconv.Quote(s)
}

// KubePlus writes the relation in KubePlus's grammar, as an annotation of kind
// self: the family (annotation, label or specproperty) and the value. It is false
// for what that grammar cannot say.
func (s Spec) KubePlus(self string) (family, value string, ok bool) {
	from := len(s.From) == 1 && s.From[0] == self
	simple := s.Namespace == "" && s.Kind == "" && s.Group == "" && s.NameField == "" && s.Format == "" && len(s.When) == 0 && s.Namespaces == "" && !s.Everywhere && !s.Leaf && !s.Manages
	if !simple || slices.Contains(s.From, Any) || slices.Contains(s.To, Any) {
		return "", "", false
	}
	others := s.To
	if !from {
		others = s.From
	}
	on := "on:" + strings.Join(others, ";")
	instance := strings.NewReplacer("{", "INSTANCE.", "}", "").Replace(s.Value)
	carried := ""
	switch {
	case s.Label != "":
		family, carried = "label", s.Label
	case s.Annotation != "":
		family, carried = "annotation", s.Annotation
	}
	reads := s.Read == "to" != from // the instance is the one that is read
	switch {
	case s.Field != "" && from && s.Read != "to" && s.Relation == "needs":
		return "specproperty", "on:INSTANCE." + s.Field + ", value:" + strings.Join(others, ";") + ".metadata.name", true
	case s.Selector != "" && from && s.Relation == "serves" && s.Empty != "all":
		return "label", on + ", value:INSTANCE." + s.Selector, true
	case carried != "" && s.Value != "" && reads:
		return family, on + ", key:" + carried + ", value:" + instance, true
	case carried != "" && s.Value == "" && !reads && s.List:
		return family, on + ", key:" + carried + ", value:contains(INSTANCE.metadata.name)", true
	case carried != "" && s.Value == "" && !reads:
		return family, on + ", key:" + carried + ", value:INSTANCE.metadata.name", true
	}
	return "", "", false
}
