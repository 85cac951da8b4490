package metrics

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestResourceNames has the extended resources of a pod that is gone under the names that
// kube-state-metrics writes (SanitizeLabelName of the resource, in its internal/store/pod.go):
// they are those of the price book and of the nodes; a name that nobody knows stays as it is.
func TestResourceNames(t *testing.T) {
	f := &truth{T: t}
	l := podLabels("shop", "gone", uidA)
	f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 240, "1")
	for _, name := range []string{"google_com_tpu", "habana_ai_gaudi", "nvidia_com_mig_1g_5gb", "hugepages_2Mi", "example_com_unknown"} {
		f.over("kube_pod_container_resource_requests", with2(l, "container", "c", "resource", name), 0, 240, "3")
	}
	p := podOf(t, f.read(nil, func(o *HistoryOptions) {
		o.Resources = []Resource{"google.com/tpu", "habana.ai/gaudi", "nvidia.com/mig-1g.5gb"}
	}), "gone", "")
	for _, name := range []Resource{"google.com/tpu", "habana.ai/gaudi", "nvidia.com/mig-1g.5gb", "hugepages-2Mi", "example_com_unknown"} {
		equal(t, string(name), p.Charged[name], "6")
	}
}

// TestResourcesOfCluster: a node and a pod know the true names.
func TestResourcesOfCluster(t *testing.T) {
	c := &Collector{}
	list := func(name string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse("1"), corev1.ResourceCPU: resource.MustParse("1")}
	}
	c.addNode(&corev1.Node{Status: corev1.NodeStatus{Capacity: list("google.com/tpu")}})
	c.addPod(object.Ref{Kind: "Pod", Name: "p"}, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list("example.com/fpga")}}}}})
	if got := c.Resources(); len(got) != 2 || got[0] != "example.com/fpga" || got[1] != "google.com/tpu" {
		t.Errorf("the resources are %v", got)
	}
}

// TestRequestsOfSpec has pods that are there, without kube-scheduler: the requests of a pod as
// a whole (KEP-2837) and the peak of its init containers are in no series of
// kube-state-metrics (its docs/metrics/workload/pod-metrics.md says so), but in the spec. What
// containers request is taken from the series, which know what it was before. Of a pod that is
// gone it is told that containers alone are known.
func TestRequestsOfSpec(t *testing.T) {
	f := &truth{T: t}
	requests := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	whole := requests("3")
	pods := map[string]corev1.PodSpec{
		"whole": {Containers: []corev1.Container{{Name: "c", Resources: requests("1")}}, Resources: &whole},
		"peak":  {Containers: []corev1.Container{{Name: "c", Resources: requests("1")}}, InitContainers: []corev1.Container{{Name: "i", Resources: requests("4")}}},
		"plain": {Containers: []corev1.Container{{Name: "c", Resources: requests("2")}}},
	}
	uids := map[string]types.UID{"whole": uidA, "peak": uidB, "plain": types.UID(uidA[:35] + "6"), "gone": types.UID(uidA[:35] + "7")}
	c := &Collector{}
	for name, spec := range pods {
		spec.NodeName = "n1"
		pod := &corev1.Pod{Spec: spec}
		pod.UID = uids[name]
		c.addPod(object.Ref{Kind: "Pod", Namespace: "shop", Name: name}, pod)
	}
	for name, uid := range uids {
		l := podLabels("shop", name, string(uid))
		f.over("kube_pod_info", with2(l, "node", "n1"), 0, 240, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 0, 180, "1")
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), 181, 240, "0")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "c", "resource", "cpu"), 0, 240, "1")
	}
	w := window(at(120), at(240))
	r := f.read(c.Window(w.From, w.To, ReportOptions{}))
	for name, want := range map[string]string{"whole": "3", "peak": "4", "plain": "1", "gone": "1"} {
		equal(t, "the request of "+name+" for an hour", podOf(t, r, name, "").Requested[CPU], want)
	}
	if n := note(r, "Requests"); !strings.Contains(n.Message, "requests of 1 deleted pods are those of their containers") {
		t.Errorf("the note is %+v", n)
	}
}

// TestPendingBalancer: a load balancer without an address is not counted, of an instant and of
// a window alike.
func TestPendingBalancer(t *testing.T) {
	c := &Collector{}
	for name, ingress := range map[string][]corev1.LoadBalancerIngress{"pending": nil, "ready": {{IP: "192.0.2.1"}}} {
		s := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
		s.Status.LoadBalancer.Ingress = ingress
		c.addService(object.Ref{Kind: "Service", Namespace: "shop", Name: name}, s)
	}
	f := &truth{T: t}
	for _, name := range []string{"pending", "ready"} {
		f.over("kube_service_spec_type", map[string]string{"namespace": "shop", "service": name, "type": "LoadBalancer"}, 0, 240, "1")
	}
	f.over("kube_service_status_load_balancer_ingress", map[string]string{"namespace": "shop", "service": "ready", "ip": "192.0.2.1"}, 0, 240, "1")
	w := window(at(120), at(240))
	for what, r := range map[string]*UsageReport{"instant": c.Report(w.To, ReportOptions{}), "window": f.read(c.Window(w.From, w.To, ReportOptions{}))} {
		if len(r.LoadBalancers) != 1 || r.LoadBalancers[0].Service.Name != "ready" || !r.LoadBalancers[0].Hours.IsPositive() {
			t.Errorf("%s: the load balancers are %+v", what, r.LoadBalancers)
		}
		if n := note(r, "Pending"); n.Subject != "Service/shop/pending" {
			t.Errorf("%s: the note is %+v", what, n)
		}
	}
}

// TestUnclaimedVolumes has volumes in the phases of kube_persistentvolume_status_phase: one that
// lost its claim at minute 180, one that nobody ever claimed, and one that is bound.
func TestUnclaimedVolumes(t *testing.T) {
	f := &truth{T: t}
	for name, phases := range map[string]map[string][2]int64{
		"released": {"Bound": {0, 180}, "Released": {181, 240}},
		"waiting":  {"Available": {0, 240}},
		"bound":    {"Bound": {0, 240}},
	} {
		f.over("kube_persistentvolume_capacity_bytes", map[string]string{"persistentvolume": name}, 0, 240, "1000")
		f.over("kube_persistentvolume_info", map[string]string{"persistentvolume": name, "storageclass": "ssd"}, 0, 240, "1")
		for _, phase := range []string{"Available", "Bound", "Failed", "Pending", "Released"} {
			l := map[string]string{"persistentvolume": name, "phase": phase}
			f.add("kube_persistentvolume_status_phase", l, phaseSamples(phases[phase])...)
		}
	}
	r := f.read(nil)
	if len(r.Unclaimed) != 2 || r.Unclaimed[0].Name != "released" || r.Unclaimed[1].Name != "waiting" || r.Unclaimed[0].Class != "ssd" {
		t.Fatalf("the volumes are %+v", r.Unclaimed)
	}
	equal(t, "hours of the released one", r.Unclaimed[0].Hours, "1")
	equal(t, "its byte-hours", r.Unclaimed[0].Claimed, "1000")
	equal(t, "byte-hours of the one that waits", r.Unclaimed[1].Claimed, "2000")
	if r := f.read(nil, func(o *HistoryOptions) { o.Namespaces = []string{"shop"} }); len(r.Unclaimed) != 0 {
		t.Errorf("a question about a namespace has the volumes %+v", r.Unclaimed)
	}
}

// phaseSamples are 1 within the minutes, and 0 in all others.
func phaseSamples(minutes [2]int64) []fakeSample {
	var out []fakeSample
	for m := int64(0); m <= 240; m++ {
		v := "0"
		if m >= minutes[0] && m <= minutes[1] && minutes[1] > 0 {
			v = "1"
		}
		out = append(out, fakeSample{at(m), v})
	}
	return out
}
