package health

import (
	"fmt"
	"strings"
)

// fieldsOf evaluates the fields of the status, once: for errors, and for words.
func (s *subject) fieldsOf() (trouble, verdict finding) {
	if !s.assessed {
		s.assessed = true
		s.trouble, s.verdict = s.listen()
	}
	return s.trouble, s.verdict
}

func (s *subject) listen() (trouble, verdict finding) {
	sp := statusSummary{subject: s, ends: s.ends()}
	if word, ok := s.fields["status"].(string); ok {
		sp.word("status", word, nil, 0)
	}
	sp.walk(s.status, 0)
	sp.labelled()
	if verdict = sp.verdict(); verdict.Status == "" {
		verdict = sp.late
	}
	return sp.trouble, verdict
}

// walk evaluates the fields of a map and of maps in it, down to three levels.
func (sp *statusSummary) walk(m map[string]any, depth int) {
	for key, value := range m {
		if depth == 0 {
			sp.top(key, value, m)
		}
		switch v := value.(type) {
		case string:
			if rank, ok := speaks(key); ok && v != "" {
				sp.word(key, v, m, 3*depth+rank)
			}
		case int64, float64:
			if rank, ok := speaks(key); ok && rank == 0 {
				sp.subject.strange(fmt.Sprintf("%s is the number %v", key, v))
				sp.doubt(3*depth + rank)
			}
		case map[string]any:
			if depth < sp.depth() && !isSeparate(key) {
				sp.walk(v, depth+1)
			}
		}
	}
}

// depth returns how deep the search goes. For a kind that ends it excludes the steps, of which some
// may fail and be repeated.
func (sp *statusSummary) depth() int {
	if sp.ends {
		return 1
	}
	return 2
}

// top evaluates what only the top-level fields of a status express.
func (sp *statusSummary) top(key string, value any, m map[string]any) {
	switch v := value.(type) {
	case string:
		if _, ok := speaks(key); !ok && v != "" {
			sp.plain(key, v, m)
		}
	case bool:
		sp.flag(key, v, m)
	case []any:
		if len(v) > 0 && troubles(key) {
			sp.failed(key, textOf(v[0]))
		}
	case map[string]any:
		if key == "error" && len(v) > 0 {
			sp.failed(key, textOf(v))
		}
		if strings.HasPrefix(key, "last") {
			sp.latest(v)
		}
	}
}

// speaks reports the fields whose value is the state of the object, and how directly.
func speaks(key string) (rank int, ok bool) {
	switch key {
	case "phase", "state", "health", "status":
		return 0, true
	case "stage", "robustness", "compliance", "result", "outcome", "verdict", "conclusion", "lifecycle":
		return 1, true
	}
	var buf [maxPhraseWords]string
	words := split(buf[:0], key)
	if len(words) < 2 {
		return 0, false
	}
	switch words[len(words)-1] {
	case "phase", "state", "health", "status":
	default:
		return 0, false
	}
	for _, w := range words {
		switch w {
		case "desired", "target", "expected", "previous", "last", "old", "requested", "spec", "wanted", "initial":
			return 0, false
		}
	}
	return 1, true
}

// isSeparate reports the fields about something else, or about another time.
func isSeparate(key string) bool {
	if strings.HasPrefix(key, "last") || strings.HasPrefix(key, "previous") || strings.Contains(key, "AnalysisRun") {
		return true
	}
	switch key {
	case "conditions", "history", "template", "spec", "selector", "nodeSelector", "labels", "annotations", "resources":
		return true
	}
	return false
}

// plain evaluates a text that is not the name of a state: an error, or a field with a yes-or-no
// answer.
func (sp *statusSummary) plain(key, value string, siblings map[string]any) {
	if names(key) {
		sp.failed(key, value)
		return
	}
	if p := read(key); !p.whole || p.negated {
		return
	}
	if b, ok := truth(value); ok {
		sp.flag(key, b, siblings)
	} else if state(value, sp.ends).sense != neutral {
		sp.word(key, value, siblings, 1)
	}
}

// latest evaluates the status of the last operation. Its success does not make the object Healthy.
func (sp *statusSummary) latest(m map[string]any) {
	inner := statusSummary{subject: &subject{}, ends: sp.ends}
	for key, value := range m {
		if v, ok := value.(string); ok {
			if rank, ok := speaks(key); ok {
				inner.word(key, v, m, rank)
			}
		}
	}
	if f := inner.verdict(); f.Status != "" && f.Status != Healthy && f.weight() > sp.late.weight() {
		sp.late = f
	}
}

// labelled evaluates labels that name a health. Only trouble counts.
func (sp *statusSummary) labelled() {
	for key, value := range sp.subject.Meta.GetLabels() {
		_, name, ok := strings.Cut(key, "/")
		if !ok || name != "status" && name != "health" {
			continue
		}
		switch state(value, sp.ends).sense {
		case bad, moving:
			sp.word(key, value, nil, 2)
		}
	}
}

// names reports the fields that have a text only after an error.
func names(key string) bool {
	switch squeeze(key) {
	case "error", "errormessage", "failuremessage", "failurereason", "errorreason", "lasterror", "lasterrormessage", "failure", "errormsg", "errmsg":
		return true
	}
	// reconcileError, syncErrorMessage: an error of any activity.
	name := key
	for _, text := range [...]string{"Message", "Msg", "Reason"} {
		name = strings.TrimSuffix(name, text)
	}
	return strings.HasSuffix(name, "Error") && !strings.HasPrefix(key, "no")
}

// failed records a field with an error.
func (sp *statusSummary) failed(key, message string) {
	f := finding{Health: Health{Status: Degraded, Reason: "Error", Message: message}, whole: true, slight: strings.HasPrefix(key, "last")}
	if sp.trouble.Status == "" || !f.slight && sp.trouble.slight || f.slight == sp.trouble.slight && f.Message < sp.trouble.Message {
		sp.trouble = f
	}
}
