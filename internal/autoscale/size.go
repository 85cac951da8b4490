package autoscale

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Headroom above the peak: of a window, of a moment (whose peak is unknown), and of requests.
const (
	windowHeadroom  = 1.5
	momentHeadroom  = 3.0
	requestHeadroom = 1.2
)

// Requests are rounded up to these steps.
const (
	cpuStep    = 10       // millicores
	memoryStep = 16 << 20 // bytes
)

// size computes a proposal from usage and settings, or refuses it.
func (p *planner) size(app *App, r *Proposal) *Refusal {
	s := app.Settings
	explicit := s.Max > 0
	claim := p.State.PinningClaim(r.workload)
	switch {
	case claim != nil && explicit:
		return sharedClaim(claim.Name)
	case claim != nil:
		p.recommend(r, pinnedBy(claim.Name))
		return nil
	case r.workload.Ref.Kind == "StatefulSet" && !explicit:
		p.recommend(r, "a StatefulSet keeps state, which more pods do not divide: its requests are recommended (max in the manifest of a System scales it all the same)")
		return nil
	}
	r.CPU, r.Memory = targets(s, p.Defaults)
	if refusal := p.unrequested(r); refusal != nil {
		return refusal
	}
	usage, known := p.Usage[r.workload.Ref]
	if !known && !explicit && r.Exists != (object.Ref{}) {
		return &Refusal{Reason: "Usage", Message: "its usage is unknown now, and " + short(r.Exists) + " would be deleted", Hint: "run it again when usage is known, or write min and max in the manifest of a System"}
	}
	if !known && !explicit {
		r.Scaler, r.CPU, r.Memory = None, 0, 0
		r.Reasons = append(r.Reasons, "its usage is unknown: --prometheus and --window read it, or autoscaling: {min, max} in the manifest of a System says the numbers")
		return nil
	}
	if r.Target != r.workload.Ref {
		r.Reasons = append(r.Reasons, fmt.Sprintf("it counts the pods by the selector in the status of %s: its CRD must have labelSelectorPath, else autoscale status shows the error", short(r.Target)))
	}
	r.Scaler, r.Stabilization = Horizontal, int(p.Stabilization/time.Second)
	p.bounds(r, usage, known, s.Min, s.Max)
	return nil
}

// targets are the utilizations of an app. That of CPU has a default.
func targets(own system.AppAutoscaling, defaults system.Autoscaling) (cpu, memory int) {
	return cmp.Or(own.CPU, defaults.CPU, DefaultCPU), cmp.Or(own.Memory, defaults.Memory)
}

// bounds computes the least, the usual and the most replicas.
func (p *planner) bounds(r *Proposal, u Usage, known bool, least, most int) {
	floor, because := p.floor(r)
	r.Min, r.Usual, r.Max = floor, floor, floor
	headroom := momentHeadroom
	if p.Window {
		headroom = windowHeadroom
	}
	requests := requestsOf(r.workload)
	if known {
		for _, m := range []struct {
			name     string
			percent  int
			request  int64
			use      Percentiles
			quantity func(int64) string
		}{{"CPU", r.CPU, requests.CPU, u.CPU, cpuText}, {"memory", r.Memory, requests.Memory, u.Memory, memoryText}} {
			if m.percent == 0 {
				continue
			}
			pod := float64(m.request) * float64(m.percent) / 100
			need := func(used float64) int { return int(math.Ceil(used/pod - 1e-9)) }
			usual, peak := need(float64(m.use.Usual)), need(float64(m.use.Peak)*headroom)
			r.Min, r.Usual, r.Max = max(r.Min, usual), max(r.Usual, usual), max(r.Max, peak)
			r.Reasons = append(r.Reasons, fmt.Sprintf("%s: usual %s needs %d of %s x %d%%; peak %s x %g needs %d (%s)",
				m.name, m.quantity(m.use.Usual), usual, m.quantity(m.request), m.percent, m.quantity(m.use.Peak), headroom, peak, p.Source))
		}
		r.Max = max(r.Max, r.Min+1)
		if r.Exists == (object.Ref{}) {
			r.Max = max(r.Max, r.Replicas)
		}
	}
	r.Reasons = append(r.Reasons, fmt.Sprintf("min %d: at least %d, since %s", r.Min, floor, because))
	if most > 0 {
		r.Max = most
		r.Min = min(r.Min, most)
		r.Reasons = append(r.Reasons, fmt.Sprintf("max %d: the manifest says it", most))
	}
	if least > 0 {
		r.Min, r.Max = least, max(r.Max, least)
		r.Reasons = append(r.Reasons, fmt.Sprintf("min %d: the manifest says it", least))
	}
	r.Usual = min(max(r.Usual, r.Min), r.Max)
}

// floor is the least number of replicas, and why.
func (p *planner) floor(r *Proposal) (int, string) {
	for _, pdb := range p.budgets(r.workload) {
		return 2, fmt.Sprintf("PodDisruptionBudget/%s protects it", pdb.Name)
	}
	// What our scaler decides now says nothing about how many replicas a user wants.
	least, scaled := p.minOf(r.Exists)
	switch {
	case least > 1:
		return 2, short(r.Exists) + " has several as well"
	case scaled:
		return 1, short(r.Exists) + " may go down to it as well"
	case r.Replicas > 1:
		return 2, fmt.Sprintf("it has %d replicas now", r.Replicas)
	}
	return 1, "it has 1 replica now"
}

// minOf is the least number of replicas of a scaler of ours; false for none.
func (p *planner) minOf(scaler object.Ref) (int64, bool) {
	if h, ok := check.Of[*autoscalingv2.HorizontalPodAutoscaler](p.State.Facts, scaler); ok && h.Spec.MinReplicas != nil {
		return int64(*h.Spec.MinReplicas), true
	}
	least, _, _ := unstructured.NestedInt64(p.Fields(scaler), "spec", "minReplicaCount")
	// A VerticalPodAutoscaler says nothing about replicas.
	return least, scaler.Kind == "ScaledObject" || scaler.Kind == "HorizontalPodAutoscaler"
}

// budgets are the disruption budgets of the pods of a workload.
func (p *planner) budgets(wl *check.Workload) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	gk := schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	for _, pod := range wl.Pods {
		for _, ref := range p.State.Serving(object.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, gk) {
			if pdb, ok := check.Of[*policyv1.PodDisruptionBudget](p.State.Facts, ref); ok && !slices.Contains(out, pdb) {
				out = append(out, pdb)
			}
		}
	}
	return out
}

// recommend proposes requests where more pods do not help.
func (p *planner) recommend(r *Proposal, reason string) {
	r.Scaler, r.Reasons = Recommendation, append(r.Reasons, reason)
	if _, served := p.State.Kinds.Kind(verticalKind); served {
		r.Scaler = Vertical
	}
	r.Requests = p.requests(r.workload)
	switch {
	case len(r.Requests) > 0:
		r.Reasons = append(r.Reasons, fmt.Sprintf("requests: the usage of a pod at its peak x %g (%s)", requestHeadroom, p.Source))
	case r.Scaler == Recommendation:
		r.Scaler = None
		r.Reasons = append(r.Reasons, "its usage is unknown, and the cluster serves no VerticalPodAutoscaler")
	}
}

// missingRequests are those that the target utilizations of a proposal need.
func missingRequests(containers []corev1.Container, r *Proposal) (missing []string) {
	for _, c := range containers {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			wanted := name == corev1.ResourceCPU && r.CPU > 0 || name == corev1.ResourceMemory && r.Memory > 0
			if q := requested(&c, name); wanted && q.IsZero() {
				missing = append(missing, fmt.Sprintf("%s requests no %s", c.Name, name))
			}
		}
	}
	return missing
}

func unrequested(missing []string) *Refusal {
	return &Refusal{Reason: "Requests", Message: "a utilization is a part of the requests, and its container " + strings.Join(missing, ", its container "), Hint: "set the requests first"}
}

// unrequested refuses a utilization of requests that are missing, and proposes them.
func (p *planner) unrequested(r *Proposal) *Refusal {
	missing := missingRequests(containersOf(r.workload), r)
	if len(missing) == 0 {
		return nil
	}
	refusal := unrequested(missing)
	refusal.Requests = p.requests(r.workload)
	var commands []string
	for _, q := range refusal.Requests {
		commands = append(commands, fmt.Sprintf("kubectl set resources %s/%s -n %s -c %s --requests=cpu=%s,memory=%s", strings.ToLower(r.workload.Ref.Kind), r.workload.Ref.Name, r.workload.Ref.Namespace, q.Container, q.CPU, q.Memory))
	}
	if len(commands) > 0 {
		refusal.Hint = strings.Join(commands, "\n")
	}
	return refusal
}

// requests are those that the usage of a workload suggests; nil where its usage is unknown.
func (p *planner) requests(wl *check.Workload) []Request {
	u, known := p.Usage[wl.Ref]
	if !known || u.Pods == 0 {
		return nil
	}
	var mean Amounts
	for _, c := range u.Containers {
		mean.CPU, mean.Memory = mean.CPU+c.CPU, mean.Memory+c.Memory
	}
	// The peak is that of all pods together; a container has the same part in it as in the mean.
	rise := func(peak, mean int64) float64 {
		if mean == 0 {
			return requestHeadroom
		}
		return max(1, float64(peak)/float64(u.Pods)/float64(mean)) * requestHeadroom
	}
	up := func(n int64, factor float64, step int64) int64 {
		return max(1, int64(math.Ceil(float64(n)*factor/float64(step)))) * step
	}
	var out []Request
	for _, c := range containersOf(wl) {
		used, measured := u.Containers[c.Name]
		if !measured {
			continue
		}
		out = append(out, Request{
			Container: c.Name, CPU: cpuText(up(used.CPU, rise(u.CPU.Peak, mean.CPU), cpuStep)), Memory: memoryText(up(used.Memory, rise(u.Memory.Peak, mean.Memory), memoryStep)),
		})
	}
	return out
}

// containersOf are the containers that run beside each other in a pod.
func containersOf(wl *check.Workload) []corev1.Container {
	spec := &corev1.PodSpec{}
	switch {
	case wl.Template != nil:
		spec = &wl.Template.Spec
	case len(wl.Pods) > 0:
		spec = &wl.Pods[0].Spec
	}
	return runningContainers(spec)
}

func runningContainers(spec *corev1.PodSpec) []corev1.Container {
	out := slices.Clone(spec.Containers)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = append(out, c)
		}
	}
	return out
}

// requested is a request, or the limit that stands in its place.
func requested(c *corev1.Container, name corev1.ResourceName) resource.Quantity {
	if q, ok := c.Resources.Requests[name]; ok {
		return q
	}
	return c.Resources.Limits[name]
}

// requestsOf are those of one pod.
func requestsOf(wl *check.Workload) Amounts {
	var a Amounts
	for _, c := range containersOf(wl) {
		cpu, memory := requested(&c, corev1.ResourceCPU), requested(&c, corev1.ResourceMemory)
		a.CPU, a.Memory = a.CPU+cpu.MilliValue(), a.Memory+memory.Value()
	}
	return a
}

func cpuText(millicores int64) string {
	return resource.NewMilliQuantity(millicores, resource.DecimalSI).String()
}

// memoryText rounds down to MiB, in which people read memory.
func memoryText(bytes int64) string {
	const mebibyte = 1 << 20
	if bytes >= mebibyte {
		bytes -= bytes % mebibyte
	}
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
