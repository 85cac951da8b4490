package health_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

var snapshotTime = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// custom makes a custom resource of the fields that are written in YAML, an hour old
// where they say nothing else.
func custom(t testing.TB, kind, fields string) known {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(fields))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion": "example.org/v1", "kind": "` + kind + `",` + string(json[1:]))); err != nil {
		t.Fatal(err)
	}
	u.SetName("it")
	if created := u.GetCreationTimestamp(); created.IsZero() {
		u.SetCreationTimestamp(metav1.NewTime(snapshotTime.Add(-time.Hour)))
	}
	return known{name: kind, body: u}
}

// The shapes are those of real operators' statuses, each named; the words are theirs.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name, kind, fields string
		want               health.Status
	}{
		{"crossplane: ready and synced", "Bucket", `{status: {conditions: [{type: Synced, status: "True", reason: ReconcileSuccess}, {type: Ready, status: "True", reason: Available}]}}`, health.Healthy},
		{"crossplane: not synced, though ready", "Bucket", `{status: {conditions: [{type: Synced, status: "False", reason: ReconcileError}, {type: Ready, status: "True", reason: Available}]}}`, health.Degraded},
		{"crossplane: creating", "Bucket", `{status: {conditions: [{type: Synced, status: "True", reason: ReconcileSuccess}, {type: Ready, status: "False", reason: Creating}]}}`, health.Progressing},
		{"crossplane: paused", "Bucket", `{metadata: {annotations: {crossplane.io/paused: "true"}}, status: {conditions: [{type: Synced, status: "False", reason: ReconcilePaused}, {type: Ready, status: "True", reason: Available}]}}`, health.Suspended},
		{"ACK: synced", "DBInstance", `{status: {conditions: [{type: ACK.ResourceSynced, status: "True"}]}}`, health.Healthy},
		{"ACK: terminal", "DBInstance", `{status: {conditions: [{type: ACK.Terminal, status: "True", message: InvalidParameterValue}, {type: ACK.ResourceSynced, status: "True"}]}}`, health.Degraded},
		{"ACK: not synced yet", "DBInstance", `{status: {conditions: [{type: ACK.ResourceSynced, status: "False"}]}}`, health.Progressing},
		{"Config Connector: up to date", "SQLInstance", `{status: {conditions: [{type: Ready, status: "True", reason: UpToDate, message: The resource is up to date}]}}`, health.Healthy},
		{"Config Connector: updating", "SQLInstance", `{status: {conditions: [{type: Ready, status: "False", reason: Updating, message: Update in progress}]}}`, health.Progressing},
		{"Config Connector: failed", "SQLInstance", `{status: {conditions: [{type: Ready, status: "False", reason: UpdateFailed, message: "Update call failed"}]}}`, health.Degraded},
		{"Config Connector: waits for another", "SQLInstance", `{status: {conditions: [{type: Ready, status: "False", reason: DependencyNotReady, message: "reference Network x is not ready"}]}}`, health.Progressing},
		{"Azure: severity tells", "Database", `{status: {conditions: [{type: Ready, status: "False", severity: Error, reason: Whatever}]}}`, health.Degraded},
		{"Azure: reconciling", "Database", `{status: {conditions: [{type: Ready, status: "False", severity: Info, reason: Reconciling}]}}`, health.Progressing},
		{"Strimzi: ready with a warning", "Kafka", `{status: {conditions: [{type: Warning, status: "True", reason: DeprecatedFields}, {type: Ready, status: "True"}]}}`, health.Healthy},
		{"Strimzi: creating", "Kafka", `{status: {conditions: [{type: NotReady, status: "True", reason: Creating, message: Kafka cluster is being deployed}]}}`, health.Progressing},
		{"Strimzi: invalid", "Kafka", `{status: {conditions: [{type: NotReady, status: "True", reason: InvalidResourceException, message: bad}]}}`, health.Degraded},
		{"Strimzi: paused", "Kafka", `{metadata: {annotations: {strimzi.io/pause-reconciliation: "true"}}, status: {conditions: [{type: ReconciliationPaused, status: "True"}]}}`, health.Suspended},
		{"RabbitMQ: well", "RabbitmqCluster", `{status: {conditions: [{type: AllReplicasReady, status: "True"}, {type: ClusterAvailable, status: "True"}, {type: NoWarnings, status: "True"}, {type: ReconcileSuccess, status: "True", reason: Success}]}}`, health.Healthy},
		{"RabbitMQ: a replica short", "RabbitmqCluster", `{status: {conditions: [{type: AllReplicasReady, status: "False", reason: NotAllPodsReady, message: 2/3 Pods ready}, {type: ClusterAvailable, status: "True"}, {type: NoWarnings, status: "True"}, {type: ReconcileSuccess, status: "True"}]}}`, health.Progressing},
		{"RabbitMQ: failed", "RabbitmqCluster", `{status: {conditions: [{type: AllReplicasReady, status: "True"}, {type: ReconcileSuccess, status: "False", reason: Error, message: boom}]}}`, health.Degraded},
		{"KEDA: ready and idle", "ScaledObject", `{status: {conditions: [{type: Ready, status: "True", reason: ScaledObjectReady}, {type: Active, status: "False", reason: ScalerNotActive, message: Scaling is not performed because triggers are not active}, {type: Fallback, status: "False", reason: NoFallbackFound}, {type: Paused, status: "Unknown"}]}}`, health.Healthy},
		{"KEDA: triggers fail", "ScaledObject", `{status: {conditions: [{type: Ready, status: "False", reason: ScaledObjectCheckFailed, message: Failed to ensure HPA}, {type: Active, status: Unknown}]}}`, health.Degraded},
		{"KubeVirt: image is being imported", "DataVolume", `{status: {phase: ImportInProgress}}`, health.Progressing},
		{"KubeVirt: scheduled to import", "DataVolume", `{status: {phase: ImportScheduled}}`, health.Progressing},
		{"KubeVirt: waits for its consumer", "DataVolume", `{status: {phase: WaitForFirstConsumer}}`, health.Progressing},
		{"KubeVirt: imported", "DataVolume", `{status: {phase: Succeeded}}`, health.Healthy},
		{"KubeVirt: stopped", "VirtualMachine", `{spec: {running: false}, status: {printableStatus: Stopped, ready: false}}`, health.Suspended},
		{"KubeVirt: cannot be scheduled", "VirtualMachine", `{status: {printableStatus: ErrorUnschedulable, ready: false}}`, health.Degraded},
		{"KubeVirt: being scheduled", "VirtualMachineInstance", `{status: {phase: Scheduling}}`, health.Progressing},
		{"Spark: running", "SparkApplication", `{status: {applicationState: {state: RUNNING}}}`, health.Healthy},
		{"Spark: submission failed", "SparkApplication", `{status: {applicationState: {state: SUBMISSION_FAILED, errorMessage: no}}}`, health.Degraded},
		{"Spark: to be run again", "SparkApplication", `{status: {applicationState: {state: PENDING_RERUN}}}`, health.Progressing},
		{"OLM: ready to install", "ClusterServiceVersion", `{status: {phase: InstallReady, conditions: [{phase: Pending}, {phase: InstallReady}]}}`, health.Progressing},
		{"OLM: installed", "ClusterServiceVersion", `{status: {phase: Succeeded}}`, health.Healthy},
		{"policy: not compliant", "Policy", `{status: {compliant: NonCompliant}}`, health.Degraded},
		{"policy: compliant", "Policy", `{status: {compliant: Compliant}}`, health.Healthy},
		{"managed certificate: failed", "ManagedCertificate", `{status: {certificateStatus: FailedNotVisible}}`, health.Degraded},
		{"managed certificate: provisioning", "ManagedCertificate", `{status: {certificateStatus: Provisioning}}`, health.Progressing},
		{"CloudNativePG: well", "Cluster", `{spec: {instances: 3}, status: {phase: Cluster in healthy state, readyInstances: 3, conditions: [{type: Ready, status: "True", reason: ClusterIsReady}, {type: ContinuousArchiving, status: "True", reason: ContinuousArchivingSuccess}]}}`, health.Healthy},
		{"CloudNativePG: waits", "Cluster", `{spec: {instances: 3}, status: {phase: Waiting for the instances to become active, readyInstances: 2, conditions: [{type: Ready, status: "False", reason: ClusterIsNotReady, message: Cluster Is Not Ready}]}}`, health.Progressing},
		{"CloudNativePG: sets up", "Cluster", `{status: {phase: Setting up primary}}`, health.Progressing},
		{"CloudNativePG: cannot", "Cluster", `{status: {phase: Unable to create required cluster objects}}`, health.Degraded},
		{"Percona: a log of conditions", "PerconaXtraDBCluster", `{status: {state: ready, conditions: [{type: initializing, status: "True", lastTransitionTime: "2026-05-04T10:00:00Z"}, {type: ready, status: "True", lastTransitionTime: "2026-05-04T10:05:00Z"}, {type: error, status: "True", lastTransitionTime: "2026-05-04T10:10:00Z"}, {type: ready, status: "True", lastTransitionTime: "2026-05-04T10:15:00Z"}]}}`, health.Healthy},
		{"MinIO: waits", "Tenant", `{status: {currentState: Waiting for Pods to be ready, healthStatus: green}}`, health.Progressing},
		{"MinIO: initialized", "Tenant", `{status: {currentState: Initialized, healthStatus: green}}`, health.Healthy},
		{"Ceph: warns", "CephCluster", `{status: {phase: Ready, ceph: {health: HEALTH_WARN}}}`, health.Degraded},
		{"Ceph: well", "CephCluster", `{status: {phase: Ready, ceph: {health: HEALTH_OK}}}`, health.Healthy},
		{"Gateway: listener refers to what is not there", "Gateway", `{status: {conditions: [{type: Accepted, status: "True", reason: Accepted}, {type: Programmed, status: "True", reason: Programmed}], listeners: [{name: web, conditions: [{type: ResolvedRefs, status: "False", reason: InvalidCertificateRef}]}]}}`, health.Degraded},
		{"Gateway: pending", "Gateway", `{status: {conditions: [{type: Accepted, status: "Unknown", reason: Pending, message: Waiting for controller}, {type: Programmed, status: "Unknown", reason: Pending}]}}`, health.Progressing},
		{"HTTPRoute: of two parents one refuses", "HTTPRoute", `{status: {parents: [{conditions: [{type: Accepted, status: "True"}]}, {conditions: [{type: Accepted, status: "False", reason: NotAllowedByListeners}]}]}}`, health.Degraded},
		{"Cluster API: provisioned", "Cluster", `{status: {phase: Provisioned, conditions: [{type: Ready, status: "True"}, {type: ControlPlaneReady, status: "True"}, {type: InfrastructureReady, status: "True"}]}}`, health.Healthy},
		{"Cluster API: scales up", "MachineDeployment", `{status: {phase: ScalingUp}}`, health.Progressing},
		{"Cluster API: failed", "Machine", `{status: {phase: Failed, failureReason: CreateError, failureMessage: no such image}}`, health.Degraded},
		{"Knative: a revision fails", "Service", `{status: {conditions: [{type: ConfigurationsReady, status: "False", reason: RevisionFailed}, {type: Ready, status: "False", reason: RevisionFailed}, {type: RoutesReady, status: Unknown}]}}`, health.Degraded},
		{"Tekton: runs", "PipelineRun", `{status: {conditions: [{type: Succeeded, status: Unknown, reason: Running, message: "Tasks Completed: 1 (Failed: 0)"}]}}`, health.Progressing},
		{"Tekton: was cancelled", "PipelineRun", `{status: {conditions: [{type: Succeeded, status: "False", reason: Cancelled}]}}`, health.Degraded},
		{"OpenShift: operator is well", "ClusterOperator", `{status: {conditions: [{type: Available, status: "True", reason: AsExpected}, {type: Degraded, status: "False"}, {type: Progressing, status: "False"}, {type: Upgradeable, status: "False"}]}}`, health.Healthy},
		{"OpenShift: available, and degraded", "ClusterOperator", `{status: {conditions: [{type: Available, status: "True"}, {type: Degraded, status: "True", reason: SyncError}, {type: Progressing, status: "False"}]}}`, health.Degraded},
		{"kstatus: nothing goes on, nothing stalled", "RootSync", `{status: {conditions: [{type: Reconciling, status: "False"}, {type: Stalled, status: "False"}]}}`, health.Healthy},
		{"kstatus: stalled", "RootSync", `{status: {conditions: [{type: Reconciling, status: "False"}, {type: Stalled, status: "True", reason: X}]}}`, health.Degraded},
		{"Flux: fails, and tries again", "Kustomization", `{status: {conditions: [{type: Reconciling, status: "True", reason: ProgressingWithRetry}, {type: Ready, status: "False", reason: BuildFailed}]}}`, health.Degraded},
		{"Ray: waits for its deployment", "RayService", `{status: {serviceStatus: WaitForServeDeploymentReady}}`, health.Progressing},
		{"Flink: stable, and its job fails", "FlinkDeployment", `{status: {lifecycleState: STABLE, jobStatus: {state: FAILED}}}`, health.Degraded},
		{"Flink: suspended", "FlinkDeployment", `{spec: {job: {state: suspended}}, status: {lifecycleState: SUSPENDED, jobStatus: {state: FINISHED}}}`, health.Suspended},
		{"Strimzi: a task of a connector failed", "KafkaConnector", `{status: {conditions: [{type: Ready, status: "True"}], connectorStatus: {connector: {state: RUNNING}, tasks: [{id: 0, state: RUNNING}, {id: 1, state: FAILED, trace: x}]}}}`, health.Degraded},
		{"Strimzi: a proposal waits for leave", "KafkaRebalance", `{status: {conditions: [{type: ProposalReady, status: "True"}]}}`, health.Progressing},
		{"a message that complains, and nothing else", "Thing", `{status: {message: "cannot reach the server"}}`, health.Degraded},
		{"a message that does not", "Thing", `{status: {message: "all is well"}}`, health.Unknown},
		{"an error among the fields", "Thing", `{status: {phase: Ready, error: {message: boom}}}`, health.Degraded},
		{"an old error, and a good phase", "Thing", `{status: {phase: Ready, lastError: boom}}`, health.Healthy},
		{"Percona: a backup that is ready", "PerconaServerMongoDBBackup", `{status: {state: ready}}`, health.Healthy},
		{"a workflow of which a step failed and was done again", "Workflow", `{status: {phase: Succeeded, nodes: {a: {phase: Failed}, b: {phase: Succeeded}}}}`, health.Healthy},
		{"says in a boolean that it is not healthy", "Thing", `{status: {healthy: false}}`, health.Degraded},
		{"says in a boolean that it is not active", "Thing", `{status: {phase: Ready, active: false}}`, health.Healthy},
		{"Velero: some of it failed", "Backup", `{status: {phase: PartiallyFailed}}`, health.Degraded},
		{"Velero: runs", "Restore", `{status: {phase: InProgress}}`, health.Progressing},
		{"Velero: paused", "Schedule", `{spec: {paused: true, schedule: 0 1 * * *}, status: {phase: Enabled}}`, health.Suspended},
		{"Karpenter: drifted, and ready", "NodeClaim", `{status: {conditions: [{type: Launched, status: "True"}, {type: Registered, status: "True"}, {type: Initialized, status: "True"}, {type: Drifted, status: "True"}, {type: Ready, status: "True"}]}}`, health.Healthy},
		{"Karpenter: launched", "NodeClaim", `{status: {conditions: [{type: Launched, status: "True"}, {type: Registered, status: Unknown, reason: NodeNotFound, message: Node not registered with cluster}, {type: Initialized, status: Unknown}, {type: Ready, status: Unknown}]}}`, health.Progressing},
		{"kubeflow: a job that runs", "PyTorchJob", `{status: {conditions: [{type: Created, status: "True"}, {type: Running, status: "True", reason: PyTorchJobRunning}]}}`, health.Progressing},
		{"kubeflow: a job that is done", "PyTorchJob", `{status: {conditions: [{type: Created, status: "True"}, {type: Running, status: "False"}, {type: Succeeded, status: "True"}]}}`, health.Healthy},
		{"Istio: words of nobody", "Telemetry", `{status: {conditions: [{type: Frobnicated, status: "True"}]}}`, health.Unknown},
		{"only a step", "Thing", `{status: {conditions: [{type: Initialized, status: "True"}]}}`, health.Unknown},
		{"a map of conditions", "Thing", `{status: {conditions: {Ready: {status: true}, Synced: "True"}}}`, health.Healthy},
		{"errors in numbers", "Thing", `{status: {conditions: [{type: Ready, status: "False", message: "0 pods failed, waiting for 2 more"}]}}`, health.Progressing},
		{"no errors", "Thing", `{status: {conditions: [{type: NoErrors, status: "True"}, {type: Ready, status: "True"}]}}`, health.Healthy},
		{"a status that is one word", "Thing", `{status: Running}`, health.Healthy},
		{"yaml's spelling", "Thing", `{status: {ready: "false"}}`, health.Progressing},
		{"replicas short, whatever it says", "Thing", `{spec: {replicas: 3}, status: {phase: Running, readyReplicas: 2}}`, health.Progressing},
		{"replicas alone", "Thing", `{spec: {replicas: 3}, status: {readyReplicas: 3}}`, health.Healthy},
		{"nothing wanted", "Thing", `{spec: {replicas: 0}, status: {readyReplicas: 0}}`, health.Unknown},
		{"a numbered state", "Thing", `{status: {state: 1}}`, health.Unknown},
		{"an old object without status", "Thing", `{spec: {}}`, health.Unknown},
		{"a young object without status", "Thing", `{metadata: {creationTimestamp: "2026-05-04T11:58:00Z"}}`, health.Progressing},
		{"of an older generation", "Thing", `{metadata: {generation: 4}, status: {observedGeneration: "3", phase: Ready}}`, health.Progressing},
		{"a generation that is no number", "Thing", `{metadata: {generation: 4}, status: {observedGeneration: 5b9f9dd, phase: Ready}}`, health.Healthy},
		{"its conditions are of an older generation", "Thing", `{metadata: {generation: 4}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 3}]}}`, health.Progressing},
		{"one of its conditions is older", "Thing", `{metadata: {generation: 4}, status: {conditions: [{type: Ready, status: "True", observedGeneration: 4}, {type: Released, status: "True", observedGeneration: 1}]}}`, health.Healthy},
		{"its status is of this generation, and its conditions are not", "Thing", `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [{type: Ready, status: "True", observedGeneration: 3}]}}`, health.Healthy},
		{"of two ancestors one has not looked", "Policy", `{metadata: {generation: 4}, status: {ancestors: [{conditions: [{type: Accepted, status: "True", observedGeneration: 4}]}, {conditions: [{type: Accepted, status: "True", observedGeneration: 3}]}]}}`, health.Progressing},
		{"what it refers to has changed", "Rollout", `{metadata: {generation: 4, annotations: {x.io/workload-generation: "2"}}, status: {observedGeneration: 4, workloadObservedGeneration: "1", phase: Healthy}}`, health.Progressing},
		{"paused while it is behind", "Thing", `{metadata: {generation: 4}, spec: {paused: true}, status: {observedGeneration: 3, phase: Ready}}`, health.Suspended},
		{"paused in trouble", "Thing", `{spec: {paused: true}, status: {phase: Failed}}`, health.Degraded},
		{"told not to pause", "Thing", `{metadata: {annotations: {x.io/paused: "false"}}, spec: {suspend: false}, status: {phase: Ready}}`, health.Healthy},
		{"unmanaged", "Thing", `{spec: {managementState: Unmanaged}, status: {phase: Ready}}`, health.Suspended},
		{"a part that is not on does not stop the whole", "Thing", `{spec: {monitoring: {enabled: false}, backup: {suspend: true}}, status: {phase: Ready}}`, health.Healthy},
		{"the last operation says nothing of health", "Thing", `{status: {lastOperation: {state: Succeeded}}}`, health.Unknown},
		{"a word that nobody knows, and counts", "Thing", `{spec: {replicas: 3}, status: {phase: Frobbing2, readyReplicas: 3}}`, health.Unknown},
		{"a word that nobody knows, and a good one below", "Thing", `{status: {phase: Frob, sub: {state: Ready}}}`, health.Unknown},
		{"a part is switched off", "Thing", `{status: {phase: Ready, metrics: {state: disabled}}}`, health.Healthy},
		{"a part is not ready", "Thing", `{status: {phase: Provisioned, infrastructureReady: false}}`, health.Progressing},
		{"what it is about is missing", "Application", `{status: {sync: {status: OutOfSync}, health: {status: Missing}}}`, health.Missing},
		{"not ready for an hour, and nobody says why", "Thing", `{status: {conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-05-04T11:00:00Z"}]}}`, health.Degraded},
		{"not ready for a minute", "Thing", `{status: {conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-05-04T11:59:00Z"}]}}`, health.Progressing},
		{"a condition that nobody knows complains", "Thing", `{status: {phase: Ready, conditions: [{type: Frobbed, status: "False", message: cannot reach the server}]}}`, health.Degraded},
		{"parts are well, and one nobody knows is not so", "Thing", `{status: {conditions: [{type: ConfigValid, status: "True"}, {type: Frobbed, status: "False"}]}}`, health.Unknown},
		{"the last operation went wrong", "Thing", `{status: {lastUpdate: {state: failed, message: boom}}}`, health.Degraded},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, c.kind, c.fields).object())
			if h.Status != c.want {
				t.Errorf("%s by %s (%s: %s), want %s", h.Status, h.Stage, h.Reason, h.Message, c.want)
			}
			if h.Reason == "" || h.Message == "" {
				t.Errorf("no reason or no message: %+v", h)
			}
		})
	}
}
