package logs

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func podOf(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

var ref = object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}

func collected(t *testing.T, pod *corev1.Pod) []Container {
	t.Helper()
	var c Collector
	c.Add(object.Object{Ref: ref, Version: "v1", Meta: pod, Body: pod})
	return c.Of(ref)
}

func TestContainersAreInOrder(t *testing.T) {
	pod := podOf(t, `
metadata: {name: web, namespace: shop, uid: u1}
spec:
  nodeName: node-0
  initContainers:
  - {name: prepare, image: x}
  - {name: proxy, image: x, restartPolicy: Always}
  containers: [{name: web, image: x}, {name: exporter, image: x}]
  ephemeralContainers: [{name: debugger, image: x}]
status: {phase: Running}
`)
	want := []Container{{Name: "prepare", Role: Init}, {Name: "proxy"}, {Name: "web"}, {Name: "exporter"}, {Name: "debugger", Role: Ephemeral}}
	got := collected(t, pod)
	if len(got) != len(want) {
		t.Fatalf("containers %+v", got)
	}
	for i, c := range got {
		if c.Name != want[i].Name || c.Role != want[i].Role || c.Namespace != "shop" || c.Pod != "web" || c.UID != "u1" || c.Node != "node-0" {
			t.Errorf("container %d: %+v, want %+v", i, c, want[i])
		}
	}
}

// What the kubelet says of a container's log, as its own checks have it.
func TestStates(t *testing.T) {
	at := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, spec, status string
		want               Container
	}{
		{
			"runs", "nodeName: n", `{phase: Running, containerStatuses: [{name: web, containerID: "x://1", state: {running: {startedAt: "2026-11-15T09:00:00Z"}}}]}`,
			Container{Instance: "x://1", Running: true, Started: at},
		},
		{
			"runs again", "nodeName: n", `{phase: Running, containerStatuses: [{name: web, restartCount: 1, containerID: "x://2", state: {running: {startedAt: "2026-11-15T09:00:00Z"}}, lastState: {terminated: {exitCode: 1, containerID: "x://1"}}}]}`,
			Container{Instance: "x://2", Running: true, Started: at, Restarted: true},
		},
		{
			"has no ID", "nodeName: n", `{phase: Running, containerStatuses: [{name: web, restartCount: 3, state: {running: {}}}]}`,
			Container{Instance: "run 3", Running: true},
		},
		{
			"crashed, and waits", "nodeName: n", `{phase: Running, containerStatuses: [{name: web, restartCount: 1, containerID: "x://1", state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, containerID: "x://1", startedAt: "2026-11-15T09:00:00Z"}}}]}`,
			Container{Instance: "x://1", Started: at, Restarted: true},
		},
		{
			"ended", "nodeName: n", `{phase: Succeeded, containerStatuses: [{name: web, containerID: "x://1", state: {terminated: {exitCode: 0, containerID: "x://1", startedAt: "2026-11-15T09:00:00Z"}}}]}`,
			Container{Instance: "x://1", Started: at, Ended: "Succeeded"},
		},
		{
			"is made", "nodeName: n", `{phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ImagePullBackOff}}}]}`,
			Container{Waiting: "ImagePullBackOff"},
		},
		{"waits without a word", "nodeName: n", `{phase: Pending, containerStatuses: [{name: web, state: {waiting: {}}}]}`, Container{Waiting: noWord}},
		{"is not scheduled", "", `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}`, Container{Waiting: "Unschedulable"}},
		{"is new", "", `{phase: Pending}`, Container{Waiting: notScheduled}},
		{"is new on its node", "nodeName: n", `{phase: Pending}`, Container{Waiting: noWord}},
		{"was evicted before it ran", "nodeName: n", `{phase: Failed, reason: Evicted}`, Container{Waiting: "the pod has ended: Failed: Evicted", Ended: "Failed: Evicted"}},
		{"runs without a status", "nodeName: n", `{phase: Running}`, Container{Instance: "run", Running: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := podOf(t, "metadata: {name: web, namespace: shop}\nspec:\n  containers: [{name: web, image: x}]\n  "+c.spec+"\nstatus: "+c.status)
			got := collected(t, pod)
			if len(got) != 1 {
				t.Fatalf("containers %+v", got)
			}
			c.want.Namespace, c.want.Pod, c.want.Name, c.want.Node = "shop", "web", "web", pod.Spec.NodeName
			got[0].Started = got[0].Started.UTC()
			if c.want.Started.IsZero() {
				got[0].Started = time.Time{}
			}
			if got[0] != c.want {
				t.Errorf("got  %+v\nwant %+v", got[0], c.want)
			}
		})
	}
}

// A pod is read as a type, as maps, or as metadata; and replaced when it comes again.
func TestCollectorTakesWhatItGets(t *testing.T) {
	var c Collector
	fields := map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "web"}, map[string]any{"name": "log"}}},
	}
	u := &unstructured.Unstructured{Object: fields}
	c.Add(object.Object{Ref: ref, Meta: u, Body: u})
	if got := c.Of(ref); len(got) != 2 || got[1].Name != "log" || got[1].Waiting != notScheduled {
		t.Errorf("as maps: %+v", got)
	}
	pod := podOf(t, "metadata: {name: web, namespace: shop}\nspec: {containers: [{name: other, image: x}]}")
	c.Add(object.Object{Ref: ref, Meta: pod, Body: pod})
	if got := c.Of(ref); len(got) != 1 || got[0].Name != "other" {
		t.Errorf("a second time: %+v", got)
	}
	meta := &metav1.PartialObjectMetadata{}
	for _, r := range []object.Ref{{Kind: "Pod", Namespace: "shop", Name: "unknown"}, {Group: "x.io", Kind: "Pod", Namespace: "shop", Name: "web"}} {
		c.Add(object.Object{Ref: r, Meta: meta, Body: meta})
		if got := c.Of(r); len(got) != 0 {
			t.Errorf("%v: %+v", r, got)
		}
	}
}

// A node that is not ready makes its containers lost, until it is.
func TestLostNodes(t *testing.T) {
	var c Collector
	pod := podOf(t, "metadata: {name: web, namespace: shop}\nspec: {nodeName: node-0, containers: [{name: web, image: x}]}")
	c.Add(object.Object{Ref: ref, Meta: pod, Body: pod})
	for _, s := range []struct {
		conditions []corev1.NodeCondition
		want       string
	}{
		{nil, ""},
		{[]corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}, "node node-0 is not ready: NodeStatusUnknown"},
		{[]corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}, "node node-0 is not ready"},
		{[]corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue}}, ""},
	} {
		node := &corev1.Node{Status: corev1.NodeStatus{Conditions: s.conditions}}
		node.Name = "node-0"
		c.Add(object.Object{Ref: object.Ref{Kind: "Node", Name: "node-0"}, Meta: node, Body: node})
		if got := c.Of(ref); len(got) != 1 || got[0].Lost != s.want {
			t.Errorf("%v: %+v", s.conditions, got)
		}
	}
}

// Without a name, the container is the one that kubectl logs takes, if it has a log.
func TestChosenContainer(t *testing.T) {
	all := []Container{{Name: "prepare", Role: Init, Instance: "1"}, {Name: "web"}, {Name: "sidecar"}}
	for _, c := range []struct{ name, byDefault, want string }{{"", "", "prepare"}, {"sidecar", "", "sidecar"}, {"", "web", "web"}, {"none", "", ""}} {
		got := chosen(all, c.name, c.byDefault)
		if (got == nil) != (c.want == "") || got != nil && got.Name != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	all[2].Instance = "1"
	if got := chosen(all, "", ""); got.Name != "sidecar" {
		t.Errorf("%+v", got)
	}
}
