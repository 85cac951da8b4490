package health

import (
	"slices"
	"strings"
)

// state gives the sense of a word that says in which state something is. A thing that
// is to end has not come far where others would have come to their end.
func state(s string, ends bool) phrase {
	var p phrase
	if len(s) <= maxState {
		p = read(s)
	}
	if p.sense == neutral && goesOn(s) {
		p.word = word{moving, 0}
	}
	switch {
	case p.sense == good && strings.Contains(s, " ") && hedged(s) != neutral:
		p.word = word{hedged(s), 0}
	case p.sense == good && imminent(s):
		p.word = word{moving, 0}
	case p.sense == good && p.trait&early != 0:
		p.word = word{moving, 0}
	case p.sense == good && ends && unfinished(s):
		p.word = word{moving, 0}
	case p.sense == ambiguous && strings.HasPrefix(strings.ToLower(lastWord(s)), "warn"):
		p.word = word{bad, 0}
	}
	return p
}

// hedged gives the sense of a sentence that ends well, but says more than that.
func hedged(s string) wordClass {
	if told := text(s); told == bad || told == moving {
		return told
	}
	return neutral
}

// imminent reports states of what is ready to begin, InstallReady, or not quite there.
func imminent(s string) bool {
	var buf [maxPhraseWords]string
	words := split(buf[:0], s)
	for _, w := range words {
		switch w {
		case "pre", "semi", "half", "soon", "almost", "nearly":
			return true
		}
	}
	if underwayTo(words) {
		return true
	}
	if len(words) < 2 || words[len(words)-1] != "ready" {
		return false
	}
	switch words[len(words)-2] {
	case "install", "deploy", "apply", "start", "upgrade", "update", "provision", "bind", "launch", "create", "restore", "import", "clone":
		return true
	}
	return false
}

// actionOf reports fields that tell the state of something that is done to an object, and is to end:
// actionState, operationStatus. Running, it is under way.
func actionOf(key string) bool {
	var buf [maxPhraseWords]string
	words := split(buf[:0], key)
	if len(words) < 2 {
		return false
	}
	switch words[len(words)-2] {
	case "action", "operation", "task", "step", "migration", "rebalance":
		return true
	}
	return false
}

// underwayTo reports states of what is ready for its next step only, or goes to where it will be
// well: ReadyToStart, TransitioningToGreen.
func underwayTo(words []string) bool {
	for i := 1; i+1 < len(words); i++ {
		if words[i] != "to" {
			continue
		}
		switch before, after := words[i-1], words[i+1]; {
		case before == "ready":
			return after != "use" && after != "serve" && after != "go"
		case activity(before):
			return true
		}
	}
	return false
}

// goesOn reports names that tell of an activity nobody listed: MigratingData.
func goesOn(s string) bool {
	if len(s) > maxState {
		return false
	}
	var buf [maxPhraseWords]string
	return slices.ContainsFunc(split(buf[:0], s), activity)
}

// maxState is the length of what is taken for the name of a state, not for a text.
const maxState = 64

// unfinished reports states in which what is to end has not ended.
func unfinished(s string) bool {
	switch strings.ToLower(lastWord(s)) {
	case "running", "active", "started", "created", "accepted", "admitted", "initialized", "enabled", "working", "live", "joined",
		"validated", "valid", "verified", "authorized", "permitted", "allowed":
		return true
	}
	return false
}

func lastWord(s string) string {
	var buf [maxPhraseWords]string
	words := split(buf[:0], s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
