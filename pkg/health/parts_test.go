package health_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// What a status says of the parts of its object counts for the whole; what it says of runs that are
// over, of parts that are optional or switched off, of capacity and of other times does not. The
// fields are those of published types: of the operator that is named.
func TestParts(t *testing.T) {
	const ready = `conditions: [{type: Ready, status: "True", reason: Ok}]`
	for _, c := range []struct {
		name, status string
		want         health.Status
		says         string // what the message has to name
	}{
		// Words, flags, errors and conditions of parts.
		{"Karmada: one cluster is unhealthy", `aggregatedStatus: [{clusterName: a, health: Healthy}, {clusterName: eu-1, health: Unhealthy}]`, health.Degraded, `status.aggregatedStatus[1] "eu-1": health Unhealthy`},
		{"a cluster failed, and says why", `clusters: [{name: a, phase: Ready}, {name: b, phase: Ready}, {name: eu-1, phase: Failed, message: no quorum}]`, health.Degraded, `status.clusters[2] "eu-1": phase Failed: no quorum`},
		{"a cluster is on its way", `clusters: [{name: a, phase: Ready}, {name: b, phase: Provisioning}]`, health.Progressing, `status.clusters[1] "b"`},
		{"a cluster is not known", `clusters: [{name: a, health: Unknown}]`, health.Healthy, ""},
		{"a target is paused", `targets: [{name: a, state: Paused}]`, health.Healthy, ""},
		{"etcd: a member is not healthy", `members: [{name: a, isHealthy: true}, {name: b, isHealthy: false}]`, health.Degraded, `status.members[1] "b"`},
		{"Knative: a subscriber is not ready", `subscribers: [{uid: x, ready: "False"}]`, health.Progressing, `status.subscribers[0] "x"`},
		{"Sveltos: a feature has a failure", `featureSummaries: [{featureID: Helm, status: Provisioned, failureMessage: cannot pull}]`, health.Degraded, "failureMessage: cannot pull"},
		{"Longhorn: conditions of a disk", `diskStatus: {disk-1: {conditions: [{type: Ready, status: "False", reason: DiskFilesystemChanged, message: failed to read its config}]}}`, health.Degraded, "status.diskStatus.disk-1: failed to read"},
		{"Longhorn: another disk than the one of the record", `diskStatus: {disk-1: {conditions: [{type: Ready, status: "False", reason: DiskFilesystemChanged, message: "Disk disk-1(/data) on node n1 is not ready: record diskUUID doesn't match the one on the disk"}]}}`, health.Degraded, "status.diskStatus.disk-1: Disk disk-1"},
		{"a list within a list", `environments: [{branch: prod, active: {commitStatuses: [{key: check, phase: failure}]}}]`, health.Degraded, `status.environments[0].active.commitStatuses[0] "check": phase failure`},
		{"Gateway API: one of two parents", `parents: [{conditions: [{type: Accepted, status: "True"}]}, {parentRef: {name: gw}, conditions: [{type: Accepted, status: "True"}, {type: Programmed, status: "True"}, {type: ResolvedRefs, status: "False", reason: BackendNotFound, message: no service}]}]`, health.Degraded, `status.parents[1] "gw"`},
		{"External Secrets: namespaces that failed", `failedNamespaces: [{namespace: shop, reason: forbidden}]`, health.Degraded, ""},
		{"CloudNativePG: instances that failed", `instancesStatus: {healthy: [a-1], failed: [a-2]}`, health.Degraded, "failed: a-2"},
		// What is no part of the object as it is.
		{"Flux: history", `history: [{status: deployed}, {status: failed}]`, health.Healthy, ""},
		{"Velero: recent maintenance", `recentMaintenance: [{result: Failed}]`, health.Healthy, ""},
		{"KubeVirt: transitions", `phaseTransitionTimestamps: [{phase: Pending}, {phase: Failed}]`, health.Healthy, ""},
		{"TiDB: tombstones", `tikv: {tombstoneStores: {"4": {state: Down}}}`, health.Healthy, ""},
		{"Kueue: evictions", `schedulingStats: {evictions: [{reason: Failed, state: Failed}]}`, health.Healthy, ""},
		{"Elastic: a revision to come", `pendingServiceStatus: {applicationStatuses: {app: {status: DEPLOY_FAILED}}}`, health.Healthy, ""},
		{"an optional part", `components: [{name: a, state: Failed, optional: true}]`, health.Healthy, ""},
		{"a part that is switched off", `components: [{name: a, state: Failed, enabled: false}, {name: b, state: Failed, disabled: true}]`, health.Healthy, ""},
		{"a part that is not required", `checks: [{name: a, state: Failed, required: false}]`, health.Healthy, ""},
		{"the last error of a part", `members: [{name: a, state: Running, lastError: timeout}]`, health.Healthy, ""},
		{"a failure domain is no failure", `failureDomains: [{name: a, controlPlane: true}]`, health.Healthy, ""},
		{"no errors", `errors: [], failedNamespaces: []`, health.Healthy, ""},
		{"OLM: what other catalogs say", `catalogHealth: [{healthy: false}]`, health.Healthy, ""},
		{"not every part is configured", `nodes: [{name: a, configured: false, enabledTLS: false}]`, health.Healthy, ""},
		{"conditions by another name", `nodeConditions: [{type: MemoryPressure, status: "False"}]`, health.Healthy, ""},
		{"typed facts that are False", `checks: [{type: DiskFull, status: "False"}]`, health.Healthy, ""},
		// Counts.
		{"cozystack: a broken member", `brokenMembers: 1`, health.Degraded, "brokenMembers is 1"},
		{"no broken member", `brokenMembers: 0, failedReplicas: 0, unavailableReplicas: 0`, health.Healthy, ""},
		{"OpenShift: a machine is not available", `machineCount: 3, unavailableMachineCount: 1`, health.Progressing, "unavailableMachineCount is 1"},
		{"Vitess: shards are short", `keyspaces: {main: {desiredShards: 2, readyShards: 1}}`, health.Progressing, "readyShards: 1 of 2"},
		{"Fleet: a summary", `summary: {desiredReady: 2, ready: 1, errApplied: 1}`, health.Degraded, "status.summary.errApplied is 1"},
		{"Karmada: nodes that are not ready", `nodeSummary: {totalNum: 3, readyNum: 2}`, health.Progressing, "readyNum: 2 of 3"},
		{"MetalLB: free addresses", `assignedIPv4: 3, availableIPv4: 100, total: 256, available: 100`, health.Healthy, ""},
		{"runs that failed before", `failedAttempts: 3, failedJobs: 2, failureCount: 7, restarts: 4, failedIssuanceAttempts: 1, totalFailedCount: 2`, health.Healthy, ""},
		{"counts that merely differ", `attachedRoutes: 3, listeners: 2, currentRevision: 7, latestRevision: 9, replicas: 3, totalShards: 8`, health.Healthy, ""},
		{"failed without a total", `failed: 2`, health.Healthy, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Gadget", "{status: {"+ready+", "+c.status+"}}").object())
			if h.Status != c.want || !strings.Contains(h.Message, c.says) {
				t.Errorf("%s by %s (%s: %s), want %s and %q", h.Status, h.Stage, h.Reason, h.Message, c.want, c.says)
			}
		})
	}
}

// What conditions say beside Ready, while an object is young, and of older generations.
func TestBesideReady(t *testing.T) {
	const young, old = `metadata: {creationTimestamp: "2026-05-04T11:57:00Z"}`, `metadata: {creationTimestamp: "2026-05-04T09:00:00Z"}`
	for _, c := range []struct {
		name, fields string
		want         health.Status
	}{
		{"ready, and an upgrade failed", `{status: {conditions: [{type: Ready, status: "True"}, {type: ProgressiveUpgradeSucceeded, status: "False", reason: Failed}]}}`, health.Degraded},
		{"ready, and stalled", `{status: {conditions: [{type: Ready, status: "True"}, {type: Stalled, status: "True", reason: X}]}}`, health.Degraded},
		{"ready, and something failed by its name", `{status: {conditions: [{type: Ready, status: "True"}, {type: ConfigReloadFailed, status: "True"}]}}`, health.Degraded},
		{"ready, and nothing failed", `{status: {conditions: [{type: Ready, status: "True"}, {type: ConfigReloadFailed, status: "False"}]}}`, health.Healthy},
		{"ready, and a part is switched off", `{status: {conditions: [{type: Ready, status: "True"}, {type: MetricsReady, status: "False", reason: MetricsDisabled}]}}`, health.Healthy},
		{"ready, and a part is not asked for", `{status: {conditions: [{type: Ready, status: "True"}, {type: BackupReady, status: "False", reason: NotConfigured}, {type: ProxyReady, status: "False", reason: NotRequired}]}}`, health.Healthy},
		{"ready, and a part is not", `{status: {conditions: [{type: Ready, status: "True"}, {type: DatabaseReady, status: "False"}]}}`, health.Progressing},
		{"programmed, and its references are not resolved", `{status: {conditions: [{type: Programmed, status: "True"}, {type: ResolvedRefs, status: "False", reason: InvalidCertificateRef}]}}`, health.Degraded},
		{"Camel: another strategy is used", `{status: {conditions: [{type: Ready, status: "True"}, {type: CronJobAvailable, status: "False", reason: CronJobNotAvailableReason, message: different controller strategy used (deployment)}]}}`, health.Healthy},
		{"trouble of an older generation", `{metadata: {generation: 4}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 4}, {type: ConfigReloadFailed, status: "True", observedGeneration: 2}]}}`, health.Healthy},
		{"ready in an older generation than the rest", `{metadata: {generation: 4}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 3}, {type: Accepted, status: "True", observedGeneration: 4}]}}`, health.Progressing},
		{"of a type the newest generation counts", `{metadata: {generation: 4}, status: {conditions: [{type: Ready, status: "False", reason: Failed, observedGeneration: 3, lastTransitionTime: "2026-05-04T11:00:00Z"}, {type: Ready, status: "True", observedGeneration: 4, lastTransitionTime: "2026-05-04T10:00:00Z"}]}}`, health.Healthy},
		{"young, and not available", `{` + young + `, status: {conditions: [{type: Available, status: "False", reason: MinimumReplicasUnavailable}]}}`, health.Progressing},
		{"old, and not available", `{` + old + `, status: {conditions: [{type: Available, status: "False", reason: MinimumReplicasUnavailable}]}}`, health.Degraded},
		{"young, and not ready for want of a thing", `{` + young + `, status: {conditions: [{type: Ready, status: "False", reason: SecretNotFound}]}}`, health.Progressing},
		{"young, and failed", `{` + young + `, status: {conditions: [{type: Ready, status: "False", reason: CreateFailed}]}}`, health.Degraded},
		{"creating, however old", `{` + old + `, status: {conditions: [{type: Ready, status: "False", reason: Creating}]}}`, health.Progressing},
		{"kro: waits for readiness", `{status: {state: IN_PROGRESS, conditions: [{type: Ready, status: "False", reason: ResourcesNotReady, message: "waiting for readiness: deployment"}]}}`, health.Progressing},
		{"an error under a reason that goes on", `{status: {conditions: [{type: Ready, status: "False", reason: Reconciling, message: "quota exceeded"}]}}`, health.Degraded},
		{"the same, not known", `{status: {conditions: [{type: Ready, status: Unknown, reason: Reconciling, message: "failed to create: denied"}]}}`, health.Degraded},
		{"a True in-progress condition stays that", `{status: {conditions: [{type: Reconciling, status: "True", reason: Progressing, message: "retrying after error"}]}}`, health.Progressing},
		{"waits for what failed", `{status: {conditions: [{type: Ready, status: "False", reason: Waiting, message: "waiting for a Revision, which failed before"}]}}`, health.Progressing},
		{"pending, and it says why not", `{status: {phase: Pending, message: "admission denied: image is not allowed"}}`, health.Degraded},
		{"pending, by a reason of trouble", `{status: {phase: Provisioning, reason: QuotaExceeded}}`, health.Degraded},
		{"pending, tried again and again", `{status: {phase: Pending, retryCount: 12}}`, health.Degraded},
		{"pending, tried once", `{status: {phase: Pending, retryCount: 1}}`, health.Progressing},
		{"pending, no errors", `{status: {phase: Pending, message: "0 failed, no errors so far"}}`, health.Progressing},
		{"waits for approval", `{status: {conditions: [{type: Ready, status: "False", reason: WaitingForApproval}]}}`, health.Suspended},
		{"a plan to approve", `{status: {conditions: [{type: Ready, status: Unknown, reason: PlannedWithChanges, message: "set approvePlan to approve this plan"}]}}`, health.Suspended},
		{"approved by hand", `{status: {phase: Ready, message: "was approved manually"}}`, health.Healthy},
		{"failed, and paused for it", `{status: {phase: FailedAndPause}}`, health.Degraded},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Gadget", c.fields).object())
			if h.Status != c.want {
				t.Errorf("%s by %s (%s: %s), want %s", h.Status, h.Stage, h.Reason, h.Message, c.want)
			}
		})
	}
}
