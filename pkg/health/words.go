package health

import (
	"strings"
	"time"
)

// words judges by the phase or state that a status names, by fields that hold an error,
// by booleans, and by what is ready of what is wanted.
func (j *Judge) words(s *subject) (Health, bool) {
	f := s.spoken()
	if f.Status == "" {
		return Health{}, false
	}
	return f.Health, true
}

// spoken is what the fields of the status say together: trouble first, then what the
// word nearest to the top says.
func (s *subject) spoken() finding {
	trouble, verdict := s.fieldsOf()
	if trouble.Status != "" && trouble.before(verdict.finding) {
		return trouble
	}
	short, full := s.counted()
	switch {
	case verdict.Status == Healthy && short.Status != "":
		return short
	case verdict.Status != "":
		return verdict.finding
	case short.Status != "":
		return short
	}
	return full
}

// objection is what the fields of the status have against a health that conditions
// tell. A guess is replaced by any word, what is called well only by what is known to
// be otherwise.
func (s *subject) objection(guess bool) (Health, bool) {
	trouble, verdict := s.fieldsOf()
	if trouble.Status != "" && !trouble.slight {
		return trouble.Health, true
	}
	if verdict.Status != "" && verdict.Status != Healthy {
		return verdict.Health, true
	}
	if guess {
		return Health{}, false
	}
	if short, _ := s.counted(); short.Status != "" {
		return short.Health, true
	}
	return Health{}, false
}

// word is what a field says, and how far down it is.
type told struct {
	finding
	rank int
}

// speech gathers what the fields of a status say.
type speech struct {
	subject *subject
	ends    bool
	verdict told
	trouble finding
}

// fieldsOf looks at the fields of the status: for errors, and for words.
func (s *subject) fieldsOf() (trouble finding, verdict told) {
	sp := speech{subject: s, ends: s.ends()}
	if word, ok := s.fields["status"].(string); ok {
		sp.word("status", word, nil, 0)
	}
	sp.walk(s.status, 0)
	return sp.trouble, sp.verdict
}

// walk looks at the fields of a map, and at those of maps in it, down to three levels.
func (sp *speech) walk(m map[string]any, depth int) {
	for key, value := range m {
		switch v := value.(type) {
		case string:
			if v == "" {
				continue
			}
			if rank, ok := speaks(key); ok {
				sp.word(key, v, m, 3*depth+rank)
			} else if depth == 0 && names(key) {
				sp.failed(key, v)
			}
		case bool:
			if depth == 0 {
				sp.flag(key, v, m)
			}
		case []any:
			if depth == 0 && key == "errors" && len(v) > 0 {
				sp.failed(key, textOf(v[0]))
			}
		case map[string]any:
			if depth == 0 && key == "error" && len(v) > 0 {
				sp.failed(key, textOf(v))
			}
			if depth < 2 && !apart(key) {
				sp.walk(v, depth+1)
			}
		}
	}
}

// speaks reports the fields whose value says how the object fares, and how directly.
func speaks(key string) (rank int, ok bool) {
	switch key {
	case "phase", "state", "health", "status":
		return 0, true
	}
	var buf [longestPhrase]string
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

// apart reports the fields that speak of something else, or of another time.
func apart(key string) bool {
	if strings.HasPrefix(key, "last") && key != "lastOperation" || strings.HasPrefix(key, "previous") {
		return true
	}
	switch key {
	case "conditions", "history", "template", "spec", "selector", "nodeSelector", "labels", "annotations", "resources":
		return true
	}
	return false
}

// names reports the fields that hold a text only where something went wrong.
func names(key string) bool {
	switch key {
	case "error", "errorMessage", "failureMessage", "failureReason", "errorReason", "lastError", "lastErrorMessage", "failure", "errorMsg":
		return true
	}
	return false
}

// failed notes a field that holds an error.
func (sp *speech) failed(key, message string) {
	f := finding{Health: Health{Status: Degraded, Reason: "Error", Message: message}, whole: true, slight: strings.HasPrefix(key, "last")}
	if sp.trouble.Status == "" || !f.slight && sp.trouble.slight || f.slight == sp.trouble.slight && f.Message < sp.trouble.Message {
		sp.trouble = f
	}
}

// word notes a word that says in which state something is.
func (sp *speech) word(key, value string, beside map[string]any, rank int) {
	p := state(value, sp.ends)
	f := finding{}
	f.Reason, f.Message = value, firstText(beside, "message", "reason", "description")
	f.Since = firstTime(beside, "lastTransitionTime", "lastUpdateTime", "lastUpdateTimestamp")
	if f.Message == "" {
		f.Message = key + " is " + value
	}
	switch p.sense {
	case good:
		f.Status = Healthy
	case bad:
		f.Status = Degraded
	case moving:
		f.Status = Progressing
	case halted:
		f.Status = Suspended
	default:
		if rank < 3 && !strings.EqualFold(value, "none") && !strings.EqualFold(value, "n/a") {
			sp.subject.strange(key + " is " + value)
		}
		return
	}
	sp.note(told{f, rank})
}

// flag notes a boolean whose name says what is so: ready, readyToUse, failed.
func (sp *speech) flag(key string, value bool, beside map[string]any) {
	p := read(key)
	if !p.whole {
		return
	}
	f := finding{}
	switch {
	case p.sense == good && p.trait&step == 0 && value && !p.negated:
		f.Status = Healthy
	case p.sense == good && p.trait&step == 0 && !value && !p.negated:
		f.Status = Progressing
	case p.sense == bad && value:
		f.Status = Degraded
	case p.sense == moving && value:
		f.Status = Progressing
	case p.sense == halted && value:
		f.Status = Suspended
	default:
		return
	}
	f.Reason, f.Message = key, firstText(beside, "message", "reason", "description")
	if !value {
		f.Reason = "Not" + strings.ToUpper(key[:1]) + key[1:]
	}
	if f.Message == "" {
		f.Message = key + " is " + map[bool]string{true: "true", false: "false"}[value]
	}
	sp.note(told{f, 1})
}

// note keeps what decides: of words equally near to the top the worst one, and of one
// farther down only trouble.
func (sp *speech) note(t told) {
	old := sp.verdict
	switch {
	case old.Status == "":
	case t.rank == old.rank && t.Status == old.Status:
		if t.Message >= old.Message {
			return
		}
	case t.Status.Worse(old.Status):
		if t.rank > old.rank && old.Status != Healthy {
			return
		}
	case t.rank >= old.rank:
		return
	default: // nearer to the top, and better
		if t.Status == Healthy {
			return
		}
	}
	sp.verdict = t
}

// textOf gives the text of an error that is written as a map or in other ways.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if text := firstText(v, "message", "reason", "error", "detail"); text != "" {
			return text
		}
	}
	return "its status holds an error"
}

var _ = time.Time{}
