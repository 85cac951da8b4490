package health

// words judges by the phase or state that a status names, by fields that hold an error,
// by booleans, and by what is ready of what is wanted.
func (j *Evaluator) words(s *subject) (Health, bool) {
	f := s.summarizeStatus()
	if f.Status == "" {
		return Health{}, false
	}
	return f.Health, true
}

// summarizeStatus is what the fields of the status say together: trouble first, then what the
// word nearest to the top says.
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
		// There are words that nobody knows: counts do not outdo them.
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

// outdo reports whether the worst part is what there is to say: of what is well or says nothing
// any trouble of a part, and of what is on its way a part that has failed.
func (ps *parts) outdo(whole finding) bool {
	switch whole.Status {
	case "", Healthy:
		return ps.worst.Status != ""
	case Progressing:
		return ps.worst.Status == Degraded && !ps.worst.soft
	}
	return false
}

// complaint takes a message of the status for trouble where it is all there is, and
// sounds like it.
func (s *subject) complaint() finding {
	message := explanation(s.status)
	if text(message) != bad {
		return finding{}
	}
	return finding{Health: Health{Status: Degraded, Reason: "Message", Message: message}}
}

// objection is what the fields of the status have against a health that conditions
// tell. A guess is replaced by any word, what is called well only by what is known to
// be otherwise.
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
