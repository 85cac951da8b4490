package signals

// kubernetesAPI is the repository of the built-in kinds, as it was read.
const kubernetesAPI = "kubernetes/api@10b39a39b:"

// BuiltIn are those of the kinds of Kubernetes itself, and that of whatever has the
// subresource scale.
func BuiltIn() []Signal {
	all := []Signal{
		{
			Kind: "Deployment.apps", Preset: PresetPause, Mode: PauseRollout,
			Patch: spec("paused", true), Resume: spec("paused", false),
			Effect: "changes of the template are not rolled out; pods keep running, and scaling works",
			Source: kubernetesAPI + "apps/v1/types.go:452",
		},
		toZero("Deployment.apps", false, "its pods are deleted", "an HPA that scales it rests at 0 replicas, and KEDA scales it up again"),
		toZero("ReplicaSet.apps", false, "its pods are deleted", "a Deployment that owns it resets the number"),
		toZero("ReplicationController", false, "its pods are deleted", ""),
		toZero("StatefulSet.apps", true, "its pods are deleted, the last one first; claims stay unless persistentVolumeClaimRetentionPolicy.whenScaled is Delete", "an operator that owns it resets the number"),
		{
			Kind: "CronJob.batch", Preset: PresetPause, Mode: SuspendRun,
			Patch: spec("suspend", true), Resume: spec("suspend", false),
			Effect: "no new Jobs are created; running ones continue",
			Caveat: "runs that are missed within startingDeadlineSeconds (always, where there is none) start when it recovers",
			Source: kubernetesAPI + "batch/v1/types.go:825",
		},
		{
			Kind: "CronJob.batch", Preset: PresetStop, Mode: SuspendRun,
			Patch: spec("suspend", true), Resume: spec("suspend", false),
			Effect: "no new Jobs are created; running ones continue",
			Caveat: "runs that are missed within startingDeadlineSeconds (always, where there is none) start when it recovers",
			Source: kubernetesAPI + "batch/v1/types.go:825",
		},
		{
			Kind: "Job.batch", Preset: PresetStop, Mode: SuspendRun,
			Patch: spec("suspend", true), Resume: spec("suspend", false),
			Effect: "its active pods are deleted; it starts again with new ones when it recovers",
			Caveat: "what a pod has done so far is lost, and startTime is reset",
			Source: kubernetesAPI + "batch/v1/types.go:453",
		},
	}
	scale := toZero("*", true, "its replicas are set to 0", "it is unknown what data the kind stores, and whether its operator resets the number")
	scale.Source = kubernetesAPI + "autoscaling/v1/types.go Scale; CustomResourceDefinition subresources.scale"
	all = append(all, scale)
	for i := range all {
		all[i].Origin = "built-in"
	}
	return all
}

// toZero stops what has the subresource scale.
func toZero(kind string, stateful bool, effect, caveat string) Signal {
	return Signal{
		Kind: kind, Preset: PresetStop, Mode: StopWorkload, Scale: true, Stateful: stateful,
		Patch: spec("replicas", int64(0)), Resume: spec("replicas", Before),
		Effect: effect, Caveat: caveat, Source: kubernetesAPI + "apps/v1/types.go (scale subresource), autoscaling/v1/types.go Scale",
	}
}

func spec(name string, value any) map[string]any {
	return map[string]any{"spec": map[string]any{name: value}}
}
