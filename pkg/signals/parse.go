package signals

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// modesOf are what each preset may do.
var modesOf = map[string][]Mode{
	PresetPause: {PauseReconcile, PauseRollout, PauseScaling, HoldAdmission, SuspendRun},
	PresetStop:  {StopWorkload, SuspendRun, HoldAdmission},
}

// Parse reads the signals of a kind:
//
//	pause: {mode, patch, resume, effect, source, ...}
//	stop:  {...}
//	also:  [{preset: stop, ...}]   # other ways, which no preset means
//
// Kind and Origin are left to who knows them.
func Parse(n *yaml.Node) ([]Signal, []strict.Problem) {
	var all []Signal
	m := &strict.Mapping{}
	m.Fields = Fields(m, &all)
	m.Read(n)
	if len(m.Problems) == 0 && len(all) == 0 {
		m.Report(n, "it is empty: expected pause or stop")
	}
	return all, m.Problems
}

// Fields are the keys of Parse, for a mapping that has others besides. What
// is read is appended to.
func Fields(m *strict.Mapping, to *[]Signal) []strict.Field {
	read := func(n *yaml.Node, preset string) {
		s, problems := parseSignal(n, preset)
		m.Problems = append(m.Problems, problems...)
		*to = append(*to, s)
	}
	return []strict.Field{
		{Name: PresetPause, Set: func(n *yaml.Node) { read(n, PresetPause) }},
		{Name: PresetStop, Set: func(n *yaml.Node) { read(n, PresetStop) }},
		{Name: "also", Set: func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				m.Report(n, "expected a list of signals")
			}
			for _, item := range n.Content {
				read(item, "")
			}
		}},
	}
}

// parseSignal reads one signal; without a preset it is another way, and names its own.
func parseSignal(n *yaml.Node, preset string) (Signal, []strict.Problem) {
	s := Signal{Preset: preset, Other: preset == ""}
	m := &strict.Mapping{}
	var extra []strict.Field
	if s.Other {
		extra = append(extra, strict.Field{Name: "preset", Required: true, Set: func(n *yaml.Node) {
			if s.Preset = m.Text(n); s.Preset != "" && modesOf[s.Preset] == nil {
				m.Report(n, "%q: expected pause or stop", field.Shorten(s.Preset))
			}
		}})
	}
	mode := m.Struct(n, &s, signalFormats(), extra...).Nodes["mode"]
	if s.Scale {
		s.Patch, s.Resume = spec("replicas", int64(0)), spec("replicas", Before)
	}
	if modes := modesOf[s.Preset]; mode != nil && modes != nil && !slices.Contains(modes, s.Mode) {
		m.Report(mode, "%q is not a mode of %s: expected %s", field.Shorten(string(s.Mode)), s.Preset, modeWords(modes))
	}
	s.check(m, n)
	return s, m.Problems
}

// signalFormats are what the tags of a signal name.
func signalFormats() strict.Formats {
	return strict.Formats{"patch": patchAt, "path": fieldPath, "predicate": predicate, "values": values}
}

// predicate reads an expression that is true or false of an object.
func predicate(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if text == "" {
		return ""
	}
	_, err := health.NewPredicate(ReactedField, text)
	if wrong, ok := errors.AsType[*health.ExpressionError](err); ok {
		m.Report(n, "%s: %s", ReactedField, wrong.Message)
	} else if err != nil {
		m.Report(n, "%v", err)
	}
	return text
}

// check says what is missing, and what does not go together.
func (s *Signal) check(m *strict.Mapping, n *yaml.Node) {
	if len(m.Problems) > 0 {
		return
	}
	switch {
	case len(s.Patch) == 0 || len(s.Resume) == 0:
		m.Report(n, "patch and resume are missing: expected both, or scale: true")
	case hasNull(s.Patch):
		m.Report(n, "the patch removes a field: whether it holds an object cannot be detected")
	case s.Scale && s.Each != "":
		m.Report(n, "scale and each exclude each other")
	case s.Presence && len(s.Same) > 0:
		m.Report(n, "presence and same exclude each other: with presence any value holds")
	}
}

func hasNull(v any) bool {
	fields, ok := v.(map[string]any)
	for _, child := range fields {
		if hasNull(child) {
			return true
		}
	}
	return v == nil && !ok
}

func modeWords(modes []Mode) string {
	var all []string
	for _, m := range modes {
		all = append(all, string(m))
	}
	return strings.Join(all, ", ")
}

// fieldPath reads a path of names with dots between them.
func fieldPath(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	if text != "" && slices.Contains(strings.Split(text, "."), "") {
		m.Report(n, "%q is not a path: expected names separated by dots, as in spec.job", field.Shorten(text))
	}
	return text
}

// patchAt reads a merge patch, with the numbers of JSON as objects have them.
func patchAt(m *strict.Mapping, n *yaml.Node) map[string]any {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		m.Report(n, "expected a merge patch: a mapping of fields to values")
		return nil
	}
	fields, _ := plainValue(m, n).(map[string]any)
	return fields
}

func values(m *strict.Mapping, n *yaml.Node) []any {
	if n.Kind != yaml.SequenceNode {
		m.Report(n, "expected a list of values")
	}
	var out []any
	for _, item := range n.Content {
		out = append(out, plainValue(m, item))
	}
	return out
}

func plainValue(m *strict.Mapping, n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		m.Entries(n, func(key string, value *yaml.Node) { out[key] = plainValue(m, value) })
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			out = append(out, plainValue(m, item))
		}
		return out
	}
	v, err := scalarValue(n)
	if err != nil {
		m.Report(n, "%v", err)
	}
	return v
}

func scalarValue(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!str":
		return n.Value, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int":
		var i int64
		err := n.Decode(&i)
		return i, err
	case "!!float":
		var f float64
		err := n.Decode(&f)
		return f, err
	}
	return nil, fmt.Errorf("%q is not a JSON value: put it in quotes", field.Shorten(n.Value))
}
