package health

import (
	"fmt"
	"slices"
	"strings"
)

// count evaluates the numbers in one map of a status that belong together: how many parts are
// desired, how many are ready, and how many are in trouble. It ignores runs, whose failures are
// past, and capacity, of which some is always free.
func (ps *parts) count(m map[string]any, at *partPlace) {
	total, ready, readyKey := int64(-1), int64(-1), ""
	for key, value := range m {
		n, ok := number(value)
		if !ok {
			if text, isText := value.(string); isText {
				if have, want, ok := fraction(key, text); ok {
					ps.tally(at, key, have, want, true)
				}
			}
			continue
		}
		switch roleOf(key) {
		case wantedCount:
			total = max(total, n)
		case readyCount:
			if ready < 0 || n < ready {
				ready, readyKey = n, key
			}
		case noCount:
			ps.countParts(m, at, key, n)
		}
	}
	if total < 0 {
		if ready >= 0 {
			ps.ofExpected(m, at, readyKey, ready)
		}
		return
	}
	ps.countTrouble(m, at)
	if ready >= 0 {
		ps.tally(at, readyKey, ready, total, true)
	}
}

// countTrouble evaluates the counts next to a total: those in trouble, and those that are available
// of the desired ones; of a total, the available ones are what is free.
func (ps *parts) countTrouble(m map[string]any, at *partPlace) {
	for key, value := range m {
		n, ok := number(value)
		switch role := roleOf(key); {
		case !ok:
		case role == availableCount:
			if want, ok := number(m["desired"+strings.TrimPrefix(key, "available")]); ok {
				ps.tally(at, key, n, want, true)
			}
		case n <= 0:
		case role == failedCount:
			ps.shortOf(at, Degraded, key, n)
		case role == missingCount:
			ps.shortOf(at, Progressing, key, n)
		}
	}
}

// ofExpected compares a number of healthy ones with a number that names its noun: currentHealthy,
// of expectedMachines.
func (ps *parts) ofExpected(m map[string]any, at *partPlace, key string, have int64) {
	for _, wanted := range sortedKeys(m) {
		n, ok := number(m[wanted])
		if !ok {
			continue
		}
		var buf [maxPhraseWords]string
		words := join(split(buf[:0], wanted))
		if len(words) == 2 && words[0] == "expected" && parted(words[1]) {
			ps.tally(at, key, have, n, true)
		}
	}
}

// countParts compares a number that names its noun, readyShards, with the desired number in the
// same map, or treats it as trouble: failedClusters.
func (ps *parts) countParts(m map[string]any, at *partPlace, key string, n int64) {
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], key))
	if len(words) < 2 {
		return
	}
	if failed, lacking := damaged(words); n > 0 && (failed || lacking) {
		status := Progressing
		if failed {
			status = Degraded
		}
		ps.shortOf(at, status, key, n)
		return
	}
	serves := true
	switch words[0] {
	case "ready", "available", "healthy":
	case "updated", "uptodate":
		serves = false
	default:
		return
	}
	noun := key[len(words[0]):]
	if words[0] == "uptodate" || !parted(words[1]) || !serves && at == nil {
		return // the spec, with a partition, says how many are to be updated
	}
	for _, wanted := range [...]string{"desired" + noun, "expected" + noun, "total" + noun, "desiredReady" + noun, strings.ToLower(noun[:1]) + noun[1:]} {
		if want, ok := number(m[wanted]); ok {
			ps.tally(at, key, n, want, serves)
			return
		}
	}
}

// tally records an actual and a desired number.
func (ps *parts) tally(at *partPlace, key string, have, want int64, serves bool) {
	var short, full finding
	tally(&short, &full, key, have, want, serves)
	note := func(old *finding, f finding) {
		if f.Status == "" {
			return
		}
		if at != nil {
			f.Message = at.String() + "." + f.Message
		}
		if old.Status == "" || old.Status == f.Status && f.Message < old.Message {
			*old = f
		}
	}
	note(&ps.short, short)
	note(&ps.full, full)
}

// number parses a number in a text or another type.
func number(v any) (int64, bool) {
	if _, text := v.(string); text {
		return 0, false
	}
	return wholeNumber(v)
}

// shortOf records a count of trouble, worst first.
func (ps *parts) shortOf(at *partPlace, status Status, key string, n int64) {
	message := fmt.Sprintf("%s is %d", key, n)
	if at != nil {
		message = at.String() + "." + message
	}
	if old := ps.short; status.Worse(old.Status) || status == old.Status && message < old.Message {
		ps.short = finding{Health: Health{Status: status, Reason: "PartsShort", Message: message}}
	}
}

// countRole is what a number in a status counts.
type countRole uint8

const (
	noCount countRole = iota
	wantedCount
	readyCount
	failedCount
	missingCount
	availableCount // of the desired ones; of a total it is what is free
)

// roleOf returns what a field of a summary counts, by its name alone: total, desiredReady,
// readyNum, errApplied.
func roleOf(key string) countRole {
	var buf [maxPhraseWords]string
	words := join(split(buf[:0], key))
	if len(words) > 1 {
		switch words[len(words)-1] {
		case "num", "count", "number":
			words = words[:len(words)-1]
			if len(words) == 1 && words[0] == "available" {
				return availableCount
			}
		}
	}
	switch strings.Join(words, "") {
	case "total", "desired", "expected", "desiredready", "desiredhealthy":
		return wantedCount
	case "ready", "healthy", "currenthealthy":
		return readyCount
	case "failed", "failing", "errored", "unhealthy", "broken", "degraded", "errapplied":
		return failedCount
	case "notready", "unready", "waitapplied":
		return missingCount
	}
	return noCount
}

// damaged reports a counter of parts in trouble: failedClusters, brokenMembers,
// degradedMachineCount, drivesOffline. lacking is set if they may only not exist yet.
func damaged(words []string) (failed, lacking bool) {
	if n := len(words); n > 1 && (words[n-1] == "count" || words[n-1] == "num") {
		words = words[:n-1]
	}
	if len(words) < 2 {
		return false, false
	}
	first, last := words[0], words[len(words)-1]
	if len(words) > 2 && first == "not" {
		first = "unready"
	}
	if !parted(first) && !parted(last) {
		return false, false
	}
	for _, w := range []string{first, last} {
		switch w {
		case "failed", "failing", "broken", "degraded", "errored", "unhealthy", "crashed", "invalid":
			failed = true
		case "unavailable", "unready", "offline":
			lacking = true
		}
	}
	return failed, lacking
}

// parted reports nouns for permanent parts of an object; not those for runs.
func parted(noun string) bool {
	return countable(noun) || slices.Contains([]string{
		"cluster", "clusters", "machine", "machines", "shards", "tablets", "hosts", "targets", "components", "endpoints", "agents", "controllers",
		"drives", "disks", "volumes", "osds", "mons", "datacenters", "racks", "listeners", "bundles", "applications", "environments",
		"subscribers", "deployments", "zones", "regions", "gateways", "proxies", "namespaces", "resources", "replica", "instance", "node",
		"member", "pod", "groups", "partitions", "masters", "slaves", "followers", "leaders", "leader", "follower", "master", "slave",
	}, noun)
}
