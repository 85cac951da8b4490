package health

import (
	"slices"
	"strings"
)

// conditions judges by the standard conditions of a custom resource. What they call
// well is asked of the other words of the status, too.
func (j *Judge) conditions(s *subject) (Health, bool) {
	if s.status == nil {
		return Health{}, false
	}
	var worst finding
	for _, list := range conditionLists(s.status) {
		f := judgeList(newest(list), s.ends())
		switch {
		case f.Status == "" && f.foreign:
			s.strange(f.Message)
			worst.foreign = true
		case f.Status.Worse(worst.Status):
			f.foreign = worst.foreign
			worst = f
		}
	}
	if worst.Status == "" || worst.Status == Healthy && worst.foreign {
		return Health{}, false
	}
	return s.confirm(worst)
}

// confirm asks the words of the status whether they contradict what conditions say.
func (s *subject) confirm(f finding) (Health, bool) {
	if f.Status == Progressing {
		// What waits for somebody's leave is not on its way.
		if _, verdict := s.fieldsOf(); verdict.Status == Suspended {
			return verdict.Health, true
		}
	}
	if f.Status == Healthy || f.soft {
		if other, ok := s.objection(f.soft); ok && (other.Status != Healthy) {
			return other, true
		}
	}
	if f.step && f.Status == Healthy && s.ends() {
		f.Status = Progressing
	}
	if f.step && f.Status == Healthy {
		s.strange("only steps of the way are told: " + f.Message)
		return Health{}, false
	}
	return f.Health, true
}

// judgeList says what the conditions of one list mean together: the worst, but what
// tells more is heard before what follows from a word alone, and where the object says
// that it is well as a whole slight things do not count.
func judgeList(list []condition, ends bool) finding {
	findings := make([]finding, 0, len(list))
	var well, calm, quiet bool
	for i := range list {
		f := list[i].judge(ends)
		if f.Status == Healthy && f.whole && !f.step && plainly(list[i].kind) {
			well = true
		}
		calm, quiet = calm || f.calm, quiet || f.quiet
		findings = append(findings, f)
	}
	var best finding
	for _, f := range findings {
		if f.Status == "" || well && f.slight && f.Status != Healthy {
			if f.foreign && best.Status == "" && !best.foreign {
				best.foreign, best.Message = true, f.Message
			}
			continue
		}
		if f.before(best) {
			f.foreign = best.foreign && best.Status != ""
			best = f
		}
	}
	if best.Status == "" && !best.foreign && calm && quiet {
		best.Health = Health{Status: Healthy, Reason: "Settled", Message: "its conditions say that nothing goes on, and nothing is wrong"}
	}
	return best
}

// plainly reports the types by which an object speaks of itself as a whole.
func plainly(kind string) bool {
	switch strings.ToLower(kind) {
	case "ready", "available", "healthy", "succeeded", "complete", "completed", "successful":
		return true
	}
	return false
}

// before reports whether f decides, rather than g.
func (f finding) before(g finding) bool {
	if a, b := f.weight(), g.weight(); a != b {
		return a > b
	}
	if f.whole != g.whole {
		return f.whole
	}
	return f.Since.After(g.Since)
}

// weight orders findings: known trouble, a stop, what is known to go on, what is thought
// to be trouble or to go on, what is well, and steps.
func (f finding) weight() int {
	switch {
	case f.Status == Degraded && !f.soft:
		return 8
	case f.Status == Suspended:
		return 7
	case f.Status == Progressing && !f.soft:
		return 6
	case f.Status == Degraded:
		return 5
	case f.Status == Progressing:
		return 4
	case f.Status == Healthy && !f.step:
		return 3
	case f.Status == Healthy:
		return 2
	}
	return 0
}

// conditionLists finds the lists of conditions of a status: its own, and those that
// it keeps for each of several others (parents, ancestors, listeners of Gateway API).
func conditionLists(status map[string]any) [][]condition {
	var lists [][]condition
	if own := listOf(status["conditions"]); len(own) > 0 {
		lists = append(lists, own)
	}
	for _, key := range sortedKeys(status) {
		if key == "conditions" {
			continue
		}
		items, _ := status[key].([]any)
		if m, ok := status[key].(map[string]any); ok && !apart(key) {
			items = []any{m}
		}
		for _, item := range items {
			m, _ := item.(map[string]any)
			if nested := listOf(m["conditions"]); len(nested) > 0 {
				lists = append(lists, nested)
			}
		}
	}
	return lists
}

// listOf reads conditions that are written as a list, or as a map by type.
func listOf(v any) []condition {
	var out []condition
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				if c, ok := readCondition("", m); ok {
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

// newest drops conditions that a later one of the same type replaces. Where a type comes
// as True more than once the list is a log, of which only the last entry counts.
func newest(list []condition) []condition {
	out := make([]condition, 0, len(list))
	log := false
	for _, c := range list {
		at := slices.IndexFunc(out, func(o condition) bool { return o.kind == c.kind })
		if at < 0 {
			out = append(out, c)
			continue
		}
		log = log || c.said == yes && out[at].said == yes
		if !c.since.Before(out[at].since) {
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
