package metrics

import (
	"fmt"
	"maps"
	"testing"

	"github.com/shopspring/decimal"
)

const minute = 60 * second

func cadvisor(namespace, pod, container, id string) map[string]string {
	return map[string]string{
		"namespace": namespace, "pod": pod, "container": container, "image": "img",
		"id": id, "name": id, "cpu": "total", "job": "kubelet", "instance": "10.0.0.1:10250", "metrics_path": "/metrics/cadvisor",
	}
}

func podLabels(namespace, pod, uid string) map[string]string {
	return map[string]string{"namespace": namespace, "pod": pod, "uid": uid, "job": "kube-state-metrics", "instance": "10.1.1.1:8080"}
}

func with2(labels map[string]string, pairs ...string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, labels)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

const (
	uidA = "11111111-2222-3333-4444-555555555555"
	uidB = "66666666-7777-8888-9999-000000000000"
)

func equal(t *testing.T, what string, got decimal.Decimal, want string) {
	t.Helper()
	if w := decimal.RequireFromString(want); !got.Round(15).Equal(w.Round(15)) {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// TestHistoryPod has one pod that runs all the time: half a core, 1 GiB, a request of
// a quarter of a core and of 2 GiB.
func TestHistoryPod(t *testing.T) {
	f := &fakeServer{}
	times := grid(fakeBegin, fakeBegin+4*60*minute, minute)
	id := "/kubepods/burstable/pod" + uidA + "/abc"
	var cpu []fakeSample
	for i, at := range times {
		cpu = append(cpu, fakeSample{at, fmt.Sprintf("%d", 1000+30*i)})
	}
	f.add("container_cpu_usage_seconds_total", cadvisor("shop", "web-1", "web", id), cpu...)
	f.add("container_memory_working_set_bytes", cadvisor("shop", "web-1", "web", id), constant("1073741824", times...)...)
	ksm := podLabels("shop", "web-1", uidA)
	f.add("kube_pod_info", with2(ksm, "node", "n1", "created_by_kind", "ReplicaSet", "created_by_name", "web-abc"), constant("1", times...)...)
	f.add("kube_replicaset_owner", map[string]string{"namespace": "shop", "replicaset": "web-abc", "owner_kind": "Deployment", "owner_name": "web"}, constant("1", times...)...)
	f.add("kube_pod_status_phase", with2(ksm, "phase", "Running"), constant("1", times...)...)
	f.add("kube_pod_container_resource_requests", with2(ksm, "container", "web", "resource", "cpu", "unit", "core"), constant("0.25", times...)...)
	f.add("kube_pod_container_resource_requests", with2(ksm, "container", "web", "resource", "memory", "unit", "byte"), constant("2.147483648e+09", times...)...)
	url := f.start(t)
	r := measure(t, url, window(fakeBegin+2*60*minute, fakeBegin+4*60*minute), nil)
	if len(r.Pods) != 1 {
		t.Fatalf("%d pods: %+v", len(r.Pods), r)
	}
	p := r.Pods[0]
	equal(t, "hours", p.Hours, "2")
	equal(t, "CPU used", p.Used[CPU], "1")
	equal(t, "memory used", p.Used[Memory], "2147483648")
	equal(t, "CPU requested", p.Requested[CPU], "0.5")
	equal(t, "memory requested", p.Requested[Memory], "4294967296")
	equal(t, "CPU charged", p.Charged[CPU], "1")
	equal(t, "memory charged", p.Charged[Memory], "4294967296")
	if string(p.UID) != uidA || p.Node != "n1" || !p.Gone || fmt.Sprint(p.Owners) != "[ReplicaSet.apps/shop/web-abc Deployment.apps/shop/web]" {
		t.Errorf("pod is %+v", p)
	}
	for _, n := range r.Notes {
		t.Logf("%+v", n)
	}
}

func windowHour() decimal.Decimal { return decimal.NewFromInt(1) }

func decimalOf(s string) decimal.Decimal { return decimal.RequireFromString(s) }
