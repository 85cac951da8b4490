package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func injectedRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-injected", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(16)},
			Title: "Pods run only the containers of their template",
			Why:   "An injected container changes when pods start and end, what they request and what they may do, and may confuse an operator that counts containers.",
			Fix:   "Nothing, if the injection is intended; else disable it for these pods by the injector's label or annotation.",
			Stack: injected,
		},
		{
			ID: "pod-injected-restarts", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(16)},
			Title: "Containers work with the injected ones",
			Why:   "An application that needs the network before an injected proxy is up fails and restarts; and a Job does not complete while an injected container still runs.",
			Fix:   "Start the proxy first (as a native side-car, or by the injector's setting), or let the application retry; disable injection for Jobs.",
			Stack: injectedRestarts,
		},
	}
}

// templateOf returns the template of a pod; nil where that is unknown, as during an update.
func templateOf(w *check.ClusterState, wl *check.Workload, p *corev1.Pod) *corev1.PodTemplateSpec {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return nil
	}
	ref := object.Ref{Kind: owner.Kind, Namespace: p.Namespace, Name: owner.Name}
	ref.Group, _, _ = strings.Cut(owner.APIVersion, "/")
	switch o := wl.Object.(type) {
	case *appsv1.Deployment:
		if rs, ok := check.Of[*appsv1.ReplicaSet](w.Facts, ref); ok && rs.UID == owner.UID {
			return &rs.Spec.Template
		}
	case *appsv1.ReplicaSet:
		// A new template does not change existing pods. The owner of a ReplicaSet creates
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
		if job, ok := check.Of[*batchv1.Job](w.Facts, ref); ok {
			return &job.Spec.Template
		}
	}
	return nil
}

// injection is a pod with containers that its template lacks.
type injection struct {
	pod   *corev1.Pod
	names []string
}

// injections returns the pods of a workload whose template is known, with the injected
// containers of each; most have none.
func injections(w *check.ClusterState, wl *check.Workload) []injection {
	var out []injection
	for _, p := range wl.Pods {
		t := templateOf(w, wl, p)
		if t == nil {
			continue
		}
		in := injection{pod: p}
		for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				if !check.HasContainer(&t.Spec, list[i].Name) {
					in.names = append(in.names, list[i].Name)
				}
			}
		}
		out = append(out, in)
	}
	return out
}

func injected(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		all := injections(s.World, wl)
		i := slices.IndexFunc(all, func(in injection) bool { return len(in.names) > 0 })
		switch {
		case len(all) == 0:
		case i < 0:
			r.Pass(wl.Ref)
		default:
			in := all[i]
			var names []string
			for _, name := range in.names {
				names = append(names, injectorOf(in.pod, name))
			}
			with := 0
			for _, x := range all {
				with += min(1, len(x.names))
			}
			r.AddFinding(check.Finding{
				Object: wl.Ref, Field: wl.SpecPath() + ".containers", Related: []object.Ref{check.PodRef(in.pod)},
				Message: fmt.Sprintf("%s of %d: its template lacks %s", injectedInto(with), len(all), object.ShortList(names)),
			})
		}
	}
}

func injectedInto(n int) string {
	return "something was injected into " + object.Count(n, "pod")
}

// injectors are the containers of well-known injectors, by name, and the annotation with which
// each marks a pod.
var injectors = []struct{ container, annotation, name string }{
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

// injectorOf names a container that was injected, and its injector where both the
// container's name and an annotation of the pod show it.
func injectorOf(p *corev1.Pod, container string) string {
	for _, in := range injectors {
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

// injectedRestarts finds harm by an injected container, on evidence in the status of the pods
// alone.
func injectedRestarts(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		injected, harmed := false, false
		for _, in := range injections(s.World, wl) {
			if len(in.names) == 0 {
				continue
			}
			injected = true
			if f, ok := harmOf(&in); ok && !harmed {
				harmed = true
				f.Object, f.Related = wl.Ref, []object.Ref{check.PodRef(in.pod)}
				r.AddFinding(f)
			}
		}
		if injected && !harmed || !injected && len(injections(s.World, wl)) > 0 {
			r.Pass(wl.Ref)
		}
	}
}

// soonAfter is how soon after the start of an injected container the end of another one is
// ascribed to that start: a proxy takes some seconds until it is ready.
const soonAfter = 10 * time.Second

func harmOf(in *injection) (check.Finding, bool) {
	own, template := statusesOf(in)
	most := int32(0) // A restart of the node restarts all of them.
	for _, c := range template {
		most = max(most, c.RestartCount)
	}
	for _, inj := range own {
		if n := inj.RestartCount; n > most {
			f := check.Finding{Field: "status.containerStatuses[" + inj.Name + "].restartCount", Value: fmt.Sprint(n)}
			f.Message = fmt.Sprintf("%s, which was injected, restarted %s in pod %s%s", inj.Name, times(n), in.pod.Name, lastEnd(inj))
			return f, true
		}
	}
	for _, c := range template {
		last := c.LastTerminationState.Terminated
		if c.RestartCount == 0 || last == nil || last.ExitCode == 0 {
			continue
		}
		for _, inj := range own {
			if inj.State.Running == nil || last.FinishedAt.IsZero() || last.FinishedAt.After(inj.State.Running.StartedAt.Add(soonAfter)) {
				continue
			}
			f := check.Finding{Field: "status.containerStatuses[" + c.Name + "].restartCount", Value: fmt.Sprint(c.RestartCount)}
			f.Message = fmt.Sprintf("%s ended with exit code %d in pod %s before the injected %s had run for %d s, and restarted", c.Name, last.ExitCode, in.pod.Name, inj.Name, int(soonAfter.Seconds()))
			return f, true
		}
	}
	return heldUp(in, own, template)
}

// heldUp finds a pod of a Job whose own containers have all ended, while an injected one still
// runs.
func heldUp(in *injection, own, template []corev1.ContainerStatus) (check.Finding, bool) {
	if in.pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || in.pod.Spec.RestartPolicy == "" || len(template) == 0 {
		return check.Finding{}, false
	}
	if slices.ContainsFunc(template, func(c corev1.ContainerStatus) bool {
		return c.State.Terminated == nil || c.State.Terminated.ExitCode != 0
	}) {
		return check.Finding{}, false
	}
	i := slices.IndexFunc(own, func(c corev1.ContainerStatus) bool { return c.State.Running != nil && !isNative(in.pod, c.Name) })
	if i < 0 {
		return check.Finding{}, false
	}
	return check.Finding{
		Field: "status.containerStatuses[" + own[i].Name + "].state", Value: "running",
		Message: fmt.Sprintf("pod %s does not complete: its own containers ended, and the injected %s still runs", in.pod.Name, own[i].Name),
	}, true
}

// isNative reports whether a container is a native side-car, which ends with the others.
func isNative(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
}

// statusesOf returns the statuses of the injected containers that run next to the others, and
// those of the template's containers.
func statusesOf(in *injection) (own, template []corev1.ContainerStatus) {
	for _, c := range in.pod.Status.ContainerStatuses {
		if slices.Contains(in.names, c.Name) {
			own = append(own, c)
		} else {
			template = append(template, c)
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
	return own, template
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// lastEnd describes how a container ended the last time, where that is known.
func lastEnd(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil && t.Reason != "" {
		return fmt.Sprintf(" (%s, exit code %d)", t.Reason, t.ExitCode)
	}
	return ""
}
