package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// parse reads objects of the core group, as types or, with untyped, as maps.
func parse(t testing.TB, untyped bool, text string) []object.Object {
	t.Helper()
	kinds := map[string]func() apiruntime.Object{
		"Pod": func() apiruntime.Object { return &corev1.Pod{} }, "Node": func() apiruntime.Object { return &corev1.Node{} },
		"Service":               func() apiruntime.Object { return &corev1.Service{} },
		"PersistentVolumeClaim": func() apiruntime.Object { return &corev1.PersistentVolumeClaim{} },
		"PersistentVolume":      func() apiruntime.Object { return &corev1.PersistentVolume{} },
		"ResourceClaim":         func() apiruntime.Object { return &resourcev1.ResourceClaim{} },
	}
	var out []object.Object
	for doc := range strings.SplitSeq(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		o := object.Object{Ref: object.Ref{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}, Version: "v1", Meta: u, Body: u}
		if !untyped {
			o.Body = kinds[u.GetKind()]()
			if err := yaml.UnmarshalStrict([]byte(doc), o.Body); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, o)
	}
	return out
}

const world = `{kind: Pod, metadata: {namespace: shop, name: web-1, uid: u1}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 250m, memory: 128Mi}, limits: {cpu: "1", memory: 256Mi}}}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}, {name: e, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Running, startTime: "2026-09-14T09:00:00Z"}}
---
{kind: Pod, metadata: {namespace: shop, name: web-10, uid: u10}, spec: {nodeName: n2, hostNetwork: true, initContainers: [{name: init, resources: {requests: {cpu: "2"}}}, {name: side, restartPolicy: Always, resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}}], containers: [{name: c, resources: {requests: {cpu: 50m, nvidia.com/gpu: "2"}, limits: {cpu: "1", memory: 1Gi, nvidia.com/gpu: "2"}}}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}, {name: cache, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}, status: {phase: Running}}
---
{kind: Pod, metadata: {namespace: shop, name: starts, uid: u2}, spec: {nodeName: n1, containers: [{name: c}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}
---
{kind: Pod, metadata: {namespace: shop, name: waits, uid: u3}, spec: {containers: [{name: c, resources: {requests: {cpu: "9"}}}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}
---
{kind: Pod, metadata: {namespace: shop, name: done, uid: u4}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "9"}}}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Succeeded}}
---
{kind: Pod, metadata: {namespace: shop, name: failed, uid: u5}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "9"}}}]}, status: {phase: Failed}}
---
{kind: Pod, metadata: {namespace: other, name: web-1, uid: u6}, spec: {nodeName: n3, containers: [{name: c, resources: {requests: {cpu: "1"}}}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Unknown}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: c1}, spec: {storageClassName: fast, volumeName: pv-1, resources: {requests: {storage: 500Mi}}}, status: {phase: Bound, capacity: {storage: 1Gi}}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: shop, name: web-10-cache, uid: c2}, spec: {volumeName: pv-2, resources: {requests: {storage: 500Mi}}}, status: {phase: Bound, capacity: {storage: 500Mi}}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: other, name: data, uid: c3}, spec: {volumeName: pv-x, resources: {requests: {storage: 3Gi}}}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: other, name: alone, uid: c4}, spec: {resources: {requests: {storage: 4Gi}}}, status: {phase: Bound, capacity: {storage: 5Gi}}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: other, name: waits, uid: c5}, spec: {resources: {requests: {storage: 4Gi}}}, status: {phase: Pending}}
---
{kind: PersistentVolume, metadata: {name: pv-1}, spec: {storageClassName: fast, capacity: {storage: 2Gi}, claimRef: {namespace: shop, name: data}}}
---
{kind: PersistentVolume, metadata: {name: pv-2}, spec: {storageClassName: slow, capacity: {storage: 500Mi}, claimRef: {namespace: shop, name: web-10-cache}}}
---
{kind: PersistentVolume, metadata: {name: pv-x}, spec: {storageClassName: slow, capacity: {storage: 100Gi}, claimRef: {namespace: shop, name: elsewhere}}}
---
{kind: Service, metadata: {namespace: shop, name: front}, spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}
---
{kind: Service, metadata: {namespace: shop, name: soon}, spec: {type: LoadBalancer}}
---
{kind: Service, metadata: {namespace: shop, name: inner}, spec: {type: ClusterIP}}
---
{kind: Node, metadata: {name: n2, labels: {kind: big}}, spec: {providerID: aws:///n2}, status: {capacity: {cpu: "8", memory: 32Gi, pods: "110", nvidia.com/gpu: "2", attachable-volumes-csi-x: "25"}, allocatable: {cpu: "7"}}}
---
{kind: Node, metadata: {name: n1}, status: {capacity: {cpu: "4", memory: 16Gi}}}`

func TestReading(t *testing.T) {
	for _, untyped := range []bool{false, true} {
		var c metrics.Collector
		for _, o := range parse(t, untyped, world) {
			c.Add(o)
		}
		r := c.Report(now, metrics.ReportOptions{Whole: true, Containers: true})
		if !r.Instant() || !r.To.Equal(now) || r.Hours.String() != "1" {
			t.Errorf("an instant: %+v", r)
		}
		checkPods(t, r)
		checkClaims(t, r)
		if len(r.LoadBalancers) != 1 || r.LoadBalancers[0].Service.Name != "front" || r.LoadBalancers[0].Hours.String() != "1" {
			t.Errorf("balancers %+v", r.LoadBalancers)
		}
		if len(r.Nodes) != 2 || r.Nodes[0].Name != "n1" || r.Nodes[1].ProviderID != "aws:///n2" || r.Nodes[1].Labels["kind"] != "big" || !r.Nodes[1].Whole {
			t.Fatalf("nodes %+v", r.Nodes)
		}
		big := r.Nodes[1].Capacity
		has(t, "n2", big, metrics.CPU, "8")
		has(t, "n2", big, metrics.Memory, "34359738368")
		has(t, "n2", big, "nvidia.com/gpu", "2")
		if len(big) != 3 {
			t.Errorf("capacity %v", big)
		}
		var notes []string
		for _, n := range r.Notes {
			notes = append(notes, n.Reason+" "+n.Subject)
		}
		if got := strings.Join(notes, "; "); got != "Pending other/waits; Pending Service/shop/soon" {
			t.Errorf("notes %s", got)
		}
	}
}

func checkPods(t *testing.T, r *metrics.UsageReport) {
	t.Helper()
	var names []string
	for i := range r.Pods {
		names = append(names, r.Pods[i].Ref.String())
	}
	if got := strings.Join(names, " "); got != "Pod/other/web-1 Pod/shop/starts Pod/shop/web-1 Pod/shop/web-10" {
		t.Fatalf("pods %s", got)
	}
	starts, web, gpu := r.Pods[1], r.Pods[2], r.Pods[3]
	has(t, "no request", starts.Requested, metrics.CPU, "0")
	has(t, "no limit", starts.Limited, metrics.CPU, "")
	if starts.Unmeasured == "" || web.Unmeasured != "" || !web.Started.Equal(time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)) || web.UID != "u1" || web.Node != "n1" || web.HostNetwork || !gpu.HostNetwork {
		t.Errorf("pods %+v", r.Pods)
	}
	has(t, "web-1", web.Requested, metrics.Memory, "134217728")
	has(t, "web-1", web.Limited, metrics.Memory, "268435456")
	has(t, "an init container that needs more", gpu.Requested, metrics.CPU, "2")
	has(t, "a sidecar without a limit", gpu.Limited, metrics.CPU, "")
	has(t, "both have a limit", gpu.Limited, metrics.Memory, "2147483648")
	has(t, "devices", gpu.Requested, "nvidia.com/gpu", "2")
	has(t, "devices", gpu.Limited, "nvidia.com/gpu", "2")
	if len(gpu.Containers) != 2 || gpu.Containers[0].Name != "side" || gpu.Containers[1].Name != "c" {
		t.Fatalf("containers %+v", gpu.Containers)
	}
	has(t, "the sidecar", gpu.Containers[0].Requested, metrics.CPU, "0.1")
	has(t, "the sidecar", gpu.Containers[0].Limited, metrics.CPU, "")
}

func checkClaims(t *testing.T, r *metrics.UsageReport) {
	t.Helper()
	type claim struct{ name, class, size, mounts, unmounted string }
	var got []claim
	for _, c := range r.Claims {
		var mounts []string
		for _, m := range c.Mounts {
			mounts = append(mounts, fmt.Sprintf("%s/%s=%s", m.Pod.Namespace, m.Pod.Name, m.Hours))
		}
		got = append(got, claim{c.Ref.Namespace + "/" + c.Ref.Name, c.Class, c.Claimed.String(), strings.Join(mounts, " "), c.Unmounted.String()})
	}
	want := []claim{
		{"other/alone", "", "5368709120", "", "1"},
		{"other/data", "", "3221225472", "other/web-1=1", "0"}, // its volume says that it is another's
		{"shop/data", "fast", "2147483648", "shop/starts=0.333333333334 shop/web-1=0.333333333333 shop/web-10=0.333333333333", "0"},
		{"shop/web-10-cache", "slow", "524288000", "shop/web-10=1", "0"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("claims\n%v, want\n%v", got, want)
	}
}

// A later object replaces an earlier one: a pod that has ended is out, a Service that
// is no load balancer any more, too.
func TestCollectorReplaces(t *testing.T) {
	var c metrics.Collector
	for _, o := range parse(t, false, world) {
		c.Add(o)
	}
	for _, o := range parse(t, false, `{kind: Pod, metadata: {namespace: shop, name: web-1, uid: u1}, spec: {nodeName: n1, containers: [{name: c}]}, status: {phase: Succeeded}}
---
{kind: Pod, metadata: {namespace: shop, name: web-10, uid: new}, spec: {nodeName: n2, containers: [{name: c}]}, status: {phase: Running}}
---
{kind: Service, metadata: {namespace: shop, name: front}, spec: {type: ClusterIP}}
---
{kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data}, spec: {volumeName: pv-1}, status: {phase: Lost}}`) {
		c.Add(o)
	}
	r := c.Report(now, metrics.ReportOptions{Keep: func(o object.Ref) bool { return o.Namespace == "shop" }})
	if len(r.Pods) != 2 || r.Pods[1].UID != "new" || r.Pods[1].Requested.Value(metrics.CPU).String() != "0" || len(r.LoadBalancers) != 0 || len(r.Claims) != 1 {
		t.Errorf("%+v", r)
	}
}

// What is not kept still has its part of what it mounts.
func TestKeepDoesNotInflate(t *testing.T) {
	var c metrics.Collector
	for _, o := range parse(t, false, world) {
		c.Add(o)
	}
	r := c.Report(now, metrics.ReportOptions{Keep: func(o object.Ref) bool { return o.Name == "data" || o.Name == "web-10" }})
	if len(r.Pods) != 1 || len(r.Claims) != 2 || len(r.Claims[1].Mounts) != 3 || r.Claims[1].Mounts[2].Hours.String() != "0.333333333333" {
		t.Errorf("%+v", r)
	}
}

// The hours of the mounts of a claim add up, whatever their number.
func TestHoursOfMountsAddUp(t *testing.T) {
	for n := 1; n <= 200; n++ {
		var c metrics.Collector
		c.Add(parse(t, false, `{kind: PersistentVolumeClaim, metadata: {namespace: s, name: d}, status: {phase: Bound, capacity: {storage: 1Gi}}}`)[0])
		for i := range n {
			pod := &corev1.Pod{}
			pod.Spec.NodeName = "n"
			pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "d"}}}}
			c.Add(object.Object{Ref: podRef("s", fmt.Sprint(i)), Body: pod})
		}
		claim := c.Report(now, metrics.ReportOptions{}).Claims[0]
		sum, least, most := claim.Unmounted, claim.Mounts[0].Hours, claim.Mounts[0].Hours
		for _, m := range claim.Mounts {
			sum, least, most = sum.Add(m.Hours), decimal.Min(least, m.Hours), decimal.Max(most, m.Hours)
		}
		if !sum.Equal(claim.Hours) || len(claim.Mounts) != n || most.Sub(least).GreaterThan(decimal.New(1, -12)) {
			t.Errorf("%d mounts: %s of %s hours, from %s to %s", n, sum, claim.Hours, least, most)
		}
	}
}

const devices = `{kind: Pod, metadata: {namespace: ml, name: a, uid: ua}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}
---
{kind: Pod, metadata: {namespace: ml, name: b, uid: ub}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}
---
{kind: Pod, metadata: {namespace: ml, name: done, uid: ud}, spec: {nodeName: n1, containers: [{name: c}]}, status: {phase: Succeeded}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: ml, name: shared}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 3}}, {name: any, firstAvailable: [{name: big, deviceClassName: big.example.com}, {name: small, deviceClassName: small.example.com}]}]}}, status: {allocation: {devices: {results: [{request: gpu, driver: d, pool: p, device: "0"}, {request: gpu, driver: d, pool: p, device: "1"}, {request: gpu, driver: d, pool: p, device: "2"}, {request: any/small, driver: d, pool: p, device: "3"}]}}, reservedFor: [{resource: pods, name: b, uid: ub}, {resource: pods, name: a, uid: ua}, {resource: pods, name: done, uid: ud}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: ml, name: watches}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}, status: {allocation: {devices: {results: [{request: gpu, driver: d, pool: p, device: "0", adminAccess: true}]}}, reservedFor: [{resource: pods, name: a, uid: ua}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: ml, name: of-scheduler, annotations: {resource.kubernetes.io/extended-resource-claim: "true"}}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}, status: {allocation: {devices: {results: [{request: gpu, driver: d, pool: p, device: "4"}]}}, reservedFor: [{resource: pods, name: a, uid: ua}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: ml, name: waits}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}`

// TestDevices has pods that hold devices by ResourceClaims: each device counts once, by its class, at
// an instant and as what only the specs of pods request in a window.
func TestDevices(t *testing.T) {
	for _, untyped := range []bool{false, true} {
		var c metrics.Collector
		for _, o := range parse(t, untyped, devices) {
			c.Add(o)
		}
		instant, window := c.Report(now, metrics.ReportOptions{}), c.Window(now.Add(-time.Hour), now, metrics.ReportOptions{})
		for i, want := range []string{"2 ", "1 1"} {
			for _, pod := range []metrics.Pod{instant.Pods[i], window.Pods[i]} {
				if got := pod.Requested.Text("deviceclass.resource.kubernetes.io/gpu.example.com") + " " + pod.Requested.Text("deviceclass.resource.kubernetes.io/small.example.com"); got != want {
					t.Errorf("%s holds %q, want %q", pod.Ref, got, want)
				}
			}
			has(t, "CPU", instant.Pods[i].Requested, metrics.CPU, "1")
			has(t, "CPU of containers in a window", window.Pods[i].Requested, metrics.CPU, "")
		}
		if got := fmt.Sprint(c.Resources()); got != "[deviceclass.resource.kubernetes.io/gpu.example.com deviceclass.resource.kubernetes.io/small.example.com]" {
			t.Errorf("resources %s", got)
		}
	}
}

// The order in which objects come, and from how many sides, makes no difference.
func TestCollectorInAnyOrder(t *testing.T) {
	objects := parse(t, false, world)
	read := func() *metrics.UsageReport {
		var c metrics.Collector
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		var wg sync.WaitGroup
		for _, o := range objects {
			wg.Go(func() { c.Add(o) })
		}
		wg.Wait()
		return c.Report(now, metrics.ReportOptions{})
	}
	first := fmt.Sprintf("%+v", read())
	for range 20 {
		if got := fmt.Sprintf("%+v", read()); got != first {
			t.Fatalf("another order:\n%s, and first\n%s", got, first)
		}
	}
}

func TestWindowOfWhatIsThere(t *testing.T) {
	var c metrics.Collector
	for _, o := range parse(t, false, world) {
		c.Add(o)
	}
	r := c.Window(now.Add(-90*time.Minute), now, metrics.ReportOptions{})
	if r.Instant() || r.Hours.String() != "1.5" || len(r.Pods) != 7 || len(r.Claims) != 5 || len(r.Nodes) != 2 || r.Nodes[0].Capacity != nil || len(r.LoadBalancers) != 1 || !r.LoadBalancers[0].Hours.IsZero() {
		t.Errorf("%+v", r)
	}
	for _, p := range r.Pods {
		// What one requests as a whole, or for its init containers, no history knows.
		if len(p.Requested) != 0 != (p.Ref.Name == "web-10") || !p.Hours.IsZero() {
			t.Errorf("%s: %+v", p.Ref, p)
		}
	}
}

// Of what was read as metadata only, nothing is known.
func TestCollectorOfMetadata(t *testing.T) {
	var c metrics.Collector
	c.Add(object.Object{Ref: podRef("s", "a"), Body: &corev1.Secret{}})
	c.Add(object.Object{Ref: object.Ref{Group: "example.com", Kind: "Pod", Namespace: "s", Name: "b"}, Body: &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}})
	if r := c.Report(now, metrics.ReportOptions{}); len(r.Pods) != 0 {
		t.Errorf("%+v", r.Pods)
	}
}

// manyPods are pods of 1,000 templates, of two containers and a claim each.
func manyPods(n int) []object.Object {
	out := make([]object.Object, 0, n)
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for i := range n {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name, pod.UID = fmt.Sprintf("ns-%d", i%100), fmt.Sprintf("web-%d", i), types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
		pod.Spec.NodeName, pod.Status.Phase = fmt.Sprintf("node-%d", i%200), corev1.PodRunning
		pod.Spec.Containers = []corev1.Container{
			{Name: "web", Resources: corev1.ResourceRequirements{Requests: list(fmt.Sprintf("%dm", 100+i%1000), "128Mi"), Limits: list("2", "256Mi")}},
			{Name: "proxy", Resources: corev1.ResourceRequirements{Requests: list("10m", "32Mi")}},
		}
		for _, c := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, AllocatedResources: c.Resources.Requests, Resources: &c.Resources})
		}
		pod.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprintf("data-%d", i)}}}}
		out = append(out, object.Object{Ref: podRef(pod.Namespace, pod.Name), Version: "v1", Meta: pod, Body: pod})
	}
	return out
}

func BenchmarkCollector(b *testing.B) {
	pods := manyPods(10000)
	b.ReportAllocs()
	for b.Loop() {
		var c metrics.Collector
		for _, o := range pods {
			c.Add(o)
		}
	}
}

func BenchmarkReading(b *testing.B) {
	var c metrics.Collector
	for _, o := range manyPods(10000) {
		c.Add(o)
	}
	b.ReportAllocs()
	for b.Loop() {
		metrics.Settle(c.Report(now, metrics.ReportOptions{}))
	}
}

// 10,000 pods are kept in a few megabytes.
func TestCollectorIsSmall(t *testing.T) {
	pods := manyPods(10000)
	held := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	c := &metrics.Collector{}
	for _, o := range pods {
		c.Add(o)
	}
	after := held()
	const most = 8 << 20
	if got := int64(after) - int64(before); got > most {
		t.Errorf("%d bytes are kept of %d pods, want at most %d", got, len(pods), most)
	} else {
		t.Logf("%d bytes a pod", got/int64(len(pods)))
	}
	runtime.KeepAlive(pods)
	runtime.KeepAlive(c)
}

func TestSettle(t *testing.T) {
	d := decimal.RequireFromString
	amounts := func(cpu, memory string) metrics.Amounts {
		a := metrics.Amounts{}
		if cpu != "" {
			a.Set(metrics.CPU, d(cpu))
		}
		if memory != "" {
			a.Set(metrics.Memory, d(memory))
		}
		return a
	}
	r := &metrics.UsageReport{To: now, Pods: []metrics.Pod{
		{UID: types.UID("more used"), Used: amounts("2", "10"), Requested: amounts("1", "20"), Unmeasured: "no sample yet"},
		{UID: "not measured", Requested: amounts("1", "0")},
		{UID: "known why", Requested: amounts("0", "0"), Unmeasured: "no sample yet"},
		{UID: "half", Used: amounts("", "5"), Requested: amounts("1", "0")},
		{UID: "devices", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Ephemeral: d("5")}), Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"nvidia.com/gpu": d("2"), metrics.CPU: d("0"), metrics.Ephemeral: d("9")})},
	}, Notes: []metrics.Note{{Source: "b", Reason: "x"}, {Source: "a", Reason: "x"}, {Source: "b", Reason: "x"}}}
	metrics.Settle(r)
	for i, want := range []string{"", "not measured", "no sample yet", "its CPU is not measured", "not measured"} {
		if p := &r.Pods[i]; p.Unmeasured != want {
			t.Errorf("%s: %q, want %q", p.UID, p.Unmeasured, want)
		}
	}
	if len(r.Notes) != 2 || r.Notes[0].Source != "a" {
		t.Errorf("notes %+v", r.Notes)
	}
}
