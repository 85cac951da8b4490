package health

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		"ReplicaFailure":       "replica failure",
		"APIServerAvailable":   "api server available",
		"ACK.ResourceSynced":   "ack resource synced",
		"update_in_progress":   "update inprogress",
		"HEALTH_WARN":          "health warn",
		"backing-up":           "backingup",
		"oauth2Ready":          "oauth2 ready",
		"isn't":                "isn t",
		"ÜberReady":            "über ready",
		"":                     "",
		"--":                   "",
		"Cluster Is Not Ready": "cluster is not ready",
	} {
		var buf [maxPhraseWords]string
		if got := strings.Join(join(split(buf[:0], in)), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestReadTypes(t *testing.T) {
	for want, types := range map[wordClass]string{
		good: `Ready Available AllReplicasReady ConfigurationValid ReconcileSuccess MinimumReplicasAvailable ResolvedRefs
			NoErrors NoWarnings ErrorsResolved UpToDate Established NamesAccepted Synced ScalingActive`,
		bad: `Failed ReplicaFailure ReconcileError Degraded Stalled VersionMismatch FailedScale HasErrors Unavailable
			InvalidConfiguration ServiceUnavailable BackOff CrashLoopBackOff NotFound NotValid PartiallyInvalid ErrorDetected
			MemoryPressure NonCompliant`,
		moving: `Progressing Reconciling UpgradeInProgress ScalingUp RollingOut NotReady NotReconciled WaitForServeDeploymentReady
			Issuing Terminating ProjectBeingConfigured`,
		paused:    `Suspended Paused ReconciliationPaused Stopped Hibernating ScaledToZero Unmanaged`,
		neutral:   `Frobnicated Upgradeable UpdateAvailable NewVersionAvailable OverlappingTLSConfig NotPaused Monitoring ContinuousArchiving`,
		ambiguous: `Warning Unknown Drifted`,
	} {
		for kind := range strings.FieldsSeq(types) {
			if got := read(kind).sense; got != want {
				t.Errorf("%s: %d, want %d", kind, got, want)
			}
		}
	}
}

func TestReadStates(t *testing.T) {
	for want, states := range map[wordClass][]string{
		good:    {"Running", "GREEN", "HEALTH_OK", "Cluster in healthy state", "UpToDate", "up", "Running (2/2/2)", "active", "provisioned"},
		bad:     {"red", "Error", "HEALTH_WARN", "SUBMISSION_FAILED", "Unable to create objects", "down", "Failing over to another", "CrashLoopBackOff", "NonCompliant", "FailedNonRetriable"},
		moving:  {"yellow", "MigratingData", "ApplyingChanges", "InstallReady", "ImportScheduled", "Waiting for the instances to become active", "new", "NotReconciled", "final" + "ising", "backing-up", "ReadyToStart", "TransitioningToGreen"},
		paused:  {"Paused", "hibernated", "off", "scaled to zero"},
		neutral: {"3", "v1.2.3", "AtLatestKnown", "string", "a text that says that all is well and nothing goes on, at much too great a length for a state"},
	} {
		for _, s := range states {
			if got := state(s, false).sense; got != want {
				t.Errorf("%q: %d, want %d", s, got, want)
			}
		}
	}
	for _, s := range []string{"Running", "started", "ACTIVE", "Created"} {
		if got := state(s, true).sense; got != moving {
			t.Errorf("%q of what is to end: %d", s, got)
		}
	}
}

func TestText(t *testing.T) {
	for want, texts := range map[wordClass][]string{
		bad: {"could not get secret data from provider", "Update call failed", "image not found", "can't connect"},
		moving: {
			"waiting for a Revision, which failed before", "Creating the failed thing anew", "0 pods failed, waiting for 2",
			"The rollout is in progress", "not yet reconciled",
		},
		neutral: {"the thing is not ready", "all is well", "", "no errors"},
	} {
		for _, s := range texts {
			if got := text(s); got != want {
				t.Errorf("%q: %d, want %d", s, got, want)
			}
		}
	}
}

// The tables name each word once: a word cannot be good and bad.
func TestVocabularyHasNoContradictions(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range senses {
		for w := range strings.FieldsSeq(e.words) {
			if seen[w] {
				t.Errorf("%s occurs twice", w)
			}
			seen[w] = true
			if w != strings.ToLower(w) {
				t.Errorf("%s is not in lower case", w)
			}
			var buf [maxPhraseWords]string
			if got := split(buf[:0], w); !slices.Equal(got, []string{w}) {
				t.Errorf("%s is never found: it is read as %v", w, got)
			}
		}
	}
}
