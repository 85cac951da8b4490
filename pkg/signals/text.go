package signals

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// NeedsAllowStop says that a manifest must allow the signal: it stops what keeps data, or
// its operator warns of it.
func (s Signal) NeedsAllowStop() bool { return s.Caution || s.Stateful && s.Preset == PresetStop }

// Text is what the signal writes, for people: spec.paused = true.
func (s Signal) Text() string {
	text := s.PatchText()
	if s.Or != nil {
		text += ", or " + assignments("", s.Or.Patch) + " where " + s.Or.When + " is set"
	}
	return text
}

// PatchText is Text without the other field that there may be instead.
func (s Signal) PatchText() string {
	switch {
	case s.Scale:
		return "scale: " + assignments("", s.Patch)
	case s.Each != "":
		return assignments(s.Each+"[]", s.Patch)
	}
	return assignments("", s.Patch)
}

// ResumeText is the documented way back: a deleted key is unset, and the value before is "as
// before".
func (s Signal) ResumeText() string {
	if s.Each != "" {
		return assignments(s.Each+"[]", s.Resume)
	}
	return assignments("", s.Resume)
}

func assignments(at string, patch map[string]any) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		path := field.Join(at, key)
		switch v := patch[key].(type) {
		case map[string]any:
			all = append(all, assignments(path, v))
		case nil:
			all = append(all, path+" unset")
		default:
			all = append(all, path+" = "+valueText(v))
		}
	}
	return strings.Join(all, ", ")
}

func valueText(v any) string {
	if v == Before {
		return "as before"
	}
	if text, ok := v.(string); ok && strings.Contains(text, PodsOf) {
		return strings.ReplaceAll(text, PodsOf, "the names of its pods")
	}
	out, err := json.Marshal(v)
	if err != nil {
		return field.Scalar(v)
	}
	return string(out)
}
