package health

import (
	"fmt"
	"slices"
	"strings"
)

// partPlace is a path in a status: status.clusters[2].
type partPlace struct {
	above *partPlace
	key   string
	index int // in a list; -1 for the field itself
	name  string
}

// String formats the path with the name of the last part that has one.
func (p *partPlace) String() string {
	path, name := "", ""
	for at := p; at != nil; at = at.above {
		step := "." + at.key
		if at.index >= 0 {
			step += fmt.Sprintf("[%d]", at.index)
		}
		path = step + path
		if name == "" {
			name = at.name
		}
	}
	if name == "" {
		return "status" + path
	}
	return fmt.Sprintf("status%s %q", path, name)
}

// parts collects what a status says about the parts of its object: the items of its lists, and of
// lists in those.
type parts struct {
	lists   []listed
	worst   finding // of an item by its own words
	well    finding // an item that is well, if all of them are
	short   finding // of numbers that count parts: some are not ready, or failed
	full    finding // all are ready
	unclear bool    // an item has only words of unknown meaning
	ends    bool
	budget  int
}

// listed is a list of conditions with its part; nil for the object itself.
type listed struct {
	conditions []condition
	of         *partPlace
}

// maxParts limits the parts that are evaluated, and maxDepth how deep they are nested.
const (
	maxParts = 4000
	maxDepth = 5
)

// partsOf evaluates the parts in the status of an object, once.
func (s *subject) partsOf() *parts {
	if s.parts == nil {
		s.parts = &parts{ends: s.ends(), budget: maxParts}
		if !s.parts.ends {
			s.parts.count(s.status, nil)
		}
		s.parts.read(s.status, nil, 0)
	}
	return s.parts
}

// read evaluates a map: its conditions, its lists, and the maps in it.
func (ps *parts) read(m map[string]any, at *partPlace, depth int) {
	if list := listOf(m["conditions"]); len(list) > 0 {
		ps.lists = append(ps.lists, listed{list, at})
	}
	if depth >= maxDepth {
		return
	}
	for _, key := range partKeys(m) {
		switch v := m[key].(type) {
		case []any:
			ps.items(v, key, at, depth)
		case map[string]any:
			ps.part(v, &partPlace{above: at, key: key, index: -1}, depth)
		}
	}
}

// partKeys returns the keys of lists and maps about parts, in order.
func partKeys(m map[string]any) []string {
	var keys []string
	for key, value := range m {
		switch v := value.(type) {
		case []any:
			if len(v) > 0 && key != "conditions" && !bygone(key) {
				keys = append(keys, key)
			}
		case map[string]any:
			if len(v) > 0 && !isSeparate(key) && !bygone(key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// items evaluates the items of a list.
func (ps *parts) items(list []any, key string, at *partPlace, depth int) {
	if strings.HasSuffix(key, "onditions") {
		if conditions := listOf(list); len(conditions) > 0 {
			ps.lists = append(ps.lists, listed{conditions, &partPlace{above: at, key: key, index: -1}})
		}
		return
	}
	for i, item := range list {
		if m, ok := item.(map[string]any); ok {
			ps.part(m, &partPlace{above: at, key: key, index: i, name: nameOf(m)}, depth)
		}
	}
}

// part evaluates one part, and the parts in it.
func (ps *parts) part(m map[string]any, at *partPlace, depth int) {
	if ps.budget <= 0 || waived(m) {
		return
	}
	ps.budget--
	if !ps.ends {
		ps.named(m, at)
		ps.word(m, at)
		ps.count(m, at)
	}
	ps.read(m, at, depth+1)
}

// named evaluates maps with the state of each part by its name: serviceHealth: {web: Unhealthy}.
func (ps *parts) named(m map[string]any, at *partPlace) {
	if _, ok := speaks(at.key); !ok || at.index >= 0 || explanation(m) != "" {
		return
	}
	for key, value := range m {
		if _, word := value.(string); !word || isSeparate(key) || names(key) {
			return
		}
		if _, ok := speaks(key); ok {
			return
		}
	}
	for _, key := range sortedKeys(m) {
		f, _ := partState(key, m[key].(string), m)
		ps.note(f, at)
	}
}

// word records the state of a part. Good words count only if all parts have them.
func (ps *parts) word(m map[string]any, at *partPlace) {
	for key, value := range m {
		if f, known := partSays(key, value, m); known {
			ps.note(f, at)
		}
	}
}

// note records the worst finding of the parts.
func (ps *parts) note(f finding, at *partPlace) {
	switch {
	case f.Status == Suspended:
	case f.Status == "":
		ps.unclear = true
	case f.Status == Healthy && ps.well.Status == "":
		ps.well = f
		ps.well.Message = at.String() + ": " + f.Message
	case f.Status != Healthy && (ps.worst.Status == "" || f.weight() >= ps.worst.weight()):
		f.Message = at.String() + ": " + f.Message
		if f.weight() > ps.worst.weight() || f.Message < ps.worst.Message {
			ps.worst = f
		}
	}
}

// partSays evaluates one field of a part; known is false for fields that do not express its state.
func partSays(key string, value any, m map[string]any) (f finding, known bool) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return f, false
		}
		if names(key) && !strings.HasPrefix(key, "last") {
			return finding{Health: Health{Status: Degraded, Reason: "Error", Message: key + ": " + v}}, true
		}
		if rank, ok := speaks(key); ok && rank <= 1 {
			return partState(key, v, m)
		}
		if b, ok := truth(v); ok {
			return partFlag(key, b, m)
		}
		if p := read(key); p.whole && !p.negated && state(v, false).sense != neutral {
			return partState(key, v, m)
		}
	case bool:
		return partFlag(key, v, m)
	case []any:
		if troubles(key) && len(v) > 0 {
			return finding{Health: Health{Status: Degraded, Reason: "Errors", Message: key + ": " + textOf(v[0])}}, true
		}
	}
	return f, false
}

// partState evaluates the word that names the state of a part.
func partState(key, value string, m map[string]any) (finding, bool) {
	if _, typed := m["type"].(string); typed {
		if _, plain := truth(value); plain || strings.EqualFold(value, "unknown") {
			return finding{}, false // a condition of a list under another name
		}
	}
	p := state(value, actionOf(key))
	f := finding{}
	f.Reason, f.Message = value, key+" "+value
	if reason := explanation(m); reason != "" {
		f.Message += ": " + reason
	}
	switch p.sense {
	case good:
		f.Status = Healthy
	case bad:
		f.Status, f.soft = Degraded, p.trait&passing != 0
	case moving:
		f.Status = Progressing
		if grave(explanation(m)) {
			f.Status = Degraded
		}
	case paused:
		f.Status = Suspended
	}
	return f, true
}

// partFlag evaluates a boolean of a part: ready, healthy, applied, failed.
func partFlag(key string, value bool, m map[string]any) (finding, bool) {
	p := read(asked(key))
	if key == "health" {
		p = read("healthy")
	}
	if p.negated || p.trait&idle != 0 || !p.whole && (value || p.trait&plain == 0) || offersKind(key) && p.sense != good {
		return finding{}, false
	}
	f := finding{}
	f.Reason, f.Message = key, fmt.Sprintf("%s is %t", key, value)
	reason := explanation(m)
	if reason != "" {
		f.Message += ": " + reason
	}
	switch {
	case p.sense == good && value:
		f.Status, f.step = Healthy, p.trait&step != 0
	case p.sense == good && p.trait&step != 0:
		return finding{}, false // not every part is created, configured or enabled
	case p.sense == good:
		f.Status = Progressing
		if p.trait&awaited == 0 || complaint(reason) {
			f.Status = Degraded
		}
	case p.sense == bad && value:
		f.Status = Degraded
	default:
		return finding{}, false
	}
	return f, true
}

// explanation returns the text with which a part or a status gives a reason.
func explanation(m map[string]any) string {
	return firstText(m, "message", "reason", "description", "failureMessage", "errorMessage", "statusMessage", "healthMessage", "phaseReason",
		"statusReason", "stateMessage", "details", "detail")
}

// nameOf returns the name of a part.
func nameOf(m map[string]any) string {
	if name := firstText(m, "name", "clusterName", "cluster", "clustername", "branch", "id", "key", "host", "hostname", "node", "nodeName",
		"component", "uid", "type", "namespace"); name != "" {
		return name
	}
	for _, key := range [...]string{"parentRef", "ancestorRef", "resourceMeta", "ref", "resource", "identifier", "target"} {
		if inner, ok := m[key].(map[string]any); ok {
			if name := firstText(inner, "name"); name != "" {
				return name
			}
		}
	}
	return ""
}

// waived reports parts that are not needed, or switched off.
func waived(m map[string]any) bool {
	for _, key := range [...]string{"optional", "disabled", "ignored", "suspended", "paused", "suspend", "skipped", "deleted", "stopped"} {
		if b, ok := truth(m[key]); ok && b {
			return true
		}
	}
	for _, key := range [...]string{"enabled", "required", "mandatory", "critical"} {
		if b, ok := truth(m[key]); ok && !b {
			return true
		}
	}
	return false
}

// bygone reports fields about the past, about possibilities, or about runs that are over: history,
// recentMaintenance, lastFailedStats, phaseTransitionTimestamps, tombstoneStores.
func bygone(key string) bool {
	var buf [maxPhraseWords]string
	for i, w := range split(buf[:0], key) {
		switch w {
		case "history", "histories", "last", "previous", "past", "recent", "old", "former", "earlier", "archived", "transition", "transitions",
			"timestamps", "attempt", "attempts", "retries", "retry", "events", "log", "logs", "evictions", "skipped", "orphaned", "tombstone",
			"deleted", "removed", "pruned", "revisions", "versions", "candidates", "measurements", "executions", "runs", "builds", "catalog",
			"jobs", "backups", "restores", "snapshots", "template", "templates", "spec", "desired", "wanted", "expected", "planned", "plan",
			"requested", "selector", "labels", "annotations", "example", "warnings", "steps", "freight", "images", "permissions":
			return true
		case "pending", "next", "upcoming":
			if i == 0 {
				return true
			}
		}
	}
	return false
}
