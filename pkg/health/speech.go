package health

import "strings"

// rankedFinding is the meaning of a field, with its depth.
type rankedFinding struct {
	finding
	rank int
}

// ranks is the number of ranks of words by depth and directness: three for each level.
const ranks = 9

// statusSummary collects the meaning of the fields of a status.
type statusSummary struct {
	subject *subject
	ends    bool
	ranks   [ranks]finding
	doubts  [ranks]bool // ranks with words of unknown meaning
	late    finding     // of the last operation
	trouble finding
	outcome finding // a bad one, of what is over
}

// word records a word that names a state.
func (sp *statusSummary) word(key, value string, siblings map[string]any, rank int) {
	p := state(value, sp.ends)
	f := finding{}
	f.Reason, f.Message = value, explanation(siblings)
	f.Since = firstTime(siblings, "lastTransitionTime", "lastUpdateTime", "lastUpdateTimestamp")
	if f.Message == "" {
		f.Message = key + " is " + value
	}
	switch p.sense {
	case good:
		f.Status = Healthy
		if step := stepOf(key); step != "" && state(firstText(siblings, step), sp.ends).sense != good {
			f.Status = Progressing
		}
		if complains(f.Message) {
			f.Status = Degraded
		}
	case bad:
		f.Status = Degraded
		if rank == 1 && outcome(key) {
			sp.outcome = f // phase: Done says that it is over, this field how it ended
		}
		if strings.EqualFold(value, string(Missing)) {
			f.Status = Missing
		}
	case moving:
		f.Status = hindered(f.Message, siblings)
	case paused:
		f.Status = Suspended
	default:
		if rank < 3 && stepOf(key+"Status") == "" && !strings.EqualFold(value, "none") && !strings.EqualFold(value, "n/a") {
			sp.subject.strange(key + " is " + value)
			sp.doubt(rank)
		}
		return
	}
	sp.note(rankedFinding{f, rank})
}

// outcome reports fields with the result of something that is over.
func outcome(key string) bool {
	switch key {
	case "result", "outcome", "verdict", "conclusion":
		return true
	}
	return false
}

// hindered returns the status of an object that is progressing by its state, and may have hit an
// error: by the text next to it, by its reason, or because of many retries.
func hindered(message string, siblings map[string]any) Status {
	reason := firstText(siblings, "reason")
	p := read(reason)
	switch {
	case awaitsLeave(reason), awaitsLeave(message):
		return Suspended
	case plainTrouble(message), grave(message) && !awaits(message):
		return Degraded
	case p.sense == bad && !p.negated && p.trait&passing == 0 && p.trait&plain == 0:
		return Degraded
	}
	for _, key := range [...]string{"retryCount", "retries", "failureCount", "consecutiveFailures", "failures", "restartCount", "attempts", "failedAttempts"} {
		if n, ok := number(siblings[key]); ok && n >= muchRetried {
			return Degraded
		}
	}
	return Progressing
}

// muchRetried is the number of retries that means trouble.
const muchRetried = 3

// complains reports texts that start with a word for an error: ERROR: replication lags.
func complains(s string) bool {
	first, _, found := strings.Cut(strings.ToLower(s), ":")
	switch first {
	case "error", "err", "failure", "failed", "fatal", "critical", "panic":
		return found
	}
	return false
}

// stepOf returns the field that names the step of another field's state: stage, for stageStatus.
func stepOf(key string) string {
	for _, step := range [...]string{"stage", "step", "task"} {
		if rest, ok := strings.CutPrefix(key, step); ok && (rest == "Status" || rest == "State" || rest == "Phase") {
			return step
		}
	}
	return ""
}

// flag records a boolean whose name says what is true: ready, readyToUse, failed.
func (sp *statusSummary) flag(key string, value bool, siblings map[string]any) {
	p := read(asked(key))
	if !p.whole && (value || p.trait&plain == 0) {
		return
	}
	f, rank := finding{}, 1
	if !p.whole {
		rank = 2 // infrastructureReady: false
	}
	switch {
	case p.sense == good && p.trait&step == 0 && value && !p.negated:
		f.Status = Healthy
	case p.sense == good && p.trait&(step|idle) == 0 && !value && !p.negated:
		f.Status = Progressing
		if key == "healthy" || key == "valid" || text(explanation(siblings)) == bad || complaint(explanation(siblings)) && !awaits(explanation(siblings)) {
			f.Status = Degraded
		}
	case p.sense == bad && value:
		f.Status = Degraded
	case p.sense == moving && value:
		f.Status = Progressing
	case p.sense == paused && value:
		f.Status = Suspended
	default:
		return
	}
	f.Reason, f.Message = key, explanation(siblings)
	if !value {
		f.Reason = "Not" + strings.ToUpper(key[:1]) + key[1:]
	}
	if f.Message == "" {
		f.Message = key + " is " + map[bool]string{true: "true", false: "false"}[value]
	}
	sp.note(rankedFinding{f, rank})
}

// asked returns the meaning of a boolean whose name is written as one word: ready, for isready.
func asked(key string) string {
	if rest, ok := strings.CutPrefix(key, "is"); ok {
		if _, known := meaning(rest); known {
			return rest
		}
	}
	return key
}

// note records the weightiest of the words at the same rank.
func (sp *statusSummary) note(t rankedFinding) {
	old := &sp.ranks[min(t.rank, len(sp.ranks)-1)]
	a, b := t.weight(), old.weight()
	if a > b || a == b && t.Message < old.Message {
		*old = t.finding
	}
}

// doubt records a word of unknown meaning at a rank.
func (sp *statusSummary) doubt(rank int) { sp.doubts[min(rank, len(sp.doubts)-1)] = true }

// verdict returns the meaning of the word nearest to the top. If that is well, trouble farther down
// counts (except in steps of what has ended), and a part that is switched off does not. Nothing is
// well below or next to a word of unknown meaning.
func (sp *statusSummary) verdict() finding {
	var best finding
	doubt := false
	for rank, f := range sp.ranks {
		doubt = doubt || sp.doubts[rank]
		if doubt && f.Status == Healthy {
			continue
		}
		if best.Status == "" || best.Status == Healthy && !sp.ends && (f.Status == Degraded || f.Status == Progressing) {
			if f.Status != "" {
				best = f
			}
		}
	}
	if best.Status == Healthy && sp.outcome.Status != "" {
		return sp.outcome
	}
	return best
}

// textOf returns the text of an error that is a map or another type.
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
