package health

import (
	"slices"
	"strings"
)

// phrase is the meaning of a type, a reason or a state as a whole.
type phrase struct {
	word
	// negated: it negates the contrary: NotReady.
	negated bool
	// whole: it has no other words, so it is about the object, not about a part of it.
	whole bool
	// partly: it is about some of it: PartiallyReady.
	partly bool
	// past: it is about a past event: LastBackupSucceeded.
	past bool
}

// maxPhraseWords and maxTextLength limit what is read.
const (
	maxPhraseWords = 16
	maxTextLength  = 60
)

// read returns the meaning of words that are written together, as in ReplicaFailure or
// update_in_progress. The last known word decides, since the ones before it qualify it.
func read(s string) phrase {
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], s))
	if len(words) == 1 {
		if w, ok := alone[words[0]]; ok {
			return phrase{word: w, whole: true}
		}
	}
	if offers(words) {
		return phrase{}
	}
	if leave(words) {
		return phrase{word: word{paused, 0}, whole: true}
	}
	p, other, hoped := phrase{}, false, false
	for i, w := range words {
		m, known := meaning(w)
		hoped = hoped || waits(w)
		switch {
		case hoped && known && m.sense != bad:
			p.word, p.negated = word{moving, 0}, false
		case w == "partially" || w == "partly" || w == "partial":
			p.partly = true
			if len(words) == 1 {
				p.word = m
			}
		case w == "last" || w == "previous":
			p.past = true
		case (w == "initial" || w == "init" || w == "new") && i < len(words)-1:
			other = true // InitialOffsetsCommitted: which offsets, not a beginning
		case known && and(words, i) && p.sense == bad:
			// FailedAndPause
		case known:
			p.word, p.negated = deny(m, negatedAt(words, i))
		case !negators[w] && !filler(w):
			other = true
		}
	}
	p.whole = !other && p.sense != neutral && !p.past
	return p
}

// and reports a word that follows an "and".
func and(words []string, i int) bool { return i > 0 && words[i-1] == "and" }

// leave reports phrases that mean that a person must approve or do something first:
// RequiresApproval, WaitingForConfirmation, PendingManualPromotion, to approve this plan.
func leave(words []string) bool {
	asked, wanted := -leaveWithin-1, -leaveWithin-1
	for i, w := range words {
		if isPerson(w) && i+1 < len(words) && words[i+1] == "to" {
			asked = i
		}
		switch w {
		case "approval", "approvals", "confirmation", "manual", "manually", "acknowledgement", "acknowledgment", "signoff", "judgement", "judgment":
			asked = i
		case "input", "decision", "review", "action":
			if i > 0 && (words[i-1] == "user" || words[i-1] == "human" || words[i-1] == "admin" || words[i-1] == "operator") {
				asked = i
			}
		case "user", "human", "admin", "administrator", "person", "somebody", "someone":
			if i+1 < len(words) && words[i+1] == "to" {
				asked = i
			}
		case "requires", "required", "require", "needs", "needed", "need":
			wanted = i
		}
		if waits(w) {
			wanted = i
		}
		if i > 0 && gives(words[i-1], w) {
			return true
		}
		if asked-wanted <= leaveWithin && wanted-asked <= leaveWithin && len(words) > 1 && asked >= 0 && wanted >= 0 {
			return true
		}
	}
	return false
}

// gives reports two words that mean by themselves that an approval is needed: not approved, to
// approve.
func gives(before, w string) bool {
	switch w {
	case "approved", "acknowledged":
		return before == "not"
	case "approve", "confirm":
		return before == "to" || before == "manually"
	}
	return false
}

// isPerson reports words for people.
func isPerson(w string) bool {
	switch w {
	case "user", "human", "admin", "administrator", "person", "somebody", "someone":
		return true
	}
	return false
}

// leaveWithin is the number of words between waiting and what is waited for.
const leaveWithin = 4

// awaitsLeave reports texts that mean that a person must do something first.
func awaitsLeave(s string) bool {
	if len(s) > maxText {
		s = s[:maxText]
	}
	var buf [maxTextLength]string
	return leave(split(buf[:0], s))
}

// filler reports words for the object itself, or without meaning.
func filler(w string) bool {
	switch w {
	case "is", "has", "all", "overall", "cluster", "resource", "resources", "instance", "to", "use", "and", "the", "up", "state", "status":
		return true
	}
	return false
}

// offers reports phrases about a possibility, not about the health of the object: UpdateAvailable,
// Upgradeable.
func offers(words []string) bool {
	if len(words) < 2 {
		return false
	}
	if slices.ContainsFunc(words, func(w string) bool { m, _ := meaning(w); return m.sense == bad && m.trait&passing == 0 }) {
		return false // FailedNonRetriable
	}
	last := words[len(words)-1]
	if _, known := meaning(last); !known && strings.HasSuffix(last, "able") {
		return true // LiveMigratable
	}
	if last != "available" {
		return false
	}
	switch words[len(words)-2] {
	case "update", "updates", "upgrade", "upgrades", "version", "release":
		return true
	}
	return false
}

// negatedAt reports whether one of the two words before i negates it. A negator before another
// known word does not count.
func negatedAt(words []string, i int) bool {
	for j := i - 1; j >= 0 && j >= i-2; j-- {
		if negators[words[j]] {
			return true
		}
		if _, known := meaning(words[j]); known {
			return false
		}
	}
	return false
}

// deny returns the contrary of a meaning if it is negated.
func deny(w word, denied bool) (word, bool) {
	if !denied {
		return w, false
	}
	switch {
	case w.sense == good && w.trait&plain != 0:
		return word{moving, plain}, true
	case w.sense == good && w.trait&awaited != 0:
		return word{moving, 0}, true
	case w.sense == good:
		return word{bad, 0}, true
	case w.sense == bad || w.sense == ambiguous:
		return word{good, step}, true
	}
	return word{}, true
}

// text returns the meaning of a sentence: bad, moving, or mute. A sentence that starts with waiting
// is moving, whatever it waits for.
func text(s string) wordClass {
	if len(s) > maxText {
		s = s[:maxText]
	}
	var buf [maxTextLength]string
	words := join(split(buf[:0], s))
	found := neutral
	for i, w := range words {
		m, known := meaning(w)
		if !known || w == "new" || w == "init" || w == "initial" || w == "set" {
			continue
		}
		if m.sense == bad && denied(words, i) {
			continue
		}
		if ceased(words, i) {
			return bad
		}
		fine := m.sense == good && m.trait&awaited == 0
		m, _ = deny(m, negatedAt(words, i))
		switch {
		case fine: // "not available" adds nothing to the condition
		case m.sense == moving && i > 0 && circumstance(words[i-1]):
			// while reconciling: role does not exist
		case m.sense == moving && i < 2:
			return moving
		case m.sense == bad:
			return bad
		case m.sense == moving && m.trait&plain == 0:
			found = moving
		case m.sense == paused && found == neutral:
			found = paused
		}
	}
	return found
}

// circumstance reports words before an activity during which something else happened.
func circumstance(w string) bool {
	switch w {
	case "while", "when", "during", "after", "before", "error", "failure":
		return true
	}
	return false
}

const maxText = 400
