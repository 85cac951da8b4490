package workload

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func podSecurityRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-security-baseline", Category: check.Security, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(8)},
			Title: "Pods follow the Pod Security Standard baseline",
			Why:   "Baseline forbids the known ways to break out of a container to its node, and from there to every other pod on it.",
			Fix:   "Remove the field. Node agents (storage, network, logs, metrics) need some of them: waive the rule for these, in a namespace of their own.",
			Stack: podBaseline,
		},
		{
			ID: "pod-security-restricted", Category: check.Security, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(8)},
			Title: "Pods follow the Pod Security Standard restricted",
			Why:   "A container that cannot be root, gain privileges or make unusual system calls is hard to attack from. Namespaces that enforce restricted refuse all others.",
			Fix:   "Set runAsNonRoot: true and seccompProfile.type: RuntimeDefault for the pod; allowPrivilegeEscalation: false and capabilities.drop: [ALL] for each container. The image has to run as a user that is not root.",
			Stack: podRestricted,
		},
	}
}

// podCheck is one check of the Pod Security Standards, in its newest version.
type podCheck struct {
	id  policy.CheckID
	run policy.CheckPodFn
}

// The checks of the levels, which are made once.
var (
	podBaselineChecks   = sync.OnceValue(func() []podCheck { return podChecks(api.LevelBaseline) })
	podRestrictedChecks = sync.OnceValue(func() []podCheck { return podChecks(api.LevelRestricted) })
)

// podChecks returns the checks that a level adds to the one below it.
func podChecks(level api.Level) []podCheck {
	var out []podCheck
	for _, c := range policy.DefaultChecks() {
		if c.Level == level {
			out = append(out, podCheck{c.ID, c.Versions[len(c.Versions)-1].CheckPod})
		}
	}
	slices.SortFunc(out, func(a, b podCheck) int { return strings.Compare(string(a.id), string(b.id)) })
	return out
}

// podRefusal is a check that a pod does not pass.
type podRefusal struct {
	id     policy.CheckID
	reason string
	detail string
	places []podPlace
}

func (x *podRefusal) String() string {
	if x.detail == "" {
		return x.reason
	}
	return fmt.Sprintf("%s (%s)", x.reason, x.detail)
}

func podRefusals(checks []podCheck, v check.PodView) []podRefusal {
	var out []podRefusal
	for _, c := range checks {
		if got := c.run(v.Meta, v.Spec); !got.Allowed {
			out = append(out, podRefusal{c.id, got.ForbiddenReason, got.ForbiddenDetail, podPlaces(c.id, v)})
		}
	}
	return out
}

// podInherent reports whether pods serve their node, so that they need some of it.
func podInherent(wl *check.Workload) bool {
	if wl.Ref.Kind == "DaemonSet" {
		return true
	}
	// A kubelet marks its static pods so.
	return len(wl.Pods) > 0 && check.IsMirrorPod(&wl.Pods[0].ObjectMeta)
}

// podBlame returns the object to correct: the workload if its template has the refused field,
// else the pod, where admission added it.
func podBlame(wl *check.Workload, v check.PodView, in []podRefusal, id policy.CheckID) (ref object.Ref, prefix, added string) {
	if v.Live && wl.Template != nil && !slices.ContainsFunc(in, func(x podRefusal) bool { return x.id == id }) {
		return v.Ref, "spec", "; the template of " + wl.Ref.Kind + " " + wl.Ref.Name + " does not have it, so admission added it"
	}
	return wl.Ref, wl.SpecPath(), ""
}

func podWritten(checks []podCheck, wl *check.Workload) []podRefusal {
	if wl.Template == nil {
		return nil
	}
	return podRefusals(checks, check.PodView{Ref: wl.Ref, Meta: &wl.Template.ObjectMeta, Spec: &wl.Template.Spec})
}

func podBaseline(s *check.Stack, r *check.Result) {
	checks := podBaselineChecks()
	for _, wl := range s.Workloads() {
		written := podWritten(checks, wl)
		reported := map[policy.CheckID]bool{}
		for _, v := range check.PodViews(wl) {
			for _, x := range podRefusals(checks, v) {
				if reported[x.id] {
					continue
				}
				reported[x.id] = true
				ref, prefix, added := podBlame(wl, v, written, x.id)
				f := check.Finding{Severity: podGravity(&x, v), Object: ref, Field: prefix, Message: fmt.Sprintf("baseline refuses %s%s", x.String(), added)}
				if len(x.places) > 0 {
					f.Field, f.Value = podField(prefix, x.places[0].field), x.places[0].value
				}
				f.Remedy = s.World.RemedyFor(wl, podWayOut(x.id))
				if podInherent(wl) {
					f.Severity = check.Warning
					f.Remedy = fmt.Sprintf("If it is a node agent that needs the field, waive the rule: sysop.dev/waive: %s=REASON.", r.Rule.ID)
				}
				r.AddFinding(f)
			}
		}
		if len(reported) == 0 && (wl.Template != nil || len(wl.Pods) > 0) {
			r.Pass(wl.Ref)
		}
	}
}

// podRestricted reports all violations of a workload at once, since most workloads lack the
// same four settings.
func podRestricted(s *check.Stack, r *check.Result) {
	checks := podRestrictedChecks()
	for _, wl := range s.Workloads() {
		if wl.Template == nil && len(wl.Pods) == 0 {
			continue
		}
		lacks := restrictedViolations{wl: wl, written: podWritten(checks, wl), f: check.Finding{Object: wl.Ref, Field: wl.SpecPath()}}
		for _, v := range check.PodViews(wl) {
			for _, x := range podRefusals(checks, v) {
				if !isReportedAlready(&x) {
					lacks.add(v, &x)
				}
			}
		}
		if len(lacks.reasons) == 0 {
			r.Pass(wl.Ref)
			continue
		}
		lacks.f.Message = "restricted refuses " + object.AndList(lacks.reasons)
		lacks.f.Remedy = s.World.RemedyFor(wl, strings.Join(lacks.details, "; ")+".")
		r.AddFinding(lacks.f)
	}
}

// restrictedViolations returns the violations of restricted in a workload.
type restrictedViolations struct {
	wl               *check.Workload
	written          []podRefusal
	reasons, details []string
	f                check.Finding
	placed           bool
}

func (l *restrictedViolations) add(v check.PodView, x *podRefusal) {
	if !slices.Contains(l.reasons, x.reason) {
		l.reasons = append(l.reasons, x.reason)
	}
	if !slices.Contains(l.details, x.detail) {
		l.details = append(l.details, x.detail)
	}
	if x.id == "runAsUser" {
		l.f.Severity = check.Warning
	}
	if len(x.places) == 0 {
		return
	}
	// A violation of the workload's template is reported for the workload, and not for a pod;
	// the worst first.
	ref, prefix, _ := podBlame(l.wl, v, l.written, x.id)
	if !l.placed || ref == l.wl.Ref && l.f.Object != l.wl.Ref || x.id == "runAsUser" && ref == l.f.Object {
		l.placed = true
		l.f.Object, l.f.Field, l.f.Value = ref, podField(prefix, x.places[0].field), x.places[0].value
	}
}

// isReportedAlready reports whether a refusal is only about volumes of the node, which
// baseline reports.
func isReportedAlready(x *podRefusal) bool {
	return x.id == "restrictedVolumes" && len(x.places) > 0 && !slices.ContainsFunc(x.places, func(p podPlace) bool { return !strings.HasSuffix(p.field, ".hostPath.path") })
}

// podWayOut returns the remedy for a refusal by baseline.
func podWayOut(id policy.CheckID) string {
	switch id {
	case "privileged":
		return "Set privileged: false, and add the capabilities that it needs, if any."
	case "hostPathVolumes":
		return "Use a claim, an emptyDir or a ConfigMap instead."
	case "hostNamespaces":
		return "Remove it; a Service exposes the port."
	case "hostPorts":
		return "Remove hostPort, and expose the port by a Service."
	case "capabilities_baseline":
		return "Remove the capabilities that it does not need."
	}
	return "Remove it."
}

// podField adds the prefix of its workload to a place. The place of an annotation is in the
// metadata next to the spec.
func podField(prefix, field string) string {
	if strings.HasPrefix(field, "metadata.") {
		return strings.TrimSuffix(prefix, "spec") + field
	}
	return prefix + "." + field
}

// podGravity is an error where a container controls the node without any further fault.
func podGravity(x *podRefusal, v check.PodView) check.Severity {
	switch x.id {
	case "privileged", "windowsHostProcess":
		return check.Error
	case "hostNamespaces":
		if v.Spec.HostPID {
			return check.Error
		}
	case "hostPathVolumes":
		if podWritesHost(v.Spec) {
			return check.Error
		}
	case "capabilities_baseline":
		if slices.ContainsFunc(x.places, func(p podPlace) bool { return podRootCapability(p.value) }) {
			return check.Error
		}
	}
	return check.Warning
}

// podRootCapability reports whether one of some capabilities is enough to control the node.
func podRootCapability(list string) bool {
	return slices.ContainsFunc(strings.Split(list, ", "), func(c string) bool {
		switch strings.TrimPrefix(c, "CAP_") {
		case "ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH", "BPF":
			return true
		}
		return false
	})
}

// podWritesHost reports whether a container may write to a directory of the node.
func podWritesHost(spec *corev1.PodSpec) bool {
	host := map[string]bool{}
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; v.HostPath != nil {
			host[v.Name] = true
		}
	}
	writes := false
	check.EachContainer(spec, func(_ string, c *corev1.Container) {
		for _, m := range c.VolumeMounts {
			writes = writes || host[m.Name] && !m.ReadOnly
		}
	})
	return writes
}
