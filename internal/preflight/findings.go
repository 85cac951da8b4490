package preflight

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// open reports a scenario whose result is unknown.
func (f *evaluation) open(all, gone schedule.Result, guess bool) {
	switch {
	case gone.Verdict == fits:
		f.addUnknown(all, "OldPodsFirst", "the new pods fit once the old ones are gone, but maybe not beside them: the rollout may wait")
	case gone.Verdict == verdictUnknown:
		f.addAnswer(gone, "")
	case guess:
		f.addUnknown(gone, "LikeAnother", "not all pods fit if the custom resources run the assumed pods")
	default:
		f.addUnknown(gone, "TakesTurns", "not all pods fit at the same time: some would wait until those of Jobs have ended")
	}
}

// addUnknown adds one finding with the verdict unknown, with the proofs of an answer as reasons.
func (f *evaluation) addUnknown(a schedule.Result, reason, message string) {
	j := Finding{Topic: Scheduling, Verdict: verdictUnknown, Reason: reason, Message: message}
	for i, p := range a.Proofs {
		if i == 0 {
			j.Message += " (" + f.objectsOf(p.Pods) + p.Message + ")"
			j.Nodes = p.Nodes
		}
		if c := f.podSetOf(p.Pods); c != nil && j.Object.Name == "" {
			j.Object = c.item.Ref
			f.basis(&j, c)
		}
	}
	f.add(j)
}

// addAnswer adds the findings of an answer.
func (f *evaluation) addAnswer(a schedule.Result, because string) {
	switch a.Verdict {
	case impossible:
		for _, p := range a.Proofs {
			j := Finding{Topic: Scheduling, Verdict: impossible, Reason: p.Reason, Message: because + f.objectsOf(p.Pods) + p.Message, Nodes: p.Nodes, Remedy: remedies[p.Reason]}
			if c := f.podSetOf(p.Pods); c != nil {
				j.Object = c.item.Ref
				f.basis(&j, c)
			}
			f.add(j)
		}
	case verdictUnknown:
		for _, reason := range a.Unknown {
			j := Finding{Topic: Scheduling, Verdict: verdictUnknown, Reason: "NotDecided", Message: reason}
			if c := f.podSetNamed(reason); c != nil {
				j.Object = c.item.Ref
			}
			f.add(j)
		}
	}
}

// basis records which footprint or instance the pods are assumed from.
func (f *evaluation) basis(j *Finding, c *podSet) {
	switch {
	case c.by == "":
	case c.guess:
		j.Message += "; its pods are assumed to be " + c.by
	default:
		j.Message += "; its pods are those declared in " + c.by
	}
}

// objectsOf says which objects a proof is about, where there is more than one.
func (f *evaluation) objectsOf(pods []string) string {
	var names []string
	for _, pod := range pods {
		owner, _, _ := strings.Cut(pod, ", pod ")
		if !slices.Contains(names, owner) {
			names = append(names, owner)
		}
	}
	if len(names) < 2 {
		return ""
	}
	return object.ShortList(names) + ": "
}

// remedies by the reason of a proof.
var remedies = map[string]string{
	"InsufficientCPU":              "request less CPU, free some, or add nodes",
	"InsufficientMemory":           "request less memory, free some, or add nodes",
	"InsufficientEphemeralStorage": "request less ephemeral storage, free some, or add nodes",
	"InsufficientResource":         "request less, or add nodes that have it",
	"TooManyPods":                  "free pod slots, or add nodes",
	"Cordoned":                     "uncordon a node (kubectl uncordon)",
	"NodeName":                     "correct nodeName, or remove it",
	"NoNodes":                      "add nodes",
	"Taint":                        "add a toleration, or nodes without the taint",
	"NodeSelector":                 "correct the selector or affinity, or label a node",
	"Port":                         "use another host port, or fewer pods than nodes",
	"AntiAffinity":                 "run fewer replicas, add nodes, or make the anti-affinity preferred",
	"Affinity":                     "correct the affinity, or start the pods that it requires first",
	"Spread":                       "change the replicas, add nodes or zones, or set whenUnsatisfiable to ScheduleAnyway",
	"TopologyLabel":                "label the nodes with the topology key",
	"ClaimInUse":                   "use a claim for each pod, or an access mode that allows several",
	"VolumeNodeAffinity":           "run it where its volume is, or use another claim",
	"VolumeZone":                   "run it in the zone of its volume, or use another claim",
	"VolumeTopology":               "use a class that creates volumes where the pod may run",
	"StorageCapacity":              "request less storage, or use another class",
	"VolumeLimit":                  "add nodes: the number of volumes per node is limited",
	"NoVolume":                     "create a matching PersistentVolume on a node that takes the pod",
}

// podSetOf returns the pod set of the first pod that is named.
func (f *evaluation) podSetOf(pods []string) *podSet {
	for _, name := range pods {
		for _, c := range f.podSets {
			if owner, _, _ := strings.Cut(name, ", pod "); owner == c.title {
				return c
			}
		}
	}
	return nil
}

// podSetNamed returns the pod set whose object is named in a sentence; the only one, where there
// is one.
func (f *evaluation) podSetNamed(sentence string) *podSet {
	if len(f.podSets) == 1 {
		return f.podSets[0]
	}
	for _, c := range f.podSets {
		if strings.Contains(sentence, c.title) {
			return c
		}
	}
	return nil
}
