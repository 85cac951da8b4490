package health

import (
	"strings"
	"testing"
)

func TestGrave(t *testing.T) {
	for want, texts := range map[int][]string{
		2: {
			"admission webhook denied the request", "Quota 'CPUS' exceeded", "The operation is not allowed", "checksum mismatch", "unable to open repository",
			"checksum mismatch on 2 of 3 replicas", "image digest mismatch: desired sha256:a, observed sha256:b",
			"record diskUUID doesn't match the one on the disk", "the key does not match the certificate",
			"failed to create", "rpc error: code = Unknown", "invalid value", "could not resolve host", "error code 5",
		},
		1: {"secret not found", "the service is unavailable", "host is unreachable"},
		0: {
			"", "no errors", "0 failed", "failed: 0", "errors is 0", "Tasks Completed: 3 (Failed: 0)", "not degraded", "without error", "error budget is at 99%",
			"failedReplicas: 0", "restart on failure", "if it fails it is tried again", "failure domain a", "failure policy Fail over",
			"the observed generation does not match", "2 replicas don't match the revision",
			"with timeout of 5m0s", "cannot be modified until it is available", "never failed", "the previous error is gone", "resolved all errors",
		},
	} {
		for _, s := range texts {
			if got := weigh(s); got != want {
				t.Errorf("%q: %d, want %d", s, got, want)
			}
		}
	}
}

func TestAwaitsLeave(t *testing.T) {
	for want, texts := range map[bool][]string{
		true: {
			"WaitingForApproval", "PendingApproval", "ManualApprovalPending", "AwaitingUserInput", "RequiresConfirmation",
			"waiting for admin approval", `set approvePlan: "x" to approve this plan`, "you need manually confirm to enter the next step",
		},
		false: {"Approved", "approval was given", "Waiting", "waiting for the pods; see the manual of the operator that describes how approval works", "Pending", "", "review"},
	} {
		for _, s := range texts {
			if got := awaitsLeave(s); got != want {
				t.Errorf("%q: %t", s, got)
			}
		}
	}
}

func TestTroubles(t *testing.T) {
	for want, keys := range map[bool]string{
		true:  "errors failed failedNamespaces failedClusters validationErrors unhealthyNodes invalidSecrets brokenMembers resourcesFailed",
		false: "failureDomains pastFailedRunNames lastFailedStats failureMembers conditions warnings failedOver nodes violations",
	} {
		for key := range strings.FieldsSeq(keys) {
			if got := troubles(key); got != want {
				t.Errorf("%s: %t", key, got)
			}
		}
	}
}

func TestRoles(t *testing.T) {
	for key, want := range map[string]countRole{
		"total": wantedCount, "desiredReady": wantedCount, "totalNum": wantedCount, "readyNum": readyCount, "errApplied": failedCount,
		"notReady": missingCount, "available": noCount, "totalFailedCount": noCount, "failedAttempts": noCount, "restarts": noCount,
	} {
		if got := roleOf(key); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
}
