package health

import "slices"

// conditionLists returns the lists of conditions of the status, read once: its own first, if there
// is one, and those of its parts (parents, ancestors, listeners of Gateway API).
func (s *subject) conditionLists() []listed { return s.partsOf().lists }

// listOf reads conditions from a list, or from a map by type.
func listOf(v any) []condition {
	var out []condition
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				if c, ok := readCondition("", m); ok {
					if out == nil {
						out = make([]condition, 0, len(v))
					}
					out = append(out, c)
				}
			}
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			m, ok := v[name].(map[string]any)
			if !ok {
				m = map[string]any{"status": v[name]}
			}
			if c, ok := readCondition(name, m); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// newest drops conditions that a newer one of the same type replaces: of a newer generation, or of
// the same and later. If a type is True more than once the list is a log, of which only the last
// entry counts.
func newest(list []condition) []condition {
	out := make([]condition, 0, len(list))
	log := false
	for _, c := range list {
		at := slices.IndexFunc(out, func(o condition) bool { return o.kind == c.kind })
		if at < 0 {
			out = append(out, c)
			continue
		}
		log = log || c.said == yes && out[at].said == yes && c.since.After(out[at].since)
		if c.observed > out[at].observed || c.observed == out[at].observed && !c.since.Before(out[at].since) {
			out[at] = c
		}
	}
	if !log {
		return out
	}
	last := out[0]
	for _, c := range out[1:] {
		if !c.since.Before(last.since) {
			last = c
		}
	}
	return []condition{last}
}
