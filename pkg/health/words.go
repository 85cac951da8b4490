package health

import (
	"fmt"
	"strings"
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
	if trouble.Status != "" && trouble.before(verdict) {
		return trouble
	}
	short, full := s.counted()
	switch {
	case verdict.Status == Healthy && short.Status != "":
		return short
	case verdict.Status != "":
		return verdict
	case short.Status != "":
		return short
	case full.Status != "":
		return full
	}
	return s.scheduled()
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

// told is what a field says, and how far down it is.
type told struct {
	finding
	rank int
}

// ranks is how far down words are, and how directly they speak, at most: three a level.
const ranks = 9

// speech gathers what the fields of a status say.
type speech struct {
	subject *subject
	ends    bool
	ranks   [ranks]finding
	late    finding // of the last operation
	trouble finding
}

// fieldsOf looks at the fields of the status: for errors, and for words.
func (s *subject) fieldsOf() (trouble finding, verdict finding) {
	sp := speech{subject: s, ends: s.ends()}
	if word, ok := s.fields["status"].(string); ok {
		sp.word("status", word, nil, 0)
	}
	sp.walk(s.status, 0)
	sp.labelled()
	verdict = sp.verdict()
	if verdict.Status == "" {
		verdict = sp.late
	}
	return sp.trouble, verdict
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
			} else if depth == 0 {
				sp.plain(key, v, m)
			}
		case bool:
			if depth == 0 {
				sp.flag(key, v, m)
			}
		case int64, float64:
			if rank, ok := speaks(key); ok && rank == 0 {
				sp.subject.strange(fmt.Sprintf("%s is the number %v", key, v))
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
			if depth == 0 && strings.HasPrefix(key, "last") {
				sp.latest(v)
			}
		}
	}
}

// speaks reports the fields whose value says how the object fares, and how directly.
func speaks(key string) (rank int, ok bool) {
	switch key {
	case "phase", "state", "health", "status":
		return 0, true
	case "stage", "robustness", "compliance", "result", "outcome", "lifecycle":
		return 1, true
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
	if strings.HasPrefix(key, "last") || strings.HasPrefix(key, "previous") {
		return true
	}
	switch key {
	case "conditions", "history", "template", "spec", "selector", "nodeSelector", "labels", "annotations", "resources":
		return true
	}
	return false
}

// plain looks at a text that is not the name of a state: an error, or a field that asks
// whether something is so.
func (sp *speech) plain(key, value string, beside map[string]any) {
	if names(key) {
		sp.failed(key, value)
		return
	}
	if p := read(key); !p.whole || p.negated {
		return
	}
	if b, ok := truth(value); ok {
		sp.flag(key, b, beside)
	} else if state(value, sp.ends).sense != mute {
		sp.word(key, value, beside, 1)
	}
}

// latest looks at what a status says of the last operation. That it went well does not
// say that the object is well.
func (sp *speech) latest(m map[string]any) {
	inner := speech{subject: &subject{}, ends: sp.ends}
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

// labelled looks at labels that name a health. Only trouble is taken from them.
func (sp *speech) labelled() {
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
		if of := stepOf(key); of != "" && state(firstText(beside, of), sp.ends).sense != good {
			f.Status = Progressing
		}
	case bad:
		f.Status = Degraded
	case moving:
		f.Status = Progressing
	case halted:
		f.Status = Suspended
	default:
		if rank < 3 && stepOf(key+"Status") == "" && !strings.EqualFold(value, "none") && !strings.EqualFold(value, "n/a") {
			sp.subject.strange(key + " is " + value)
		}
		return
	}
	sp.note(told{f, rank})
}

// stepOf returns the field that names the step of which another one tells the state:
// stage, for stageStatus.
func stepOf(key string) string {
	for _, step := range [...]string{"stage", "step", "task"} {
		if rest, ok := strings.CutPrefix(key, step); ok && (rest == "Status" || rest == "State" || rest == "Phase") {
			return step
		}
	}
	return ""
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

// note keeps, of words equally near to the top, the weightiest one.
func (sp *speech) note(t told) {
	old := &sp.ranks[min(t.rank, len(sp.ranks)-1)]
	a, b := t.weight(), old.weight()
	if a > b || a == b && t.Message < old.Message {
		*old = t.finding
	}
}

// verdict is what the word nearest to the top says. Where all is well there, trouble
// farther down is heard, but not that some part of it is switched off.
func (sp *speech) verdict() finding {
	var best finding
	for _, f := range sp.ranks {
		if best.Status == "" || best.Status == Healthy && (f.Status == Degraded || f.Status == Progressing) {
			if f.Status != "" {
				best = f
			}
		}
	}
	return best
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
