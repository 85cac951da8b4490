package health

import (
	"slices"
	"strings"
)

// grave reports texts about an error that is never part of normal progress: failed, denied,
// invalid, quota exceeded. What is only absent for now (missing, unavailable) is not grave.
func grave(s string) bool { return weigh(s) == 2 }

// complaint reports texts about any trouble.
func complaint(s string) bool { return weigh(s) > 0 }

// weigh returns 2 for a text about an error, 1 for one about something that may still come, and 0
// for neither.
func weigh(s string) int {
	if s == "" {
		return 0
	}
	if len(s) > maxText {
		s = s[:maxText]
	}
	var buf [maxTextLength]string
	words := join(split(buf[:0], s))
	found := 0
	for i, w := range words {
		if ceased(words, i) {
			return 2
		}
		m, known := meaning(w)
		if !known || m.sense != bad || denied(words, i) {
			continue
		}
		if m.trait&passing == 0 {
			return 2
		}
		found = 1
	}
	return found
}

// ceased reports words for something that stopped unintentionally: the kubelet stopped posting its
// status.
func ceased(words []string, i int) bool {
	return words[i] == "stopped" && i+1 < len(words) && strings.HasSuffix(words[i+1], "ing") && activity(words[i+1]) && !denied(words, i)
}

// denied reports whether the words around a word for trouble negate it: no errors, 0 failed,
// failed: 0, error budget, restart on failure, if it fails.
func denied(words []string, i int) bool {
	if negatedAt(words, i) || qualified(words, i) || zeroAfter(words, i) {
		return true
	}
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		switch words[j] {
		case "if", "unless", "avoid", "prevent", "prevents", "ignore", "ignoring", "ignored", "resolved", "recovered", "cleared", "tolerate":
			return true
		case "on", "upon", "when", "last", "previous", "previously", "earlier", "possible", "potential":
			if j == i-1 {
				return true
			}
		}
	}
	return false
}

// qualified reports words for trouble that only qualify a following noun.
func qualified(words []string, i int) bool {
	if words[i] == "timeout" && i > 0 && words[i-1] == "with" {
		return true
	}
	if words[i] == "cannot" || words[i] == "unable" {
		if slices.Contains(words[i:min(i+5, len(words))], "until") {
			return true // cannot be modified until it is available
		}
	}
	if words[i] == "unmatched" && slices.ContainsFunc(words, converges) {
		return true
	}
	if i+1 >= len(words) {
		return false
	}
	switch words[i+1] {
	case "budget", "budgets", "rate", "rates", "threshold", "thresholds", "policy", "policies", "domain", "domains", "handling", "handler",
		"limit", "limits", "tolerance", "injection", "detection", "reporting", "ratio", "percentage", "page", "pages", "log", "logs", "over":
		return true
	}
	return false
}

// converges reports words for a difference that is being corrected.
func converges(w string) bool {
	switch w {
	case "generation", "observed", "observedgeneration", "desired", "replicas", "revision", "updated", "uptodate":
		return true
	}
	return false
}

// zeroAfter reports a count of zero after a word: failed: 0, errors is 0.
func zeroAfter(words []string, i int) bool {
	for j := i + 1; j < len(words) && j <= i+3; j++ {
		switch words[j] {
		case "0", "zero", "none":
			return true
		case "count", "is", "are", "total", "replicas", "pods", "jobs", "tasks", "items", "nodes", "so", "far":
		default:
			return false
		}
	}
	return false
}

// troubles reports lists that have items only if something is wrong: failedNamespaces,
// validationErrors, unhealthyNodes.
func troubles(key string) bool {
	if key == "errors" || key == "failed" {
		return true
	}
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], key))
	if len(words) == 0 || bygone(key) {
		return false
	}
	switch words[len(words)-1] {
	case "errors", "failures", "failed", "unhealthy", "broken", "degraded", "invalid":
		return true
	}
	switch words[0] {
	case "failed", "failing", "unhealthy", "broken", "degraded", "invalid", "errored", "erroneous", "unresolved":
		return len(words) > 1 && strings.HasSuffix(words[len(words)-1], "s")
	}
	return false
}
