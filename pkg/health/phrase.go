package health

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrase is what a type, a reason or a state says as a whole.
type phrase struct {
	word
	// negated: it says so by denying the contrary: NotReady.
	negated bool
	// whole: it has no other words: it speaks for the object, not for a part of it.
	whole bool
	// partly: it says that of some of it: PartiallyReady.
	partly bool
	// past: it speaks of one time that is over: LastBackupSucceeded.
	past bool
}

// longestPhrase and longestText are how many words are looked at.
const (
	longestPhrase = 16
	longestText   = 60
)

// read gives the sense of words that are written together, as in ReplicaFailure or
// update_in_progress. The last word that is known decides, since the ones before
// it say of what.
func read(s string) phrase {
	var buf [longestPhrase]string
	words := join(split(buf[:0], s))
	if len(words) == 1 {
		if w, ok := alone[words[0]]; ok {
			return phrase{word: w, whole: true}
		}
	}
	if offers(words) {
		return phrase{}
	}
	p, other, hoped := phrase{}, false, false
	for i, w := range words {
		meaning, known := vocabulary[w]
		hoped = hoped || waits(w)
		switch {
		case hoped && known && meaning.sense != bad:
			p.word, p.negated = word{moving, 0}, false
		case w == "partially" || w == "partly" || w == "partial":
			p.partly = true
			if len(words) == 1 {
				p.word = meaning
			}
		case w == "last" || w == "previous":
			p.past = true
		case known:
			p.word, p.negated = deny(meaning, negatedAt(words, i))
		case !negators[w] && !filler(w):
			other = true
		}
	}
	p.whole = !other && p.sense != mute && !p.past
	return p
}

// filler reports words that name the object itself, or nothing.
func filler(w string) bool {
	switch w {
	case "is", "has", "all", "overall", "cluster", "resource", "resources", "instance", "to", "use", "and", "the", "up", "state", "status":
		return true
	}
	return false
}

// offers reports phrases that tell what could be done, not how the thing fares:
// UpdateAvailable, Upgradeable.
func offers(words []string) bool {
	if len(words) < 2 || words[len(words)-1] != "available" {
		return false
	}
	switch words[len(words)-2] {
	case "update", "updates", "upgrade", "upgrades", "version", "release":
		return true
	}
	return false
}

// negatedAt reports whether one of the two words before i denies it; none is denied by
// what comes before another word that is known.
func negatedAt(words []string, i int) bool {
	for j := i - 1; j >= 0 && j >= i-2; j-- {
		if negators[words[j]] {
			return true
		}
		if _, known := vocabulary[words[j]]; known {
			return false
		}
	}
	return false
}

// deny gives the contrary of a meaning, where it is denied.
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
	case w.sense == bad || w.sense == unsure:
		return word{good, step}, true
	}
	return word{}, true
}

// state gives the sense of a word that says in which state something is. A thing that
// is to end has not come far where others would have come to their end.
func state(s string, ends bool) phrase {
	var p phrase
	if len(s) <= maxState {
		p = read(s)
	}
	if p.sense == mute && goesOn(s) {
		p.word = word{moving, 0}
	}
	switch {
	case p.sense == good && strings.Contains(s, " ") && hedged(s) != mute:
		p.word = word{hedged(s), 0}
	case p.sense == good && imminent(s):
		p.word = word{moving, 0}
	case p.sense == good && p.trait&early != 0:
		p.word = word{moving, 0}
	case p.sense == good && ends && unfinished(s):
		p.word = word{moving, 0}
	case p.sense == unsure && strings.HasPrefix(strings.ToLower(lastWord(s)), "warn"):
		p.word = word{bad, 0}
	}
	return p
}

// hedged gives the sense of a sentence that ends well, but says more than that.
func hedged(s string) sense {
	if told := text(s); told == bad || told == moving {
		return told
	}
	return mute
}

// imminent reports states of what is ready to begin: InstallReady.
func imminent(s string) bool {
	var buf [longestPhrase]string
	words := split(buf[:0], s)
	if len(words) < 2 || words[len(words)-1] != "ready" {
		return false
	}
	switch words[len(words)-2] {
	case "install", "deploy", "apply", "start", "upgrade", "update", "provision", "bind", "launch", "create", "restore", "import", "clone":
		return true
	}
	return false
}

// goesOn reports names that tell of an activity nobody listed: MigratingData.
func goesOn(s string) bool {
	if len(s) > maxState {
		return false
	}
	var buf [longestPhrase]string
	return slices.ContainsFunc(split(buf[:0], s), activity)
}

// maxState is the length of what is taken for the name of a state, not for a text.
const maxState = 64

// unfinished reports states in which what is to end has not ended.
func unfinished(s string) bool {
	switch strings.ToLower(lastWord(s)) {
	case "running", "active", "started", "created", "ready", "accepted", "admitted", "initialized", "enabled", "bound", "online", "current", "updated", "working", "live", "joined", "available", "provisioned", "prepared", "loaded":
		return true
	}
	return false
}

func lastWord(s string) string {
	var buf [longestPhrase]string
	words := split(buf[:0], s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// text gives the sense of a sentence: bad, moving, or mute. A sentence that begins by
// waiting waits, whatever for.
func text(s string) sense {
	if len(s) > maxText {
		s = s[:maxText]
	}
	var buf [longestText]string
	words := join(split(buf[:0], s))
	found := mute
	for i, w := range words {
		meaning, known := vocabulary[w]
		if !known || w == "new" || w == "init" || w == "initial" || w == "set" {
			continue
		}
		fine := meaning.sense == good && meaning.trait&awaited == 0
		meaning, _ = deny(meaning, negatedAt(words, i))
		switch {
		case fine: // "not available" says no more than the condition does
		case meaning.sense == moving && i < 2:
			return moving
		case meaning.sense == bad:
			return bad
		case meaning.sense == moving && meaning.trait&plain == 0:
			found = moving
		case meaning.sense == halted && found == mute:
			found = halted
		}
	}
	return found
}

const maxText = 400

// join puts words together that mean one thing. It works in place.
func join(words []string) []string {
	out := words[:0]
	for _, w := range words {
		if n := len(out); n > 0 {
			if one, ok := joined[[2]string{out[n-1], w}]; ok {
				out[n-1] = one
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// split appends the words of s in lower case, as far as there is room: CamelCase,
// snake_case, words with spaces and signs between them; HTTPRoute are two, and n't is
// not.
func split(words []string, s string) []string {
	start := 0
	for start < len(s) && len(words) < cap(words) {
		r, size := utf8.DecodeRuneInString(s[start:])
		if !letter(r) {
			start += size
			continue
		}
		end := start + size
		prev := r
		for end < len(s) {
			next, size := utf8.DecodeRuneInString(s[end:])
			if !letter(next) || boundary(prev, next, s[end+size:]) {
				break
			}
			prev = next
			end += size
		}
		words = append(words, strings.ToLower(s[start:end]))
		start = end
	}
	return words
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// boundary reports whether a new word begins with next: a capital after a small letter,
// or the last capital of several, before a small letter.
func boundary(prev, next rune, rest string) bool {
	if !unicode.IsUpper(next) {
		return false
	}
	if !unicode.IsUpper(prev) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(after)
}
