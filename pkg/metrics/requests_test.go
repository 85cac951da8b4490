package metrics

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// vector is a case of testdata/effective-requests.json, which names its source.
type vector struct {
	Name         string
	Init         []vectorContainer
	Containers   []vectorContainer
	Overhead     map[string]string
	PodResources map[string]string `json:"podResources"`
	UseStatus    *bool             `json:"useStatus"`
	Condition    string
	Expect       map[string]string
}

type vectorContainer map[string]any

func listOf(t *testing.T, m map[string]string) corev1.ResourceList {
	t.Helper()
	if m == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range m {
		out[corev1.ResourceName(name)] = resource.MustParse(q)
	}
	return out
}

// add puts a container of a vector into a pod, and its status beside it.
func (v vectorContainer) add(t *testing.T, name string, into *[]corev1.Container, statuses *[]corev1.ContainerStatus) {
	t.Helper()
	c, status := corev1.Container{Name: name}, corev1.ContainerStatus{Name: name}
	requests := map[string]string{}
	for key, value := range v {
		switch value := value.(type) {
		case string:
			if key == "restartPolicy" {
				policy := corev1.ContainerRestartPolicy(value)
				c.RestartPolicy = &policy
			} else {
				requests[key] = value
			}
		case map[string]any:
			list := map[string]string{}
			for k, q := range value {
				list[k] = q.(string)
			}
			if key == "status_allocated" {
				status.AllocatedResources = listOf(t, list)
			} else {
				status.Resources = &corev1.ResourceRequirements{Requests: listOf(t, list)}
			}
		}
	}
	c.Resources.Requests = listOf(t, requests)
	*into, *statuses = append(*into, c), append(*statuses, status)
}

func (v vector) pod(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Spec.Overhead = listOf(t, v.Overhead)
	if v.PodResources != nil {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: listOf(t, v.PodResources)}
	}
	for i, c := range v.Init {
		c.add(t, "init-"+string(rune('a'+i)), &pod.Spec.InitContainers, &pod.Status.InitContainerStatuses)
	}
	for i, c := range v.Containers {
		c.add(t, "main-"+string(rune('a'+i)), &pod.Spec.Containers, &pod.Status.ContainerStatuses)
	}
	if v.Condition == "PodResizePending/Infeasible" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible, Status: corev1.ConditionTrue}}
	}
	return pod
}

func TestEffectiveRequests(t *testing.T) {
	text, err := os.ReadFile("testdata/effective-requests.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) < 13 {
		t.Fatalf("%d cases: %v", len(file.Cases), err)
	}
	var c Collector // All pods come to one, which knows those of one template again.
	for _, v := range file.Cases {
		t.Run(v.Name, func(t *testing.T) {
			pod := v.pod(t)
			if v.UseStatus != nil && !*v.UseStatus {
				// A pod of which no status is known says the same.
				pod.Status = corev1.PodStatus{}
			}
			for range 2 {
				got := c.reservedBy(pod).requested
				for _, name := range []Resource{CPU, Memory} {
					want := decimal.Decimal{}
					if q, ok := v.Expect[string(name)]; ok {
						want = exactly(resource.MustParse(q))
					}
					if !got.Value(name).Equal(want) {
						t.Errorf("%s: %s, want %s", name, got.Value(name), want)
					}
				}
			}
		})
	}
}

func TestExactly(t *testing.T) {
	for text, want := range map[string]string{
		"146648300n": "0.1466483", "1n": "0.000000001", "500m": "0.5", "0": "0", "4": "4", "1Ki": "1024", "407491Ki": "417270784",
		"1.5Gi": "1610612736", "500Mi": "524288000", "0.1": "0.1", "1e3": "1000", "-1": "-1", "100E": "100000000000000000000", "12345678901234567890123": "12345678901234567890123",
	} {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := exactly(q); got.String() != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := exactly(resource.Quantity{}); !got.IsZero() {
		t.Errorf("nothing: %s", got)
	}
}

// TestTemplates has pods whose names of containers begin as what tells their kinds apart: what
// one reserves must not be what is kept of the other. Kubernetes: an init container that
// restarts always is a sidecar, and adds to the request (KEP-753); another one does not.
func TestTemplates(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	cpu := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	pod := func(name string, policy *corev1.ContainerRestartPolicy) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: name, RestartPolicy: policy, Resources: cpu}},
			Containers:     []corev1.Container{{Name: "c", Resources: cpu}},
		}}
	}
	c := &Collector{}
	c.addPod(object.Ref{Kind: "Pod", Namespace: "a", Name: "init"}, pod("sx", nil))
	c.addPod(object.Ref{Kind: "Pod", Namespace: "a", Name: "sidecar"}, pod("x", &always))
	r := c.Report(time.Unix(0, 0), ReportOptions{Containers: true})
	equal(t, "with an init container sx", r.Pods[0].Requested.Value(CPU), "1")
	equal(t, "with a sidecar x", r.Pods[1].Requested.Value(CPU), "2")
}
