//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

const ruleInterval = 300 // seconds

// history is what a server scraped of pods: it ends with yesterday.
type history struct {
	to    time.Time
	from  int64 // seconds
	every int64
	ramps []cluster.Ramp
}

// history describes the series of the pods and nodes that windows are about, as the kubelets and
// kube-state-metrics have them, with two hours before the window. If they are recorded, the series
// of recording rules replace those that are summed.
func (b *bench) history(ctx context.Context, recorded bool) (*history, error) {
	client, err := kubernetes.NewForConfig(b.cluster.Config())
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	h := &history{to: time.Now().UTC().Truncate(24 * time.Hour), every: scrape}
	h.from = h.to.AddDate(0, 0, -b.days).Unix() - 7200
	for i := range pods.Items {
		if p := &pods.Items[i]; strings.HasPrefix(p.Namespace, windowTag) {
			h.facts(p)
			if recorded {
				h.recorded(p, i)
			} else {
				h.scraped(p, i)
			}
		}
	}
	for i := range b.nodes {
		h.node(fmt.Sprintf("node-%d", i), recorded)
	}
	if recorded {
		h.rule("steps", nil, 1)
	}
	return h, nil
}

type labels map[model.LabelName]string

// add adds a series that grows from a value, with noise.
func (h *history) add(name string, base labels, value, growth, noise float64, more ...string) {
	m := model.Metric{model.MetricNameLabel: model.LabelValue(name)}
	for k, v := range base {
		m[k] = model.LabelValue(v)
	}
	for i := 0; i < len(more); i += 2 {
		m[model.LabelName(more[i])] = model.LabelValue(more[i+1])
	}
	h.ramps = append(h.ramps, cluster.Ramp{Metric: m, Shape: cluster.RampShape{From: h.from, To: h.to.Unix(), Every: h.every, Start: value, Growth: growth, Noise: noise}})
}

func (h *history) constant(name string, base labels, value float64, more ...string) {
	h.add(name, base, value, 0, 0, more...)
}

// rule adds a series of a recording rule, with the same value at each step.
func (h *history) rule(name string, base labels, value float64, more ...string) {
	h.every = ruleInterval
	h.constant("sysop:"+name, base, value, more...)
	h.every = scrape
}

func podLabels(p *corev1.Pod) labels {
	return labels{"namespace": p.Namespace, "pod": p.Name, "uid": string(p.UID)}
}

// facts are what does not change.
func (h *history) facts(p *corev1.Pod) {
	l := podLabels(p)
	l["job"], l["instance"] = "kube-state-metrics", "10.1.1.1:8080"
	set := strings.TrimSuffix(p.Name, p.Name[strings.LastIndexByte(p.Name, '-'):])
	h.constant("kube_pod_info", l, 1, "node", p.Spec.NodeName, "host_network", "false", "created_by_kind", "ReplicaSet", "created_by_name", set, "pod_ip", "10.2.0.1", "host_ip", "10.0.0.1")
	h.constant("kube_pod_created", l, float64(h.from-86400))
	h.constant("kube_pod_owner", l, 1, "owner_kind", "ReplicaSet", "owner_name", set, "owner_is_controller", "true")
	h.constant("kube_pod_labels", l, 1, "label_app", p.Labels["app"])
	h.constant("kube_pod_container_status_running", l, 1, "container", "main")
	if strings.HasSuffix(p.Name, "-00000") {
		h.constant("kube_replicaset_owner", labels{"namespace": p.Namespace, "instance": l["instance"]}, 1, "replicaset", set, "owner_kind", "Deployment", "owner_name", p.Labels["app"])
	}
}

// scraped are the series that are summed: of a pod that uses more CPU the later it is in the list.
func (h *history) scraped(p *corev1.Pod, i int) {
	state := podLabels(p)
	state["job"], state["instance"] = "kube-state-metrics", "10.1.1.1:8080"
	for _, phase := range []string{"Pending", "Running", "Succeeded", "Failed", "Unknown"} {
		running := 0.0
		if phase == "Running" {
			running = 1
		}
		h.constant("kube_pod_status_phase", state, running, "phase", phase)
	}
	h.constant("kube_pod_start_time", state, float64(h.from-86400))
	for resource, v := range map[string]float64{"cpu": 0.01, "memory": 16 << 20} {
		h.constant("kube_pod_container_resource_requests", state, v, "container", "main", "resource", resource, "node", p.Spec.NodeName)
		h.constant("kube_pod_container_resource_limits", state, 2*v, "container", "main", "resource", resource, "node", p.Spec.NodeName)
	}
	group := "/kubepods/burstable/pod" + string(p.UID)
	kubelet := labels{"namespace": p.Namespace, "pod": p.Name, "image": "registry.example/app:1", "job": "kubelet", "instance": p.Spec.NodeName + ":10250", "metrics_path": "/metrics/cadvisor"}
	container := []string{"container", "main", "id", group + "/" + string(p.UID), "name", string(p.UID)}
	h.add("container_cpu_usage_seconds_total", kubelet, 0, 0.3+0.01*float64(i%40), 0.2, append(container, "cpu", "total")...)
	h.add("container_memory_working_set_bytes", kubelet, 5e7, 0, 1e7, container...)
	h.constant("container_start_time_seconds", kubelet, float64(h.from-86400), container...)
	h.add("container_network_receive_bytes_total", kubelet, 0, 5000, 3000, "id", group, "interface", "eth0")
	h.add("container_network_transmit_bytes_total", kubelet, 0, 5000, 3000, "id", group, "interface", "eth0")
}

// recorded are the series of the rules, for steps of five minutes.
func (h *history) recorded(p *corev1.Pod, i int) {
	l := podLabels(p)
	h.rule("pod_running", l, 5)
	h.rule("pod_network_received", l, 50000)
	h.rule("pod_network_sent", l, 50000)
	for resource, v := range map[string]float64{"cpu": 5e6 * float64(1+i%40), "memory": 5 * 5e7} {
		h.rule("pod_requested", l, v, "resource", resource)
		h.rule("pod_charged", l, v, "resource", resource)
		h.rule("container_requested", l, v, "container", "main", "resource", resource)
		h.rule("container_limited", l, 2*v, "container", "main", "resource", resource)
		h.rule("container_"+resource+"_used", l, v, "container", "main")
	}
}

func (h *history) node(name string, recorded bool) {
	l := labels{"node": name}
	h.constant("kube_node_info", l, 1, "provider_id", "bench://"+name)
	if recorded {
		h.rule("node_capacity", l, 1)
	}
	for resource, v := range map[string]float64{"cpu": 64, "memory": 256 << 30, "ephemeral_storage": 200 << 30, "pods": 110} {
		if recorded {
			h.rule("node_capacity", l, v, "resource", resource)
		} else {
			h.constant("kube_node_status_capacity", l, v, "resource", resource)
		}
	}
}
