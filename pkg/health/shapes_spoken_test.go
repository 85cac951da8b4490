package health_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// Ways of saying it that are easily taken for something else.
func TestSpokenShapes(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		want         health.Status
	}{
		{"an error of what is tried", `{status: {phase: Active, reconcileError: cannot reach the database}}`, health.Degraded},
		{"an error beside a flag", `{status: {synced: false, syncErrorMessage: permission denied}}`, health.Degraded},
		{"no error", `{status: {phase: Active, reconcileError: ""}}`, health.Healthy},
		{"a flag whose message tells of trouble", `{status: {isReady: false, message: failed to start}}`, health.Degraded},
		{"a flag whose message tells of nothing", `{status: {isReady: false, message: hello}}`, health.Progressing},
		{"in sync", `{status: {phase: InSync}}`, health.Healthy},
		{"out of sync", `{status: {phase: OutOfSync}}`, health.Progressing},
		{"out of memory", `{status: {state: OutOfMemory}}`, health.Degraded},
		{"full", `{status: {dbInstanceStatus: storage-full, conditions: [{type: ACK.ResourceSynced, status: "True"}]}}`, health.Degraded},
		{"without a head", `{status: {state: NoPrimary}}`, health.Degraded},
		{"split brain", `{status: {state: SplitBrain}}`, health.Degraded},
		{"almost is not", `{status: {phase: Almost Ready}}`, health.Progressing},
		{"not quite", `{status: {phase: SemiReady}}`, health.Progressing},
		{"a message of an error", `{status: {state: Running, message: "ERROR: replication lags"}}`, health.Degraded},
		{"a message of what is well", `{status: {state: Running, message: "error count is 0"}}`, health.Healthy},
		{"an image that does not come", `{status: {phase: Pending, message: Back-off pulling image x}}`, health.Degraded},
		{"a part in trouble", `{status: {phase: Ready, resourceStatuses: [{name: a, state: ERROR}]}}`, health.Degraded},
		{"nothing to recover from", `{status: {conditions: [{type: AllInjected, status: "True"}, {type: AllRecovered, status: "False", lastTransitionTime: "2026-05-01T12:00:00Z"}]}}`, health.Progressing},
		{"somebody has to give leave", `{status: {phase: RequiresApproval}}`, health.Suspended},
		{"leave was given", `{status: {phase: Approved}}`, health.Progressing},
		{"what could be done", `{status: {conditions: [{type: Ready, status: "True"}, {type: LiveMigratable, status: "False", reason: DisksNotLiveMigratable, message: cannot migrate}]}}`, health.Healthy},
		{"what can be reached", `{status: {conditions: [{type: Ready, status: "True"}, {type: DatabaseReachable, status: "False", reason: ConnectionRefused}]}}`, health.Degraded},
		{"a warning", `{status: {conditions: [{type: AllReplicasReady, status: "True"}, {type: NoWarnings, status: "False", reason: LimitsDiffer, message: must be equal}]}}`, health.Healthy},
		{"a fallback", `{status: {conditions: [{type: Ready, status: "True"}, {type: Fallback, status: "True", reason: FallbackExists}]}}`, health.Degraded},
		{"no fallback", `{status: {conditions: [{type: Ready, status: "True"}, {type: Fallback, status: "False", reason: NoFallbackFound}]}}`, health.Healthy},
		{"who tells has stopped", `{status: {conditions: [{type: AgentAvailable, status: Unknown, reason: LeaseUpdateStopped, message: agent stopped updating its lease}]}}`, health.Degraded},
		{"an operation that failed beside one that goes on", `{status: {conditions: [{type: Ready, status: "False", reason: Creating}, {type: LastAsyncOperation, status: "False", reason: AsyncCreateFailure}]}}`, health.Degraded},
		{"trouble under way", `{status: {conditions: [{type: Ready, status: "False", reason: VerifyingFirstRun, message: "dial tcp: connection refused"}]}}`, health.Degraded},
		{"errors of a member", `{status: {created: true, byPod: [{id: a, errors: [{code: ingest_error, message: x}]}]}}`, health.Degraded},
		{"what may be used", `{status: {state: ReadyToUse}}`, health.Healthy},
		{"an action that goes on", `{status: {state: Running, nodes: {"1": {actionState: UpscaleRunning}}}}`, health.Progressing},
		{"health by name", `{status: {serviceHealth: {a.example: Healthy, b.example: NotFound}}}`, health.Degraded},
		{"health by name, all well", `{status: {serviceHealth: {a.example: Healthy}}}`, health.Healthy},
		{"disabled for a reason that is trouble", `{status: {conditions: [{type: Disabled, status: "True", reason: TemplateNotFound}]}}`, health.Degraded},
		{"disabled on purpose", `{status: {conditions: [{type: Disabled, status: "True", reason: DisabledByUser}]}}`, health.Suspended},
		{"away while it sleeps", `{status: {conditions: [{type: Unreachable, status: "True", reason: HibernatingOrStopping}, {type: Hibernating, status: "True"}]}}`, health.Suspended},
		{"somebody no longer tells", `{status: {conditions: [{type: Ready, status: Unknown, reason: StatusUnknown, message: Kubelet stopped posting node status.}]}}`, health.Degraded},
		{"who tells of the whole has stopped", `{status: {conditions: [{type: Available, status: Unknown, reason: AgentLeaseUpdateStopped}]}}`, health.Degraded},
		{"stopped, and nobody knows more", `{status: {conditions: [{type: Available, status: Unknown, reason: Stopped}]}}`, health.Suspended},
		{"nobody approved it", `{status: {conditions: [{type: RequirementsMet, status: "False", reason: AgentNotApproved}]}}`, health.Suspended},
		{"failed over", `{status: {phase: FailedOver}}`, health.Healthy},
		{"a user has something to do", `{status: {conditions: [{type: PeerReady, status: "False", reason: NotStarted, message: Waiting for the user to clean up}]}}`, health.Suspended},
		{"a verdict beside completed", `{status: {engineStatus: completed, experiments: [{name: a, status: Completed, verdict: Fail}]}}`, health.Degraded},
		{"fewer are healthy than expected", `{status: {currentHealthy: 1, expectedMachines: 3}}`, health.Progressing},
		{"capacity is no lack", `{status: {phase: Ready, pool: {totalNumber: 9, availableNumber: 2}}}`, health.Healthy},
		{"not all up to date", `{spec: {replicas: 3}, status: {phase: Running, replicas: 3, readyReplicas: 3, upToDateReplicas: 1}}`, health.Progressing},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Gadget", c.fields).object())
			if h.Status != c.want {
				t.Errorf("%s by %s (%s: %s), want %s", h.Status, h.Stage, h.Reason, h.Message, c.want)
			}
		})
	}
}
