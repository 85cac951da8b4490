package health

import (
	"fmt"
	"strconv"
	"strings"
)

// counted compares actual with desired numbers. Too few is Progressing, or trouble if they are
// counted as failed; all of them is Healthy if the count is of ready or available ones.
func (s *subject) counted() (short, full finding) {
	var held finding
	for _, key := range sortedKeys(s.status) {
		have, ok := wholeNumber(s.status[key])
		if !ok {
			continue
		}
		if want, serves, ok := s.wanted(key); ok {
			if unchanged := s.partition(want); strings.HasPrefix(key, "updated") && have < want && have >= want-unchanged {
				held.Health = Health{Status: Suspended, Reason: "Partition", Message: fmt.Sprintf("%s: %d of %d, and its partition keeps the others", key, have, want)}
				continue
			}
			tally(&short, &full, key, have, want, serves)
		}
		if key == "numberUnavailable" && have > 0 {
			tally(&short, &full, key, 0, have, false)
		}
	}
	if short.Status == "" {
		short = held
	}
	parts := s.partsOf()
	if parts.short.Status.Worse(short.Status) {
		short = parts.short
	}
	if full.Status == "" {
		full = parts.full
	}
	return short, full
}

func tally(short, full *finding, key string, have, want int64, serves bool) {
	switch {
	case want <= 0:
	case have < want:
		if short.Status == "" {
			short.Health = Health{Status: Progressing, Reason: "ReplicasShort", Message: fmt.Sprintf("%s: %d of %d", key, have, want)}
		}
	case serves && full.Status == "":
		full.Health = Health{Status: Healthy, Reason: "ReplicasReady", Message: fmt.Sprintf("%s: %d of %d", key, have, want)}
	}
}

// wanted returns the desired number for a count in the status: from the spec, else from the status
// itself. serves is set if the count is of what is ready for use, and not only of what exists.
func (s *subject) wanted(key string) (want int64, serves, ok bool) {
	switch key {
	case "numberReady", "numberAvailable":
		want, ok = wholeNumber(s.status["desiredNumberScheduled"])
		return want, true, ok
	case "updatedNumberScheduled":
		want, ok = wholeNumber(s.status["desiredNumberScheduled"])
		return want, false, ok
	}
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], key))
	if len(words) < 2 {
		return 0, false, false
	}
	noun := words[len(words)-1]
	if !countable(noun) {
		return 0, false, false
	}
	counts := false
	for _, w := range words[:len(words)-1] {
		switch w {
		case "ready", "available", "healthy", "running":
			serves, counts = true, true
		case "up": // up to date
		case "updated", "uptodate":
			counts = true
		default:
			return 0, false, false
		}
	}
	if !counts {
		return 0, false, false
	}
	want, ok = s.target(noun)
	return want, serves, ok
}

// target returns the desired number of a noun, from the spec or the status.
func (s *subject) target(noun string) (int64, bool) {
	spec := s.spec()
	if n, ok := wholeNumber(spec[noun]); ok {
		return n, true
	}
	if n, ok := wholeNumber(s.status["desired"+strings.ToUpper(noun[:1])+noun[1:]]); ok {
		return n, true
	}
	if n, ok := summed(spec, noun); ok {
		return n, true
	}
	for _, key := range [...]string{"size", "instances", "numberOfInstances", "replicaCount", "nodes", "members", "nodeCount"} {
		if n, ok := wholeNumber(spec[key]); ok {
			return n, true
		}
	}
	return wholeNumber(s.status[noun])
}

// summed adds up the desired numbers in a list of the spec: nodes, of nodeSets or nodePools.
func summed(spec map[string]any, noun string) (total int64, ok bool) {
	for key, value := range spec {
		items, list := value.([]any)
		if !list || !strings.HasPrefix(key, strings.TrimSuffix(noun, "s")) {
			continue
		}
		for _, item := range items {
			m, _ := item.(map[string]any)
			for _, field := range [...]string{"count", "replicas", "size"} {
				if n, number := wholeNumber(m[field]); number {
					total, ok = total+n, true
					break
				}
			}
		}
	}
	return total, ok
}

func countable(noun string) bool {
	switch noun {
	case "replicas", "instances", "nodes", "members", "pods", "brokers", "workers", "servers":
		return true
	}
	return false
}

// fraction parses 1/3, in a field that counts.
func fraction(key, text string) (have, want int64, ok bool) {
	a, b, cut := strings.Cut(text, "/")
	if !cut || len(text) > 16 {
		return 0, 0, false
	}
	lower := strings.ToLower(key)
	if !strings.Contains(lower, "replicas") && !strings.Contains(lower, "ready") && !strings.Contains(lower, "available") {
		return 0, 0, false
	}
	have, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	want, err = strconv.ParseInt(b, 10, 64)
	return have, want, err == nil
}

// partition returns how many of a number an update leaves unchanged: a number, or a percentage.
func (s *subject) partition(total int64) int64 {
	strategy := mapAt(s.spec(), "updateStrategy")
	for _, m := range []map[string]any{strategy, mapAt(strategy, "rollingUpdate")} {
		if n, ok := wholeNumber(m["partition"]); ok {
			return n
		}
		text, _ := m["partition"].(string)
		if percent, err := strconv.ParseInt(strings.TrimSuffix(text, "%"), 10, 64); err == nil {
			return (total*percent + 99) / 100
		}
	}
	return 0
}
