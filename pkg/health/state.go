package health

import (
	"slices"
	"strings"
)

// state returns the meaning of a word that names a state. For a kind that ends, some words mean
// less than for others.
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

// hedged returns the meaning of a sentence with a good ending and other words.
func hedged(s string) wordClass {
	if sense := text(s); sense == bad || sense == moving {
		return sense
	}
	return neutral
}

// imminent reports states that are ready to begin, InstallReady, or not quite reached.
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

// actionOf reports fields with the state of an action on an object, which ends: actionState,
// operationStatus. Running means in progress there.
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

// underwayTo reports states that are only ready for a next step, or on the way to a good one:
// ReadyToStart, TransitioningToGreen.
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

// goesOn reports names of activities that no list has: MigratingData.
func goesOn(s string) bool {
	if len(s) > maxState {
		return false
	}
	var buf [maxPhraseWords]string
	return slices.ContainsFunc(split(buf[:0], s), activity)
}

// maxState is the longest text that may be the name of a state.
const maxState = 64

// unfinished reports states in which a kind that ends has not ended.
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
