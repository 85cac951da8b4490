package health

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
	if trouble.Status != "" && trouble.before(verdict) && (!trouble.slight || verdict.Status == "") {
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
	case s.seen.words:
		// There are words that nobody knows: counts do not outdo them.
		return finding{}
	case full.Status != "":
		return full
	}
	if f := s.scheduled(); f.Status != "" {
		return f
	}
	return s.complaint()
}

// complaint takes a message of the status for trouble where it is all there is, and
// sounds like it.
func (s *subject) complaint() finding {
	message := firstText(s.status, "message", "reason")
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
