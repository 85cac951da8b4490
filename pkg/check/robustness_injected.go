package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func robustInjectedRules() []Rule {
	return []Rule{
		{
			ID: "pod-injected", Category: Robustness, Severity: Info, Guidelines: []Guideline{maturity(16)},
			Title: "Pods run only the containers of their template",
			Why:   "An injected container changes when pods start and end, what they request and what they may do, and may confuse an operator that counts containers.",
			Fix:   "Nothing, if the injection is intended; else disable it for these pods by the injector's label or annotation.",
			Stack: robustInjected,
		},
		{
			ID: "pod-injected-restarts", Category: Robustness, Severity: Warning, Guidelines: []Guideline{maturity(16)},
			Title: "Containers work with the injected ones",
			Why:   "An application that needs the network before an injected proxy is up fails and restarts; and a Job does not complete while an injected container still runs.",
			Fix:   "Start the proxy first (as a native side-car, or by the injector's setting), or let the application retry; disable injection for Jobs.",
			Stack: robustInjectedRestarts,
		},
	}
}

// robustTemplateOf returns the template that a pod was made of; nil where that is not known, as
// while an update is under way.
func (w *ClusterState) robustTemplateOf(wl *Workload, p *corev1.Pod) *corev1.PodTemplateSpec {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return nil
	}
	ref := object.Ref{Kind: owner.Kind, Namespace: p.Namespace, Name: owner.Name}
	ref.Group, _, _ = strings.Cut(owner.APIVersion, "/")
	switch o := wl.Object.(type) {
	case *appsv1.Deployment:
		if rs, ok := Of[*appsv1.ReplicaSet](w.Facts, ref); ok && rs.UID == owner.UID {
			return &rs.Spec.Template
		}
	case *appsv1.ReplicaSet:
		// A new template does not change pods that are there. Who owns a ReplicaSet makes
		// another one instead.
		if o.Generation <= 1 || metav1.GetControllerOfNoCopy(o) != nil {
			return &o.Spec.Template
		}
	case *appsv1.StatefulSet:
		if o.Status.ObservedGeneration == o.Generation && o.Status.UpdateRevision != "" && p.Labels[appsv1.ControllerRevisionHashLabelKey] == o.Status.UpdateRevision {
			return &o.Spec.Template
		}
	case *appsv1.DaemonSet:
		if o.Status.ObservedGeneration == o.Generation && o.Status.UpdatedNumberScheduled == o.Status.DesiredNumberScheduled {
			return &o.Spec.Template
		}
	case *batchv1.Job:
		return &o.Spec.Template
	case *batchv1.CronJob:
		if job, ok := Of[*batchv1.Job](w.Facts, ref); ok {
			return &job.Spec.Template
		}
	}
	return nil
}

// robustInjection is a pod with containers that its template lacks.
type robustInjection struct {
	pod   *corev1.Pod
	names []string
}

// robustInjections returns the pods of a workload whose template is known, with what was
// injected into each; most have nothing.
func (w *ClusterState) robustInjections(wl *Workload) []robustInjection {
	var out []robustInjection
	for _, p := range wl.Pods {
		t := w.robustTemplateOf(wl, p)
		if t == nil {
			continue
		}
		in := robustInjection{pod: p}
		for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				if !hasContainer(&t.Spec, list[i].Name) {
					in.names = append(in.names, list[i].Name)
				}
			}
		}
		out = append(out, in)
	}
	return out
}

func robustInjected(s *Stack, r *Result) {
	for _, wl := range s.ManagedWorkloads() {
		all := s.World.robustInjections(wl)
		i := slices.IndexFunc(all, func(in robustInjection) bool { return len(in.names) > 0 })
		switch {
		case len(all) == 0:
		case i < 0:
			r.Pass(wl.Ref)
		default:
			in := all[i]
			var what []string
			for _, name := range in.names {
				what = append(what, robustInjector(in.pod, name))
			}
			with := 0
			for _, x := range all {
				with += min(1, len(x.names))
			}
			r.AddFinding(Finding{
				Object: wl.Ref, Field: wl.specPath() + ".containers", Related: []object.Ref{podRef(in.pod)},
				Message: fmt.Sprintf("%s of %d: its template lacks %s", robustInjectedInto(with), len(all), object.ShortList(what)),
			})
		}
	}
}

func robustInjectedInto(n int) string {
	return "something was injected into " + object.Count(n, "pod")
}

// robustInjectors are the containers of well-known injectors, by name, and the annotation
// with which each marks a pod.
var robustInjectors = []struct{ container, annotation, name string }{
	{"istio-", "sidecar.istio.io/status", "Istio"},
	{"linkerd-", "linkerd.io/proxy-version", "Linkerd"},
	{"vault-agent", "vault.hashicorp.com/agent-inject-status", "Vault"},
	{"daprd", "dapr.io/enabled", "Dapr"},
	{"consul-", "consul.hashicorp.com/connect-inject-status", "Consul"},
	{"kuma-", "kuma.io/sidecar-injected", "Kuma"},
	{"opentelemetry-", "instrumentation.opentelemetry.io/", "OpenTelemetry"},
	{"otc-container", "sidecar.opentelemetry.io/inject", "OpenTelemetry"},
	{"datadog-", "admission.datadoghq.com/", "Datadog"},
	{"jaeger-agent", "sidecar.jaegertracing.io/inject", "Jaeger"},
}

// robustInjector names a container that was injected, and by whom, where both its name
// and an annotation of the pod say so.
func robustInjector(p *corev1.Pod, container string) string {
	for _, in := range robustInjectors {
		if !strings.HasPrefix(container, in.container) {
			continue
		}
		for k := range p.Annotations {
			if strings.HasPrefix(k, in.annotation) {
				return container + " (" + in.name + ")"
			}
		}
	}
	return container
}

// robustInjectedRestarts looks for harm that an injected container did, and claims it only
// on evidence in the status of the pods.
func robustInjectedRestarts(s *Stack, r *Result) {
	for _, wl := range s.ManagedWorkloads() {
		injected, harmed := false, false
		for _, in := range s.World.robustInjections(wl) {
			if len(in.names) == 0 {
				continue
			}
			injected = true
			if f, ok := robustHarm(&in); ok && !harmed {
				harmed = true
				f.Object, f.Related = wl.Ref, []object.Ref{podRef(in.pod)}
				r.AddFinding(f)
			}
		}
		if injected && !harmed || !injected && len(s.World.robustInjections(wl)) > 0 {
			r.Pass(wl.Ref)
		}
	}
}

// robustSoon is how soon after an injected container has started an end of another one is
// put down to its start: a proxy takes some seconds until it is ready.
const robustSoon = 10 * time.Second

func robustHarm(in *robustInjection) (Finding, bool) {
	own, others := robustStatuses(in)
	most := int32(0) // A node that was restarted restarts all of them.
	for _, c := range others {
		most = max(most, c.RestartCount)
	}
	for _, inj := range own {
		if n := inj.RestartCount; n > most {
			f := Finding{Field: "status.containerStatuses[" + inj.Name + "].restartCount", Value: fmt.Sprint(n)}
			f.Message = fmt.Sprintf("%s, which was injected, restarted %s in pod %s%s", inj.Name, robustTimes(n), in.pod.Name, robustLast(inj))
			return f, true
		}
	}
	for _, c := range others {
		last := c.LastTerminationState.Terminated
		if c.RestartCount == 0 || last == nil || last.ExitCode == 0 {
			continue
		}
		for _, inj := range own {
			if inj.State.Running == nil || last.FinishedAt.IsZero() || last.FinishedAt.After(inj.State.Running.StartedAt.Add(robustSoon)) {
				continue
			}
			f := Finding{Field: "status.containerStatuses[" + c.Name + "].restartCount", Value: fmt.Sprint(c.RestartCount)}
			f.Message = fmt.Sprintf("%s ended with exit code %d in pod %s before the injected %s had run for %d s, and restarted", c.Name, last.ExitCode, in.pod.Name, inj.Name, int(robustSoon.Seconds()))
			return f, true
		}
	}
	return robustHeldUp(in, own, others)
}

// robustHeldUp finds a pod of a Job whose containers have all ended, and that does not end
// since an injected one runs on.
func robustHeldUp(in *robustInjection, own, others []corev1.ContainerStatus) (Finding, bool) {
	if in.pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || in.pod.Spec.RestartPolicy == "" || len(others) == 0 {
		return Finding{}, false
	}
	if slices.ContainsFunc(others, func(c corev1.ContainerStatus) bool {
		return c.State.Terminated == nil || c.State.Terminated.ExitCode != 0
	}) {
		return Finding{}, false
	}
	i := slices.IndexFunc(own, func(c corev1.ContainerStatus) bool { return c.State.Running != nil && !robustNative(in.pod, c.Name) })
	if i < 0 {
		return Finding{}, false
	}
	return Finding{
		Field: "status.containerStatuses[" + own[i].Name + "].state", Value: "running",
		Message: fmt.Sprintf("pod %s does not complete: its own containers ended, and the injected %s still runs", in.pod.Name, own[i].Name),
	}, true
}

// robustNative says whether a container is a native side-car, which ends with the others.
func robustNative(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
}

// robustStatuses returns the statuses of the containers that were injected to run beside
// the others, and those of the template's containers.
func robustStatuses(in *robustInjection) (own, others []corev1.ContainerStatus) {
	for _, c := range in.pod.Status.ContainerStatuses {
		if slices.Contains(in.names, c.Name) {
			own = append(own, c)
		} else {
			others = append(others, c)
		}
	}
	for _, c := range in.pod.Status.InitContainerStatuses {
		for i := range in.pod.Spec.InitContainers {
			spec := &in.pod.Spec.InitContainers[i]
			if spec.Name == c.Name && slices.Contains(in.names, c.Name) && spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				own = append(own, c)
			}
		}
	}
	return own, others
}

func robustTimes(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// robustLast says how a container ended the last time, where that is known.
func robustLast(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil && t.Reason != "" {
		return fmt.Sprintf(" (%s, exit code %d)", t.Reason, t.ExitCode)
	}
	return ""
}
