package health

import (
	"slices"
	"strings"
)

// evaluate returns the meaning of a condition of an object.
func (c *condition) evaluate(subject nature) finding {
	p := read(c.kind)
	f := finding{whole: p.whole}
	f.Reason, f.Message, f.Since = c.reason, c.message, c.since
	if f.Reason == "" {
		f.Reason = c.named()
	}
	if f.Message == "" {
		f.Message = c.defaultMessage()
	}
	switch {
	case subject.ends && p.sense == good && p.trait&plain == 0 && unfinished(c.kind) && (c.said == yes || p.trait&awaited != 0):
		if c.said == yes {
			f.Status, f.step = Healthy, true
		}
	case c.said == resting && p.sense != neutral:
		f.Status = Suspended
	case p.negated && p.sense == neutral: // NotPaused
	case p.negated || p.partly && p.sense == good:
		c.denied(p, subject, &f)
	case p.sense == good:
		c.positive(p, subject, &f)
	case p.sense == bad:
		c.negative(p, subject, &f)
	case p.sense == moving:
		c.underway(&f)
	case p.sense == paused:
		c.stopped(&f)
	case p.sense == ambiguous:
		f.slight = true
		if c.said == yes {
			f.Status, f.soft = Degraded, true
		}
	default:
		c.strange(&f)
	}
	f.slight = f.slight || c.severity == "info" || p.past
	if c.unstated && f.Status == Healthy {
		f.Status, f.foreign = "", true
	}
	return f
}

// stopped evaluates a condition that is True while nothing is done for the object. If it stopped
// because of an error, that is trouble: Disabled, because of TemplateNotFound.
func (c *condition) stopped(f *finding) {
	if c.said != yes {
		return
	}
	f.Status = Suspended
	if p := read(c.reason); p.sense == bad && !p.negated || grave(c.message) {
		f.Status = Degraded
	}
}

// positive evaluates a condition that is True if all is well.
func (c *condition) positive(p phrase, subject nature, f *finding) {
	switch {
	case c.said == broken:
		f.Status, f.soft = c.cause(subject)
		if f.Status == "" {
			f.Status = Degraded
		}
	case c.said == yes && p.sense == good && read(c.reason).sense == bad:
		f.Status = Degraded
	case c.said == yes && strings.EqualFold(c.kind, "Running") && text(c.message) == moving && !isFinished(c.reason):
		f.Status = Progressing
	case c.said == yes:
		f.Status, f.step = Healthy, p.trait&step != 0
	case c.said == unclear:
		c.assessUnknown(p, subject, f)
	case !p.whole && moot(c.reason):
		// A part of it is not requested: MetricsReady is False, because of Disabled.
	default:
		c.assessFalse(p, subject, f)
	}
}

// assessUnknown evaluates a condition that should be True and is Unknown.
func (c *condition) assessUnknown(p phrase, subject nature, f *finding) {
	f.Status, f.soft, f.slight = Progressing, !p.whole, !p.whole
	status, soft := c.cause(subject)
	switch reason := read(c.reason); {
	case soft:
	case status == Suspended && reason.sense == paused && strings.EqualFold(lastWord(c.reason), "stopped") && (!p.whole || !reason.whole):
		// The reporter has stopped: LeaseUpdateStopped.
		f.Status, f.soft = Degraded, false
	case status == Suspended:
		f.Status, f.soft = status, false
	case status == Degraded && (reason.sense == bad && reason.trait&passing == 0 || grave(c.message)):
		f.Status, f.soft, f.slight = Degraded, false, false
	}
}

// assessFalse evaluates a condition that should be True and is False.
func (c *condition) assessFalse(p phrase, subject nature, f *finding) {
	f.Status, f.soft = c.cause(subject)
	if f.Status == "" {
		f.Status = Degraded
		if p.trait&awaited != 0 || c.severity == "info" || subject.young || counts(c.message) {
			f.Status, f.late = Progressing, !c.since.IsZero()
		}
	}
	if p.trait&idle != 0 && f.Status == Progressing {
		f.soft, f.slight, f.late = true, true, false
	}
	f.slight = f.slight || f.soft && (p.trait&(step|idle) != 0 || !p.whole && unmoved(c.message))
}

// unmoved reports texts that explain why something is not so, without a lack: a different strategy
// is used.
func unmoved(message string) bool {
	if message == "" || text(message) != neutral || complaint(message) {
		return false
	}
	var buf [maxTextLength]string
	words := join(split(buf[:0], message))
	for i, w := range words {
		if m, known := meaning(w); known && m.sense == good && negatedAt(words, i) {
			return false
		}
	}
	return !counts(message)
}

// counts reports texts with an actual and a desired number: 2/3 are ready.
func counts(message string) bool {
	for i := 1; i < len(message)-1; i++ {
		if message[i] == '/' && digit(message[i-1]) && digit(message[i+1]) {
			return true
		}
	}
	return false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// moot reports reasons that mean that something is not requested.
func moot(reason string) bool {
	p := read(reason)
	if p.sense == paused && !p.negated {
		return true
	}
	var buf [maxPhraseWords]string
	words := split(buf[:0], reason)
	for i, w := range words {
		switch w {
		case "optional", "skipped", "unused", "inapplicable", "unneeded":
			return true
		case "applicable", "required", "requested", "enabled", "needed", "configured", "used":
			if negatedAt(words, i) {
				return true
			}
		}
	}
	return false
}

// negative evaluates a condition that is True if something is wrong.
func (c *condition) negative(p phrase, subject nature, f *finding) {
	switch c.said {
	case yes, broken:
		f.Status = Degraded
		switch {
		case p.trait&passing != 0 && asleep(c.reason):
			f.Status = Suspended
		case p.trait&passing != 0 && subject.young:
			f.Status, f.soft = Progressing, true
		}
	case no:
		f.quiet = f.whole
	}
}

// asleep reports reasons for an intended stop, without trouble: HibernatingOrStopping.
func asleep(reason string) bool {
	var buf [maxPhraseWords]string
	stopped := false
	for _, w := range join(split(buf[:0], reason)) {
		m, _ := meaning(w)
		if m.sense == bad || negators[w] {
			return false
		}
		stopped = stopped || m.sense == paused
	}
	return stopped
}

// isFinished reports reasons that mean an end.
func isFinished(reason string) bool {
	if p := read(reason); p.sense != good || p.negated {
		return false
	}
	switch strings.ToLower(lastWord(reason)) {
	case "available", "complete", "completed", "succeeded", "successful", "success", "finished", "done", "ready", "healthy":
		return true
	}
	return false
}

// denied evaluates a condition that names the lack of something good, or a lack of trouble.
func (c *condition) denied(p phrase, subject nature, f *finding) {
	switch {
	case p.sense == good && p.negated: // NoErrors
		switch c.said {
		case yes:
			f.Status, f.step = Healthy, true
		case no, broken:
			if strings.HasPrefix(strings.ToLower(lastWord(c.kind)), "warn") {
				return // NoWarnings: a warning is no trouble
			}
			f.Status, f.slight = Degraded, true
			f.soft = read(c.reason).sense != bad
		}
	case c.said == yes: // NotReady, PartiallyReady
		status, _ := c.cause(subject)
		if status == "" {
			status = Degraded
		}
		f.Status, f.slight = status, true
	}
}

// underway evaluates a condition that is True during an activity.
func (c *condition) underway(f *finding) {
	reason := read(c.reason)
	switch {
	case c.said == yes && isFinished(c.reason):
		// Progressing because it has ended: as in Deployments.
	case reason.sense == paused && !reason.negated, c.said == yes && awaitsLeave(c.message):
		f.Status = Suspended
	case c.said == yes:
		f.Status = Progressing
		// Retries may be progress, or trouble.
		f.soft = strings.Contains(c.reason, "Retry")
	case c.said == unclear:
		f.Status, f.soft, f.slight = Progressing, true, false
	case reason.sense == bad && !reason.negated, c.said == broken:
		f.Status = Degraded
	default:
		f.calm = f.whole
	}
}

// plainTrouble reports texts about an error that is never part of normal progress.
func plainTrouble(s string) bool {
	s = strings.ToLower(s)
	for _, error := range [...]string{"connection refused", "permission denied", "access denied", "no such host", "crashloopbackoff", "imagepullbackoff", "errimagepull", "back-off ", "unauthorized", "panic:"} {
		if strings.Contains(s, error) {
			return true
		}
	}
	return false
}

// strange evaluates a condition with an unknown type: its reason may mean trouble, but never
// health.
func (c *condition) strange(f *finding) {
	f.foreign = true
	offer := offersKind(c.kind)
	if c.said == yes && offer {
		f.foreign = false
		return
	}
	p := read(c.reason)
	switch {
	case c.said == no && awaitsLeave(c.reason):
		f.Status = Suspended
	case c.said == no && (p.sense == neutral || p.sense == good) && text(c.message) == bad:
		f.Status, f.slight = Degraded, offer || !grave(c.message)
	case p.sense == bad && !p.negated && c.said != unclear:
		f.Status, f.soft = Degraded, c.said != no
		f.slight = c.said != no || offer || p.trait&passing != 0
	case p.sense == moving && !p.negated:
		f.Status, f.soft, f.slight = Progressing, true, true
	}
}

// offersKind reports types that name a possibility.
func offersKind(kind string) bool {
	return strings.HasSuffix(kind, "able") || strings.HasSuffix(kind, "Available")
}

// cause decides by reason and message whether a False condition is trouble or only takes time. soft
// is set if neither decides.
func (c *condition) cause(subject nature) (status Status, soft bool) {
	reason := read(c.reason)
	if reason.sense == neutral && goesOn(c.reason) {
		reason.sense = moving
	}
	if reason.trait&plain != 0 && reason.sense != good {
		reason.sense = neutral // NotReady adds nothing
	}
	if reason.negated && reason.sense == bad {
		reason.sense = neutral // nor does NotAvailable
	}
	passes := reason.trait&passing != 0
	if reason.sense == neutral || reason.sense == good || reason.sense == ambiguous {
		reason.sense = text(c.message)
		passes = !grave(c.message)
	}
	switch {
	case reason.sense != bad && awaitsLeave(c.message):
		return Suspended, false
	case reason.sense == moving && c.said == no && plainTrouble(c.message),
		reason.sense == moving && c.severity != "info" && !awaits(c.message) && grave(c.message):
		// VerifyingFirstRun: connection refused
		reason.sense = bad
	case reason.sense == bad && passes && subject.young:
		return Progressing, true
	}
	switch reason.sense {
	case bad:
		return Degraded, absent(c.reason)
	case moving:
		return Progressing, false
	case paused:
		return Suspended, false
	}
	switch c.severity {
	case "error", "critical":
		return Degraded, false
	case "info":
		return Progressing, true
	}
	return "", true
}

// awaits reports sentences that start with waiting: what they wait for may sound like trouble.
func awaits(s string) bool {
	var buf [4]string
	return slices.ContainsFunc(split(buf[:0], s), waits)
}

// absent reports reasons that mean that something does not exist. It may come yet.
func absent(reason string) bool {
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], reason))
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "notfound", "missing", "nonexistent":
		return true
	}
	return false
}
