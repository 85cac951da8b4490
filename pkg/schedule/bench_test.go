package schedule

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// bigCluster has so many nodes in three zones, and ten pods on each.
func bigCluster(nodes int) *Cluster {
	c := &Cluster{}
	for i := range nodes {
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("node-%04d", i), "16", zone, fmt.Sprintf("z%d", i%3), "pool", fmt.Sprint(i%7)))
		for k := range 10 {
			p := pod(fmt.Sprintf("old-%d-%d", i, k), "1", on(fmt.Sprintf("node-%04d", i)), labelled(fmt.Sprintf("app-%d", k)))
			p.Namespace = fmt.Sprintf("ns-%d", (i+k)%200)
			if k < 3 {
				apart(fmt.Sprintf("app-%d", k), corev1.LabelHostname)(p)
			}
			c.Pods = append(c.Pods, p)
		}
	}
	return c
}

func manyPods(classes, each int, change ...func(*corev1.Pod)) []Pod {
	var out []Pod
	for i := range classes {
		name := fmt.Sprintf("w%d", i)
		out = append(out, batch(each, pod(name, fmt.Sprintf("%dm", 500+i*10), change...))...)
	}
	return out
}

func BenchmarkPlace(b *testing.B) {
	big := bigCluster(5000)
	for _, c := range []struct {
		name  string
		batch []Pod
	}{
		{"roomy", manyPods(50, 10)},
		{"all different", manyPods(500, 1)},
		{"spread by node", manyPods(50, 10, func(p *corev1.Pod) { spreads(p.Labels["app"], corev1.LabelHostname, 1)(p) })},
		{"spread by zone and node", manyPods(20, 25, func(p *corev1.Pod) {
			spreads(p.Labels["app"], zone, 1)(p)
			spreads(p.Labels["app"], corev1.LabelHostname, 1)(p)
		})},
		{"apart", manyPods(50, 10, func(p *corev1.Pod) { apart(p.Labels["app"], corev1.LabelHostname)(p) })},
		{"beside", manyPods(50, 10, func(p *corev1.Pod) { beside(p.Labels["app"], zone)(p) })},
		{"too big", manyPods(50, 10, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "none"} })},
		{"tight", batch(500, pod("w", "6"))},
		{"nearly full", append(batch(4800, pod("w", "6")), batch(300, pod("v", "5"))...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var a Result
			for b.Loop() {
				a = big.Place(c.batch)
			}
			b.ReportMetric(float64(a.Verdict), "verdict")
			b.Log(a.Verdict, len(a.Placement), a.Unknown[:min(2, len(a.Unknown))])
		})
	}
}
