package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// scenario is one way in which things may go: which of the old pods are still there, and how
// many new ones each pod set has to place.
type scenario struct {
	old func(*podSet) bool
	new func(*podSet) int
}

// everything places all pods at once; what ends takes its room as long as all others.
func everything(c *podSet) int { return c.missing() }

// certain places those that certainly exist, and stay.
func certain(c *podSet) int {
	if c.ends || c.guess {
		return 0
	}
	return c.missing()
}

func anyPodSet(*podSet) bool { return true }
func noPodSet(*podSet) bool  { return false }

// ask places the pods of a scenario. Pods that come later, or that do not start anyway, are
// in none.
func (f *evaluation) ask(base *schedule.Cluster, way scenario) (schedule.Result, int) {
	at := *base
	at.Pods = append([]*corev1.Pod(nil), base.Pods...)
	var pods []schedule.Pod
	for _, c := range f.podSets {
		if way.old(c) && c.overlap {
			at.Pods = append(at.Pods, c.old...)
		}
		if !c.lost && !c.later {
			pods = append(pods, c.pods(way.new(c))...)
		}
	}
	if len(pods) == 0 {
		return schedule.Result{Verdict: fits}, 0
	}
	return f.place(&at, pods), len(pods)
}

// scheduling says whether all pods find a node. That they fit must hold with the old pods of
// a roll-out and without them; that they cannot, even when the old ones are gone, what ends
// by itself has ended, and only what is certain is placed.
func (f *evaluation) scheduling() {
	base := f.cluster()
	f.cronJobs(base)
	all, n := f.ask(base, scenario{anyPodSet, everything})
	if n == 0 {
		return
	}
	defer func() {
		f.checked[Scheduling] = fmt.Sprintf("%s on %s, as the cluster is now", object.Count(n, "pod"), object.Count(nodesOf(f.placed), "node"))
	}()
	old, ends, guess := f.has(func(c *podSet) bool { return len(c.old) > 0 }), f.has(func(c *podSet) bool { return c.ends }), f.has(func(c *podSet) bool { return c.guess })
	f.placed = all.Placement
	if !old && !ends && !guess {
		f.addAnswer(all, "")
		return
	}
	gone := all
	if old {
		gone, _ = f.ask(base, scenario{noPodSet, everything})
		f.placed = gone.Placement
	}
	if gone.Verdict == fits && (all.Verdict == fits || f.inPlace(base)) {
		return
	}
	if f.addImpossible(base, ends || guess, gone) || f.stuck(base) {
		return
	}
	f.open(all, gone, guess)
}

// inPlace says that each new pod can take the room of an old one, on its node, and that where
// one must run first there is room for it.
func (f *evaluation) inPlace(base *schedule.Cluster) bool {
	first, _ := f.ask(base, scenario{anyPodSet, func(c *podSet) int { return c.first }})
	if first.Verdict != fits {
		return false
	}
	var pods []schedule.Pod
	for _, c := range f.podSets {
		if c.lost || c.later {
			continue
		}
		for i, p := range c.pods(c.missing()) {
			if i < len(c.old) && len(c.nodes) == 0 {
				p.Pod = p.Pod.DeepCopy()
				pin(p.Pod, c.old[i].Spec.NodeName)
			}
			pods = append(pods, p)
		}
	}
	return f.place(base, pods).Verdict == fits
}

// pin keeps a pod to a node of those that it may use.
func pin(p *corev1.Pod, node string) {
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil || p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		bind(p, node)
		return
	}
	terms := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		terms[i].MatchFields = append(terms[i].MatchFields, corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}})
	}
}

func (f *evaluation) has(match func(*podSet) bool) bool {
	return slices.ContainsFunc(f.podSets, func(c *podSet) bool { return !c.lost && !c.later && match(c) })
}

// addImpossible finds out whether it is impossible without old pods, and with no more of those
// that end, or are guessed, than there must be: one at a time.
func (f *evaluation) addImpossible(base *schedule.Cluster, softer bool, gone schedule.Result) bool {
	if gone.Verdict != impossible {
		return false
	}
	if !softer {
		f.addAnswer(gone, "")
		return true
	}
	least, _ := f.ask(base, scenario{noPodSet, certain})
	if least.Verdict == impossible {
		f.addAnswer(least, "")
		return true
	}
	found := false
	for _, one := range f.podSets {
		if !one.ends || one.guess {
			continue
		}
		answer, n := f.ask(base, scenario{noPodSet, func(c *podSet) int {
			if c == one {
				return min(1, c.missing())
			}
			return certain(c)
		}})
		if n > 0 && answer.Verdict == impossible {
			f.addAnswer(answer, "")
			found = true
		}
	}
	return found
}

// stuck finds roll-outs that cannot begin: no old pod goes before a new one runs, and
// there is no room for one beside them.
func (f *evaluation) stuck(base *schedule.Cluster) bool {
	found := false
	for _, one := range f.podSets {
		if one.first == 0 || one.lost || one.guess || one.wanted < len(one.old) || !ready(one.old) {
			continue
		}
		answer, n := f.ask(base, scenario{
			func(c *podSet) bool { return c == one },
			func(c *podSet) int {
				if c == one {
					return 1
				}
				return 0
			},
		})
		if n > 0 && answer.Verdict == impossible {
			f.addAnswer(answer, fmt.Sprintf("the rollout cannot start: none of the %s is deleted before a new one runs (maxUnavailable is 0), and ", object.Count(len(one.old), "old pod")))
			found = true
		}
	}
	return found
}

// ready says that all of some pods are: one that is not may be deleted first.
func ready(pods []*corev1.Pod) bool {
	return !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !check.PodReady(p) })
}

// cronJobs tries the pods of CronJobs, each by itself: on empty nodes, since the free room
// at that time is unknown.
func (f *evaluation) cronJobs(base *schedule.Cluster) {
	for _, c := range f.podSets {
		if !c.later || c.lost || c.missing() == 0 {
			continue
		}
		empty := *base
		empty.Pods, empty.Unread.Pods = nil, false
		if answer := f.place(&empty, c.pods(1)); answer.Verdict == impossible {
			f.addAnswer(answer, "")
			continue
		}
		if answer := f.place(base, c.pods(1)); answer.Verdict == impossible {
			j := Finding{Topic: Scheduling, Verdict: verdictUnknown, Object: c.item.Ref, Reason: "NoRoomNow", Message: "its pod does not fit now; it is created later"}
			if len(answer.Proofs) > 0 {
				j.Message += " (" + answer.Proofs[0].Message + ")"
				j.Nodes = answer.Proofs[0].Nodes
			}
			f.add(j)
		}
	}
}

func nodesOf(placed []schedule.Placed) int {
	nodes := map[string]bool{}
	for _, p := range placed {
		nodes[p.Node] = true
	}
	return len(nodes)
}
