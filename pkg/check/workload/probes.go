package workload

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func probeRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-readiness", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Pods behind a Service report when they are ready",
			Why:   "A container without a readiness probe counts as ready when its process has started: requests fail while it starts, and a rollout continues although the new version does not work.",
			Fix:   "Add a readinessProbe to the container that serves.",
			Stack: readiness,
		},
		{
			ID: "pod-liveness", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Long-running containers have a liveness probe",
			Why:   "A process that hangs without exiting is not restarted.",
			Fix:   "Add a livenessProbe that fails only where a restart helps; a process that exits by itself when it is stuck needs none.",
			Stack: liveness,
		},
		{
			ID: "pod-liveness-patient", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "The liveness probe fails later than the readiness probe",
			Why:   "If both probes check the same and fail at the same time, a slow container restarts instead of only receiving no requests: under load that makes it worse.",
			Fix:   "Raise failureThreshold of the livenessProbe, or let it check something simpler.",
			Stack: livenessThreshold,
		},
	}
}

// services returns the Services that send requests to the pods of a workload, without those
// that include pods that are not ready.
func services(w *check.ClusterState, wl *check.Workload) []*corev1.Service {
	var refs []object.Ref
	for _, p := range wl.Pods {
		refs = append(refs, w.Serving(check.PodRef(p), check.ServiceKind)...)
	}
	slices.SortFunc(refs, object.Compare)
	var out []*corev1.Service
	for _, ref := range slices.Compact(refs) {
		if svc, ok := check.Of[*corev1.Service](w.Facts, ref); ok && !svc.Spec.PublishNotReadyAddresses {
			out = append(out, svc)
		}
	}
	return out
}

func readiness(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		if !wl.IsLongRunning() || len(wl.Pods) == 0 {
			continue
		}
		spec := wl.Specs()[0]
		if len(spec.ReadinessGates) > 0 {
			continue // A readiness gate decides when it is ready.
		}
		bad := false
		var wrong []string
		for _, svc := range services(s.World, wl) {
			unready, severity := unreadyContainers(wl, svc)
			for _, c := range unready {
				if bad = true; slices.Contains(wrong, c.Path) {
					continue
				}
				wrong = append(wrong, c.Path)
				service := object.Ref{Kind: "Service", Namespace: svc.Namespace, Name: svc.Name}
				r.AddFinding(check.Finding{
					Severity: severity, Object: c.On, Field: c.Path + ".readinessProbe", Related: []object.Ref{service},
					Message: fmt.Sprintf("%s has no readiness probe, and %s sends it requests as soon as its process runs", c.Describe(), check.Near(service, wl.Ref)),
				})
			}
		}
		if !bad && len(services(s.World, wl)) > 0 {
			r.Pass(wl.Ref)
		}
	}
}

// unreadyContainers returns the containers that a Service sends requests to and that have no
// readiness probe: those that declare its ports; where none does, the first one, unless a
// probe of another may cover it. It matters less where one serving container has a probe and
// another, with the metrics, has none.
func unreadyContainers(wl *check.Workload, svc *corev1.Service) ([]check.Container, check.Severity) {
	var main []check.Container
	for _, c := range wl.Containers() {
		if !c.Init && !c.Injected {
			main = append(main, c)
		}
	}
	if len(main) == 0 {
		return nil, 0
	}
	serving := slices.DeleteFunc(slices.Clone(main), func(c check.Container) bool {
		return !slices.ContainsFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return declaresPort(c.Container, p) })
	})
	if len(serving) > 0 {
		all := len(serving)
		unready := slices.DeleteFunc(serving, func(c check.Container) bool { return c.ReadinessProbe != nil })
		if len(unready) < all {
			return unready, check.Info
		}
		return unready, 0
	}
	if slices.ContainsFunc(main, func(c check.Container) bool { return c.ReadinessProbe != nil }) {
		return nil, 0
	}
	return main[:1], 0
}

// declaresPort reports whether a container declares the target port of a Service's port.
func declaresPort(c *corev1.Container, p corev1.ServicePort) bool {
	return slices.ContainsFunc(c.Ports, func(own corev1.ContainerPort) bool {
		switch {
		case p.TargetPort.Type == intstr.String && p.TargetPort.StrVal != "":
			return own.Name == p.TargetPort.StrVal
		case p.TargetPort.IntVal != 0:
			return own.ContainerPort == p.TargetPort.IntVal
		}
		return own.ContainerPort == p.Port
	})
}

func liveness(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		if !wl.IsLongRunning() {
			continue
		}
		var first *check.Container
		var lacks []string
		looked := false
		for _, c := range wl.Containers() {
			if c.Init || c.Injected {
				continue
			}
			looked = true
			if c.LivenessProbe == nil && !slices.Contains(lacks, c.Name) {
				if first == nil {
					first = &c
				}
				lacks = append(lacks, c.Name)
			}
		}
		switch {
		case first != nil:
			r.AddFinding(check.Finding{
				Object: wl.Ref, Field: first.Path + ".livenessProbe",
				Message: containers(lacks) + " no liveness probe: a process that hangs without exiting is not restarted",
			})
		case looked:
			r.Pass(wl.Ref)
		}
	}
}

func livenessThreshold(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		if !wl.IsLongRunning() {
			continue
		}
		both, hasty := 0, []string(nil)
		for _, c := range wl.Containers() {
			live, ready := c.LivenessProbe, c.ReadinessProbe
			if c.Injected || live == nil || ready == nil {
				continue
			}
			both++
			if slices.Contains(hasty, c.Path) || !reflect.DeepEqual(resolvedHandler(live, c.Container), resolvedHandler(ready, c.Container)) || secondsToFailure(live) > secondsToFailure(ready) {
				continue
			}
			hasty = append(hasty, c.Path)
			r.AddFinding(check.Finding{
				Object: c.On, Field: c.Path + ".livenessProbe.failureThreshold", Value: fmt.Sprint(orDefault(live.FailureThreshold, 3)),
				Message: fmt.Sprintf("%s has two probes that check the same, and restarts after %d s, no later than it stops receiving requests (%d s): a slow one is killed", c.Describe(), secondsToFailure(live), secondsToFailure(ready)),
			})
		}
		if both > 0 && len(hasty) == 0 {
			r.Pass(wl.Ref)
		}
	}
}

// resolvedHandler returns the handler of a probe, with the names of ports resolved.
func resolvedHandler(p *corev1.Probe, c *corev1.Container) corev1.ProbeHandler {
	h := *p.ProbeHandler.DeepCopy()
	port := func(v *intstr.IntOrString) {
		for _, own := range c.Ports {
			if v.Type == intstr.String && v.StrVal == own.Name {
				*v = intstr.FromInt32(own.ContainerPort)
			}
		}
	}
	if h.HTTPGet != nil {
		port(&h.HTTPGet.Port)
		if h.HTTPGet.Scheme == "" {
			h.HTTPGet.Scheme = corev1.URISchemeHTTP
		}
	}
	if h.TCPSocket != nil {
		port(&h.TCPSocket.Port)
	}
	return h
}

// secondsToFailure returns after how many seconds of failure a probe gives up.
func secondsToFailure(p *corev1.Probe) int32 {
	return orDefault(p.PeriodSeconds, 10) * orDefault(p.FailureThreshold, 3)
}

func orDefault(v, otherwise int32) int32 {
	if v == 0 {
		return otherwise
	}
	return v
}
