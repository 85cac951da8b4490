package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	stats "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// Annotations on a pod that say what it uses. The first two are kwok's, and
// what metrics-server reports; kwok counts them for each container, here they
// are of the whole pod. Volume annotations end in the volume's name.
const (
	usageCPU       = "kwok.x-k8s.io/usage-cpu"
	usageMemory    = "kwok.x-k8s.io/usage-memory"
	received       = "kwok.x-k8s.io/net-rx"
	transmitted    = "kwok.x-k8s.io/net-tx"
	volumeUsed     = "kwok.x-k8s.io/volume-used-"
	volumeCapacity = "kwok.x-k8s.io/volume-capacity-"
	ephemeralUsed  = "kwok.x-k8s.io/ephemeral-used"
)

// summarize is what a kubelet would answer for the node with these pods. Only
// running pods count. The node uses the sum of its pods. A pod on the network of its
// host sees the traffic of the whole node, its own included.
func summarize(node string, pods []corev1.Pod, now metav1.Time) *stats.Summary {
	s := &stats.Summary{Node: stats.NodeStats{NodeName: node, StartTime: now}}
	var cpu, memory, rx, tx uint64
	for i := range pods {
		p := &pods[i]
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		ps := podStats(p, now)
		s.Pods = append(s.Pods, ps)
		cpu += *ps.CPU.UsageNanoCores
		memory += *ps.Memory.WorkingSetBytes
		rx += *ps.Network.RxBytes
		tx += *ps.Network.TxBytes
	}
	s.Node.CPU = cpuStats(cpu, now, now)
	s.Node.Memory = memoryStats(memory, now)
	s.Node.Network = networkStats(rx, tx, now)
	host := map[string]bool{}
	for i := range pods {
		host[string(pods[i].UID)] = pods[i].Spec.HostNetwork
	}
	for i := range s.Pods {
		if host[s.Pods[i].PodRef.UID] {
			s.Pods[i].Network = s.Node.Network
		}
	}
	return s
}

func podStats(p *corev1.Pod, now metav1.Time) stats.PodStats {
	start := p.CreationTimestamp
	nano := quantity(p, usageCPU, "1m", resource.Nano)
	memory := quantity(p, usageMemory, "1Mi", 0)
	ps := stats.PodStats{
		PodRef:    stats.PodReference{Name: p.Name, Namespace: p.Namespace, UID: string(p.UID)},
		StartTime: start,
		CPU:       cpuStats(nano, start, now),
		Memory:    memoryStats(memory, now),
		Network:   networkStats(quantity(p, received, "1000", 0), quantity(p, transmitted, "500", 0), now),
	}
	ephemeral := quantity(p, ephemeralUsed, "64Ki", 0)
	ps.EphemeralStorage = &stats.FsStats{Time: now, UsedBytes: &ephemeral}
	n := uint64(max(len(p.Spec.Containers), 1))
	for _, c := range p.Spec.Containers {
		ps.Containers = append(ps.Containers, stats.ContainerStats{
			Name: c.Name, StartTime: start, CPU: cpuStats(nano/n, start, now), Memory: memoryStats(memory/n, now),
		})
	}
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			ps.VolumeStats = append(ps.VolumeStats, volumeStats(p, v.Name, v.PersistentVolumeClaim.ClaimName, now))
		}
	}
	return ps
}

func volumeStats(p *corev1.Pod, name, claim string, now metav1.Time) stats.VolumeStats {
	used := quantity(p, volumeUsed+name, "100Mi", 0)
	capacity := quantity(p, volumeCapacity+name, "1Gi", 0)
	available := capacity - min(used, capacity)
	return stats.VolumeStats{
		Name:    name,
		PVCRef:  &stats.PVCReference{Name: claim, Namespace: p.Namespace},
		FsStats: stats.FsStats{Time: now, CapacityBytes: &capacity, UsedBytes: &used, AvailableBytes: &available},
	}
}

func cpuStats(nano uint64, since, now metav1.Time) *stats.CPUStats {
	total := uint64(now.Sub(since.Time).Seconds()) * nano
	return &stats.CPUStats{Time: now, UsageNanoCores: &nano, UsageCoreNanoSeconds: &total}
}

func memoryStats(bytes uint64, now metav1.Time) *stats.MemoryStats {
	return &stats.MemoryStats{Time: now, UsageBytes: &bytes, WorkingSetBytes: &bytes, RSSBytes: &bytes}
}

func networkStats(rx, tx uint64, now metav1.Time) *stats.NetworkStats {
	return &stats.NetworkStats{Time: now, InterfaceStats: stats.InterfaceStats{Name: "eth0", RxBytes: &rx, TxBytes: &tx}}
}

// quantity is the annotation's value at the given scale; the fallback where
// it is missing or not a quantity.
func quantity(p *corev1.Pod, annotation, fallback string, scale resource.Scale) uint64 {
	q, err := resource.ParseQuantity(p.Annotations[annotation])
	if err != nil {
		q = resource.MustParse(fallback)
	}
	return uint64(q.ScaledValue(scale))
}
