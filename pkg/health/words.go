package health

// words evaluates the phase or state in a status, fields with an error, booleans, and ready counts
// against desired ones.
func (j *Evaluator) words(s *subject) (Health, bool) {
	f := s.summarizeStatus()
	if f.Status == "" {
		return Health{}, false
	}
	return f.Health, true
}

// summarizeStatus combines the fields of the status: trouble first, then the word nearest to the
// top.
func (s *subject) summarizeStatus() finding {
	trouble, verdict := s.fieldsOf()
	parts := s.partsOf()
	switch {
	case trouble.Status != "" && trouble.before(verdict) && (!trouble.slight || verdict.Status != Healthy):
		return trouble
	case parts.outdo(verdict):
		return parts.worst
	}
	short, full := s.counted()
	switch {
	case verdict.Status == Healthy && short.Status != "":
		return short
	case verdict.Status != "":
		return verdict
	case short.Status != "":
		return short
	case s.seen.words:
		// Counts do not outweigh words of unknown meaning.
		return finding{}
	case full.Status != "":
		return full
	case parts.well.Status != "" && !parts.unclear && !parts.well.step:
		return parts.well
	}
	if f := s.scheduled(); f.Status != "" {
		return f
	}
	return s.complaint()
}

// outdo reports whether the worst part outweighs the whole: any trouble of a part outweighs Healthy
// and nothing, and a failed part outweighs Progressing.
func (ps *parts) outdo(whole finding) bool {
	switch whole.Status {
	case "", Healthy:
		return ps.worst.Status != ""
	case Progressing:
		return ps.worst.Status == Degraded && !ps.worst.soft
	}
	return false
}

// complaint treats a message of the status as trouble if there is nothing else, and it sounds like
// it.
func (s *subject) complaint() finding {
	message := explanation(s.status)
	if text(message) != bad {
		return finding{}
	}
	return finding{Health: Health{Status: Degraded, Reason: "Message", Message: message}}
}

// objection returns what the fields of the status have against the health from conditions. A soft
// finding yields to any word, Healthy only to certain trouble.
func (s *subject) objection(guess bool) (Health, bool) {
	trouble, verdict := s.fieldsOf()
	parts := s.partsOf()
	switch {
	case trouble.Status != "" && !trouble.slight:
		return trouble.Health, true
	case verdict.Status != Degraded && parts.worst.Status == Degraded, verdict.Status == Healthy && parts.outdo(verdict):
		return parts.worst.Health, true
	}
	if verdict.Status != "" && verdict.Status != Healthy {
		return verdict.Health, true
	}
	if guess {
		return Health{}, false
	}
	if parts.worst.Status != "" {
		return parts.worst.Health, true
	}
	if short, _ := s.counted(); short.Status != "" {
		return short.Health, true
	}
	return Health{}, false
}
