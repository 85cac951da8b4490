package health

import "strings"

// wordClass is the meaning of a word for its subject.
type wordClass uint8

const (
	neutral wordClass = iota
	good
	bad
	moving    // progressing
	paused    // stopped, or ignored, on purpose
	ambiguous // unknown, or needs attention
)

// trait refines a word's meaning.
type trait uint8

const (
	// step: good, but not the end.
	step trait = 1 << iota
	// awaited: while it is false, it may only take time.
	awaited
	// early: as a state it is a beginning.
	early
	// plain: the word summarizes without a prospect: while it is false, only a reason shows whether
	// that is trouble.
	plain
	// idle: while it is false, the object may be idle, and that may be right.
	idle
	// passing: absent or bad for now, and may recover by itself.
	passing
)

// word is an entry of the vocabulary.
type word struct {
	sense wordClass
	trait trait
}

// vocabulary has the words with which controllers report health, in lower case. It is read-only.
var vocabulary = lexicon(senses)

// senses are the vocabulary as it is written.
var senses = []entryOfLexicon{
	{word{good, plain | awaited}, "ready"},
	{word{good, 0}, `available healthy valid accepted programmed resolved established
		online connected reachable ok okay green normal operational functional serving alive passed
		pass passing verified validated compliant successful successfully success succeeded succeed succeeds
		attached enforced admitted effective satisfied optimal live published stable steady usable
		nominal working listening schedulable permitted allowed authorized trusted unsealed`},
	{word{good, awaited}, `synced synchronized reconciled complete completed completes finished done bound
		installed deployed rolledout updated uptodate applied released promoted joined loaded restored
		merged upgraded started finalized current idle imported exported mounted associated propagated
		settled converged migrated optimized warmed failedover relocated`},
	{word{good, awaited | idle}, `active running recovered managing watching replicating streaming receiving following forwarding
		balancing protecting enforcing operating functioning tracking`},
	{word{good, awaited | step}, `initialized provisioned launched bootstrapped configured generated
		enabled prepared pulled patched issued adopted registered created transformed built unpacked
		exist exists`},
	{word{good, awaited | step | early}, `scheduled approved allocated submitted assigned reserved planned`},
	{word{bad, 0}, `failed failure failures failing fail fails error errors errored err degraded stalled invalid conflict
		conflicted conflicting conflicts expired timeout blocked broken crashed crash crashing crashloop
		crashloopbackoff backoff denied forbidden unauthorized unauthenticated rejected refused aborted abort canceled
		cancelled corrupt corrupted fatal exceeded mismatch mismatched unmatched misconfigured unschedulable unresolvable
		unsupported incompatible insufficient evicted oomkilled killed panic exhausted incorrect illegal malformed
		duplicate duplicated unrecoverable inconsistent violated violation violations noncompliant unable faulty fault
		faulted abnormal impaired unsuccessful problem problems exception rolledback unsatisfiable unrecognized
		unprogrammed unaccepted crashlooping unusable untrusted stuck deadlock deadlocked halting unprocessable
		imagepullbackoff errimagepull hung abandoned damaged throttled preempted erroring dangling sick impossible unreconcilable quarantined cannot`},
	{word{bad, passing}, `unavailable missing notfound nonexistent offline disconnected unreachable unmet unsatisfied unresolved
		inaccessible unhealthy deleted terminated stale tainted red critical pressure orphan orphaned lost dead
		undefined unstable fallback dropped terminal exceptions overlapped`},
	{word{moving, 0}, `reconciling progressing progress inprogress creating updating upgrading rolling pending deleting
		initializing scaling waiting wait awaiting awaited starting stopping terminating provisioning
		deprovisioning installing uninstalling deploying applying syncing synchronizing queued preparing
		launching bootstrapping configuring migrating restarting resuming recovering rebalancing processing
		validating verifying building pulling downloading restoring cloning resizing expanding rollingout
		joining draining finalizing promoting analyzing importing exporting transitioning connecting
		loading init initial new issuing renewing rotating retrying unpacking yellow modifying
		unready unsynced outofsync unreconciled incomplete unbound notstarted maintenance uninitialized
		unprovisioned unstarted requeued rebooting booting yet setup refreshing replacing adding removing
		attaching detaching binding registering allocating assigning waitingforfirstconsumer backingup
		healing evicting resyncing rebuilding growing cancelling canceling aborting transient partial partially being delayed remediating invalidating requeueing
		executing copying transferring uploading scanning evaluating compacting repairing reindexing converting
		relocating evacuating activating`},
	{word{paused, 0}, `suspended suspend suspending paused pause pausing hibernated hibernating hibernation
		hibernate stopped held cordoned parked asleep sleeping deactivated deallocated poweroff poweredoff disabled halted unmanaged inactive frozen shutdown dormant scaledtozero`},
	{word{ambiguous, 0}, `unknown drifted recoverable warning warnings warn undetermined indeterminate`},
}

// entryOfLexicon is a meaning with its words.
type entryOfLexicon struct {
	word  word
	words string
}

func lexicon(entries []entryOfLexicon) map[string]word {
	m := map[string]word{}
	for _, e := range entries {
		for w := range strings.FieldsSeq(e.words) {
			m[w] = e.word
		}
	}
	return m
}

// joined lists pairs of words with one meaning together.
var joined = map[[2]string]string{
	{"in", "progress"}:        "inprogress",
	{"to", "date"}:            "uptodate",
	{"back", "off"}:           "backoff",
	{"not", "found"}:          "notfound",
	{"not", "exist"}:          "notfound",
	{"rolled", "out"}:         "rolledout",
	{"rolling", "out"}:        "rollingout",
	{"rolled", "back"}:        "rolledback",
	{"timed", "out"}:          "timeout",
	{"time", "out"}:           "timeout",
	{"shut", "down"}:          "shutdown",
	{"of", "sync"}:            "outofsync",
	{"to", "zero"}:            "scaledtozero",
	{"could", "not"}:          "unable",
	{"can", "not"}:            "unable",
	{"not", "started"}:        "notstarted",
	{"backing", "up"}:         "backingup",
	{"not", "valid"}:          "invalid",
	{"not", "accepted"}:       "rejected",
	{"not", "supported"}:      "unsupported",
	{"can", "t"}:              "unable",
	{"couldn", "t"}:           "unable",
	{"already", "exists"}:     "conflict",
	{"setting", "up"}:         "initializing",
	{"not", "yet"}:            "awaiting",
	{"not", "authorized"}:     "unauthorized",
	{"not", "permitted"}:      "denied",
	{"not", "match"}:          "unmatched",
	{"t", "match"}:            "unmatched",
	{"not", "allowed"}:        "denied",
	{"failed", "over"}:        "failedover",
	{"not", "enough"}:         "insufficient",
	{"no", "enough"}:          "insufficient",
	{"no", "space"}:           "exhausted",
	{"in", "sync"}:            "synced",
	{"split", "brain"}:        "faulty",
	{"of", "memory"}:          "exhausted",
	{"of", "disk"}:            "exhausted",
	{"of", "space"}:           "exhausted",
	{"storage", "full"}:       "exhausted",
	{"disk", "full"}:          "exhausted",
	{"no", "primary"}:         "unavailable",
	{"no", "leader"}:          "unavailable",
	{"no", "quorum"}:          "unavailable",
	{"no", "master"}:          "unavailable",
	{"on", "hold"}:            "held",
	{"powered", "off"}:        "poweredoff",
	{"rollback", "complete"}:  "rolledback",
	{"rollback", "completed"}: "rolledback",
	{"delete", "complete"}:    "deleted",
	{"no", "longer"}:          "not",
}

// negators turn the following word into its contrary.
var negators = map[string]bool{
	"not": true, "no": true, "non": true, "never": true, "without": true, "0": true,
	"zero": true, "isnt": true, "none": true, "nothing": true, "un": true,
}

// alone are words with a meaning only if there are no others.
var alone = map[string]word{
	"up": {good, 0}, "down": {bad, 0}, "on": {good, 0}, "off": {paused, 0},
	"true": {good, 0}, "yes": {good, 0}, "normal": {good, 0},
	"false": {moving, 0}, "insync": {good, 0}, "open": {good, 0}, "opened": {good, 0},
	"closed": {paused, 0}, "scheduling": {moving, 0}, "staging": {moving, 0},
	"retry": {moving, 0},
}

// nouns end in ing, and are no activity.
var nouns = lexicon([]entryOfLexicon{{word{}, `string ring ping billing networking scheduling monitoring logging routing
	pricing training thing nothing everything something existing remaining following during including using
	being going king sibling setting mapping staging binding peering routing mirroring fencing sharding`}})

// activity reports whether an unknown word names an activity, by its ending.
func activity(w string) bool {
	if len(w) < 6 || !strings.HasSuffix(w, "ing") {
		return false
	}
	_, noun := nouns[w]
	return !noun
}

// waits reports words after which a good one is only expected: WaitForJobReady.
func waits(w string) bool {
	switch w {
	case "wait", "waits", "waiting", "await", "awaiting", "awaits", "pending", "until", "being", "proposal":
		return true
	}
	return false
}

// meaning looks a word up, also with s for z if it ends in ized or izing.
func meaning(w string) (word, bool) {
	m, known := vocabulary[w]
	if known {
		return m, true
	}
	for _, ending := range [...]string{"ised", "ising"} {
		if stem, ok := strings.CutSuffix(w, ending); ok {
			m, known = vocabulary[stem+"iz"+ending[2:]]
			return m, known
		}
	}
	return word{}, false
}
