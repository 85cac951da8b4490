package schedule

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zone = corev1.LabelTopologyZone

func three() []*corev1.Node {
	return []*corev1.Node{node("a", "4", zone, "x"), node("b", "4", zone, "x"), node("c", "4", zone, "y")}
}

func tainted(n *corev1.Node, key string, effect corev1.TaintEffect) *corev1.Node {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "yes", Effect: effect})
	return n
}

func TestPlaceVerdicts(t *testing.T) {
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	for _, c := range []struct {
		name    string
		cluster Cluster
		batch   []Pod
		verdict Verdict
		reason  string
		says    string
	}{
		{"nothing asked", Cluster{}, nil, Fits, "", ""},
		{"no nodes", Cluster{}, batch(1, pod("web", "1")), DoesNotFit, "NoNodes", "no nodes"},
		{"nodes unread", Cluster{Unread: Unread{Nodes: true}}, batch(1, pod("web", "1")), Unknown, "", "could not be read"},
		{"roomy", Cluster{Nodes: three()}, batch(3, pod("web", "1")), Fits, "", ""},
		{"exactly full", Cluster{Nodes: three()}, batch(12, pod("web", "1")), Fits, "", ""},
		{"one too many", Cluster{Nodes: three()}, batch(13, pod("web", "1")), DoesNotFit, "InsufficientCPU", "at most 12 of 13"},
		{"too big", Cluster{Nodes: three()}, batch(1, pod("web", "8")), DoesNotFit, "InsufficientCPU", "no node takes it: 3 nodes: cpu: wants 8, more than any of them has even empty (4)"},
		{"taken", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "3500m", on("a"))}}, batch(1, pod("web", "1")), DoesNotFit, "InsufficientCPU", "cpu: wants 1, 0.5 is free of 4"},
		{"sum", Cluster{Nodes: three()[:2]}, append(batch(3, pod("web", "2")), batch(1, pod("db", "3"))...), DoesNotFit, "InsufficientCPU", "together they want 9 of cpu, and the 2 nodes that take them have 8 free"},
		{"the biggest first", Cluster{Nodes: three()[:2]}, append(batch(2, pod("web", "2")), batch(1, pod("db", "4"))...), Fits, "", ""},
		{"dead end", Cluster{Nodes: three()[:2]}, append(batch(2, pod("web", "2", priority(1))), batch(1, pod("db", "4"))...), Unknown, "", "db 1 of 1: no node is left after the others were placed (cpu: wants 4, 2 is free of 4); the scheduler may find another placement"},
		{"packing", Cluster{Nodes: three()[:2]}, append(batch(2, pod("web", "3")), batch(2, pod("db", "1100m"))...), DoesNotFit, "InsufficientCPU", "together"},
		{"taint", Cluster{Nodes: []*corev1.Node{tainted(node("a", "4"), "gpu", corev1.TaintEffectNoSchedule)}}, batch(1, pod("web", "1")), DoesNotFit, "Taint", "taint gpu=yes:NoSchedule is not tolerated"},
		{"prefer only", Cluster{Nodes: []*corev1.Node{tainted(node("a", "4"), "gpu", corev1.TaintEffectPreferNoSchedule)}}, batch(1, pod("web", "1")), Fits, "", ""},
		{"selector", Cluster{Nodes: three()}, batch(1, pod("web", "1", selects("disk", "ssd"))), DoesNotFit, "NodeSelector", "disk=ssd"},
		{"ports", Cluster{Nodes: three()[:2]}, batch(3, pod("web", "1", port(80))), DoesNotFit, "Port", "at most 2 of 3 fit"},
		{"ports fit", Cluster{Nodes: three()}, batch(3, pod("web", "1", port(80))), Fits, "", ""},
		{"anti-affinity", Cluster{Nodes: three()}, batch(3, pod("web", "1", apart("web", zone))), DoesNotFit, "AntiAffinity", "at most 2 of 3 fit"},
		{"anti-affinity by node", Cluster{Nodes: three()}, batch(3, pod("web", "1", apart("web", corev1.LabelHostname))), Fits, "", ""},
		{"kept away by another", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "1", on("a"), apart("web", corev1.LabelHostname))}}, batch(1, pod("web", "1")), DoesNotFit, "AntiAffinity", "the anti-affinity of pods on it keeps it away"},
		{"affinity to none", Cluster{Nodes: three()}, batch(1, pod("web", "1", beside("db", zone))), DoesNotFit, "Affinity", ""},
		{"affinity to itself", Cluster{Nodes: three()}, batch(3, pod("web", "1", beside("web", zone))), Fits, "", ""},
		{"affinity to itself, no room", Cluster{Nodes: three()}, batch(5, pod("web", "1", beside("web", zone))), Fits, "", ""},
		{"affinity to itself, no room in any zone", Cluster{Nodes: three()}, batch(9, pod("web", "1", beside("web", zone))), Unknown, "", "web 9 of 9: no node is left after the others were placed"},
		{"affinity to another of the batch", Cluster{Nodes: three()}, append(batch(1, pod("db", "1")), batch(1, pod("web", "1", beside("db", zone)))...), Fits, "", ""},
		{"affinity to one that is there", Cluster{Nodes: three(), Pods: []*corev1.Pod{pod("db", "1", on("c"))}}, batch(3, pod("web", "1", beside("db", zone))), Fits, "", ""},
		{"affinity to one that is there, full", Cluster{Nodes: three(), Pods: []*corev1.Pod{pod("db", "1", on("c"))}}, batch(4, pod("web", "1", beside("db", zone))), DoesNotFit, "InsufficientCPU", "at most 3 of 4 fit"},
		{"spread", Cluster{Nodes: three()}, batch(4, pod("web", "1", spreads("web", zone, 1))), Fits, "", ""},
		{"spread stuck", Cluster{Nodes: three()[1:]}, batch(9, pod("web", "500m", spreads("web", zone, 1), labelled("web"))), Fits, "", ""},
		{"spread with a tainted domain", Cluster{Nodes: []*corev1.Node{node("a", "4"), tainted(node("b", "4"), "x", corev1.TaintEffectNoSchedule)}}, batch(2, pod("web", "1", spreads("web", corev1.LabelHostname, 1))), DoesNotFit, "Spread", "at most 1 of 2"},
		{"waiting takes it", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("other", "3")}}, batch(1, pod("web", "2")), Unknown, "", "there is room only without pending pods (Pod/shop/other)"},
		{"waiting cannot run", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("other", "30")}}, batch(1, pod("web", "2")), Fits, "", ""},
		{"ending", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "3", on("a"), ending)}}, batch(1, pod("web", "2")), Unknown, "", "there is room only without pods that are terminating"},
		{"evicting", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "3", on("a"))}}, batch(1, pod("web", "2", priority(10))), Unknown, "", "there is room only without pods of a lower priority, which may be evicted"},
		{"evicting does not help", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "3", on("a"))}}, batch(1, pod("web", "5", priority(10))), DoesNotFit, "InsufficientCPU", "even"},
		{"may not evict", Cluster{Nodes: three()[:1], Pods: []*corev1.Pod{pod("old", "3", on("a"))}}, batch(1, pod("web", "2", priority(10), func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) })), DoesNotFit, "InsufficientCPU", ""},
		{"gate", Cluster{Nodes: three()}, batch(1, pod("web", "1", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x.io/wait"}} })), Unknown, "", "x.io/wait"},
		{"other scheduler", Cluster{Nodes: three()}, batch(1, pod("web", "100", func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" })), Unknown, "", "volcano"},
		{"pods unread", Cluster{Nodes: three(), Unread: Unread{Pods: true}}, batch(1, pod("web", "1")), Unknown, "", "not all pods"},
		{"memory of all", Cluster{Nodes: three()}, batch(1, pod("web", "1", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("65Gi")
		})), DoesNotFit, "InsufficientMemory", "memory: wants 65Gi, more than any of them has even empty (64Gi)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.cluster.Place(c.batch)
			if a.Verdict != c.verdict {
				t.Fatalf("the verdict is %v, not %v: %+v %q", a.Verdict, c.verdict, a.Proofs, a.Unknown)
			}
			text := strings.Join(a.Unknown, "\n")
			if len(a.Proofs) > 0 {
				text += a.Proofs[0].Message
				if a.Proofs[0].Reason != c.reason {
					t.Errorf("the reason is %s, not %s: %+v", a.Proofs[0].Reason, c.reason, a.Proofs[0])
				}
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("%q is not said in %q", c.says, text)
			}
			if a.Verdict == Fits && len(a.Placement) != len(c.batch) {
				t.Errorf("%d of %d pods are placed", len(a.Placement), len(c.batch))
			}
			slices.Reverse(c.cluster.Nodes)
			if b := c.cluster.Place(c.batch); strings.Join(b.Unknown, ";") != strings.Join(a.Unknown, ";") || !slices.Equal(a.Placement, b.Placement) {
				t.Errorf("the order of the nodes changes the answer: %+v and %+v", a, b)
			}
		})
	}
}
