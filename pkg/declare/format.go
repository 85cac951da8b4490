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
	for _, f := range s.texts() {
		text(f.key, f.value)
	}
	if len(s.Versions) > 0 {
		out = append(out, "versions: ["+strings.Join(s.Versions, ", ")+"]")
	}
	if len(s.When) > 0 {
		out = append(out, "when: {"+conditions(s.When)+"}")
	}
	for _, f := range []struct {
		key string
		set bool
	}{
		{"list", s.List}, {"everywhere", s.Everywhere}, {"optional", s.Optional}, {"inferred", s.Inferred}, {"ifPresent", s.IfPresent}, {"leaf", s.Terminal}, {"manages", s.Manages}, {"crosses", s.Crosses}, {"exposes", s.Exposes},
	} {
		if f.set {
			out = append(out, f.key+": true")
		}
	}
	text("rule", s.Rule)
	text("source", s.Source)
	return out
}

// texts are the keys that hold a text, in the order in which they are written.
func (s *Spec) texts() []struct{ key, value string } {
	return []struct{ key, value string }{
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
		{"absent", s.Absent},
		{"emptyNamespaces", s.EmptyNamespaces},
		{"deletes", s.Deletes},
	}
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
