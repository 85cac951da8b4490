package workload

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// oddPod makes up a pod that the Pod Security Standards find something in.
type oddPod struct{ *rand.Rand }

func (r oddPod) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r oddPod) bool() *bool {
	return [...]*bool{nil, new(false), new(true)}[r.IntN(3)]
}

func (r oddPod) id() *int64 { return [...]*int64{nil, new(int64(0)), new(int64(1000))}[r.IntN(3)] }

func (r oddPod) seLinux() *corev1.SELinuxOptions {
	if r.IntN(3) > 0 {
		return nil
	}
	return &corev1.SELinuxOptions{User: r.pick("", "", "u"), Role: r.pick("", "", "r"), Type: r.pick("", "container_t", "container_engine_t", "spc_t")}
}

func (r oddPod) seccomp() *corev1.SeccompProfile {
	kind := r.pick("", "", "RuntimeDefault", "Localhost", "Unconfined")
	if kind == "" {
		return nil
	}
	return &corev1.SeccompProfile{Type: corev1.SeccompProfileType(kind)}
}

func (r oddPod) appArmor() *corev1.AppArmorProfile {
	kind := r.pick("", "", "RuntimeDefault", "Localhost", "Unconfined")
	if kind == "" {
		return nil
	}
	return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileType(kind)}
}

func (r oddPod) windows() *corev1.WindowsSecurityContextOptions {
	return &corev1.WindowsSecurityContextOptions{HostProcess: r.bool()}
}

func (r oddPod) handler() *corev1.LifecycleHandler {
	switch r.IntN(4) {
	case 0:
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Host: r.pick("", "10.0.0.1")}}
	case 1:
		return &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Host: r.pick("", "10.0.0.1")}}
	}
	return nil
}

func (r oddPod) probe() *corev1.Probe {
	h := r.handler()
	if h == nil {
		return nil
	}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: h.HTTPGet, TCPSocket: h.TCPSocket}}
}

func (r oddPod) container(name string) corev1.Container {
	c := corev1.Container{Name: name, LivenessProbe: r.probe(), ReadinessProbe: r.probe(), StartupProbe: r.probe()}
	if r.IntN(4) == 0 {
		c.Lifecycle = &corev1.Lifecycle{PostStart: r.handler(), PreStop: r.handler()}
	}
	if r.IntN(3) == 0 {
		c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(80 * r.IntN(2))}}
	}
	if r.IntN(3) == 0 {
		return c
	}
	c.SecurityContext = &corev1.SecurityContext{
		Privileged: r.bool(), AllowPrivilegeEscalation: r.bool(), RunAsNonRoot: r.bool(), RunAsUser: r.id(),
		SELinuxOptions: r.seLinux(), SeccompProfile: r.seccomp(), AppArmorProfile: r.appArmor(), WindowsOptions: r.windows(),
	}
	if r.IntN(3) == 0 {
		c.SecurityContext.ProcMount = new(corev1.ProcMountType(r.pick("Default", "Unmasked")))
	}
	if r.IntN(2) == 0 {
		c.SecurityContext.Capabilities = &corev1.Capabilities{
			Add:  []corev1.Capability{corev1.Capability(r.pick("NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN"))},
			Drop: []corev1.Capability{corev1.Capability(r.pick("ALL", "KILL"))},
		}
	}
	return c
}

func (r oddPod) view() check.PodView {
	spec := &corev1.PodSpec{HostPID: r.IntN(8) == 0, HostIPC: r.IntN(8) == 0, HostNetwork: r.IntN(8) == 0}
	meta := &metav1.ObjectMeta{}
	for _, name := range []string{"a", "b"}[:1+r.IntN(2)] {
		spec.Containers = append(spec.Containers, r.container(name))
	}
	if r.IntN(2) == 0 {
		spec.InitContainers = append(spec.InitContainers, r.container("init"))
	}
	for _, v := range []corev1.VolumeSource{
		{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}, {NFS: &corev1.NFSVolumeSource{}}, {EmptyDir: &corev1.EmptyDirVolumeSource{}},
	} {
		if r.IntN(3) == 0 {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "v", VolumeSource: v})
		}
	}
	if r.IntN(3) > 0 {
		spec.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot: r.bool(), RunAsUser: r.id(), SELinuxOptions: r.seLinux(), SeccompProfile: r.seccomp(), AppArmorProfile: r.appArmor(), WindowsOptions: r.windows(),
		}
		if r.IntN(3) == 0 {
			spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: r.pick("kernel.shm_rmid_forced", "kernel.msgmax"), Value: "1"}}
		}
	}
	if r.IntN(4) == 0 {
		meta.Annotations = map[string]string{corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "a": r.pick("unconfined", "runtime/default")}
	}
	if r.IntN(8) == 0 {
		spec.HostUsers = new(false)
	}
	return check.PodView{Meta: meta, Spec: spec}
}

// TestEveryRefusalHasItsPlace holds the table of places against the library, on made-up
// pods: what it refuses is somewhere, and what it lets pass is nowhere.
func TestEveryRefusalHasItsPlace(t *testing.T) {
	odd := oddPod{rand.New(rand.NewPCG(8, 2020))}
	refused, passed := map[policy.CheckID]int{}, map[policy.CheckID]int{}
	checks := slices.Concat(podChecks(api.LevelBaseline), podChecks(api.LevelRestricted))
	for range 4000 {
		v := odd.view()
		for _, c := range checks {
			allowed, places := c.run(v.Meta, v.Spec).Allowed, podPlaces(c.id, v)
			if !allowed {
				refused[c.id]++
				if len(places) == 0 {
					t.Fatalf("%s: refused and nowhere: %+v", c.id, v.Spec)
				}
				continue
			}
			passed[c.id]++
			// Some values are right for the library, which knows when, and not for the table.
			lenient := c.id == "sysctls" || c.id == "appArmorProfile" || v.Spec.HostUsers != nil
			if len(places) > 0 && !lenient {
				t.Fatalf("%s: allowed, and %v", c.id, places)
			}
		}
	}
	for _, c := range checks {
		if refused[c.id] < 20 || passed[c.id] < 20 {
			t.Errorf("%s: %d refused, %d passed: the pods are one-sided", c.id, refused[c.id], passed[c.id])
		}
	}
}

// TestChecksAreThoseOfTheLibrary: by level, they are what its evaluator runs in the newest
// version.
func TestChecksAreThoseOfTheLibrary(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	odd := oddPod{rand.New(rand.NewPCG(1, 1))}
	for range 500 {
		v := odd.view()
		for level, checks := range map[api.Level][]podCheck{
			api.LevelBaseline:   podChecks(api.LevelBaseline),
			api.LevelRestricted: slices.Concat(podChecks(api.LevelBaseline), podChecks(api.LevelRestricted)),
		} {
			want := policy.AggregateCheckResults(evaluator.EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, v.Meta, v.Spec))
			got := podRefusals(checks, v)
			if want.Allowed != (len(got) == 0) {
				t.Fatalf("%s: allowed %t, and %v", level, want.Allowed, got)
			}
			for _, reason := range want.ForbiddenReasons {
				if !slices.ContainsFunc(got, func(x podRefusal) bool { return x.reason == reason }) {
					t.Fatalf("%s: %q is missing in %v", level, reason, got)
				}
			}
		}
	}
}

func TestPodSecurity(t *testing.T) {
	const good = `securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},`
	const tight = `{name: c, image: "x:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}`
	for name, c := range map[string]struct{ spec, baseline, restricted string }{
		"right":         {good + ` containers: [` + tight + `]`, "", ""},
		"nothing said":  {`containers: [{name: c, image: "x:1"}]`, "", `info containers[c].securityContext.allowPrivilegeEscalation = ""`},
		"privileged":    {good + ` containers: [{name: c, image: "x:1", securityContext: {privileged: true, capabilities: {drop: [ALL]}}}]`, `error containers[c].securityContext.privileged = "true"`, `info containers[c].securityContext.allowPrivilegeEscalation = ""`},
		"node network":  {good + ` hostNetwork: true, containers: [` + tight + `]`, `warning hostNetwork = "true"`, ""},
		"node's pids":   {good + ` hostNetwork: true, hostPID: true, containers: [` + tight + `]`, `error hostPID = "true"`, ""},
		"reads a node":  {good + ` volumes: [{name: log, hostPath: {path: /var/log}}], containers: [{name: c, image: "x:1", volumeMounts: [{name: log, mountPath: /log, readOnly: true}], securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]`, `warning volumes[log].hostPath.path = "/var/log"`, ""},
		"writes a node": {good + ` volumes: [{name: log, hostPath: {path: /var/log}}], containers: [{name: c, image: "x:1", volumeMounts: [{name: log, mountPath: /log}], securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]`, `error volumes[log].hostPath.path = "/var/log"`, ""},
		"capability":    {good + ` containers: [{name: c, image: "x:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [NET_ADMIN]}}}]`, `warning containers[c].securityContext.capabilities.add = "NET_ADMIN"`, `info containers[c].securityContext.capabilities.add = "NET_ADMIN"`},
		"as good as it": {good + ` containers: [{name: c, image: "x:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [SYS_ADMIN]}}}]`, `error containers[c].securityContext.capabilities.add = "SYS_ADMIN"`, `info containers[c].securityContext.capabilities.add = "SYS_ADMIN"`},
		"root":          {`securityContext: {runAsUser: 0, seccompProfile: {type: RuntimeDefault}}, containers: [` + tight + `]`, "", `warning securityContext.runAsUser = "0"`},
		"node's volume": {good + ` volumes: [{name: old, nfs: {server: a, path: /}}], containers: [` + tight + `]`, "", `info volumes[old] = ""`},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {"+c.spec+"}}}\n")
			for id, want := range map[string]string{"pod-security-baseline": c.baseline, "pod-security-restricted": c.restricted} {
				r := checktest.Only(t, Rules(), id, w.Stack("Deployment.apps/shop/web").Check)
				if got := podSaid(r); got != want {
					t.Errorf("%s: %s, want %s", id, got, want)
				}
				if (len(r.Passed) == 1) != (want == "") {
					t.Errorf("%s: right %v", id, r.Passed)
				}
			}
		})
	}
}

// podSaid is what a rule finds in a template: the severity, the field and the value.
func podSaid(r *check.Result) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Severity.String()+" "+strings.TrimPrefix(f.Field, "spec.template.spec.")+" = \""+f.Value+"\"")
	}
	return strings.Join(out, "; ")
}

// TestWhatAdmissionAddsIsNotTheTemplates: an injected side-car is found in the pod, and
// what a mutating policy mended is not found at all.
func TestWhatAdmissionAddsIsNotTheTemplates(t *testing.T) {
	const world = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop, uid: 00000000-0000-0000-0000-000000000001}
spec:
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {TEMPLATE}}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: shop, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: 00000000-0000-0000-0000-000000000001, controller: true}]}
spec: {POD}
status: {phase: Running}
`
	const mild, grave = `containers: [{name: db, image: "x:1"}]`, `containers: [{name: db, image: "x:1"}, {name: mesh, image: "y:1", securityContext: {privileged: true}}]`
	for name, c := range map[string]struct{ template, pod, object, field string }{
		"added":  {mild, grave, "Pod/shop/db-0", "spec.containers[mesh].securityContext.privileged"},
		"mended": {grave, mild, "", ""},
		"both":   {grave, grave, "StatefulSet.apps/shop/db", "spec.template.spec.containers[mesh].securityContext.privileged"},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.NewReplacer("TEMPLATE", c.template, "POD", c.pod).Replace(world))
			r := checktest.Only(t, Rules(), "pod-security-baseline", w.Stack("StatefulSet.apps/shop/db").Check)
			object, field := "", ""
			if len(r.Findings) > 0 {
				object, field = r.Findings[0].Object.String(), r.Findings[0].Field
			}
			if object != c.object || field != c.field || len(r.Findings) > 1 {
				t.Errorf("%d findings: %s %s, want %s %s", len(r.Findings), object, field, c.object, c.field)
			}
		})
	}
}

// TestAgentsOfTheNode are told, and told that it may be meant so.
func TestAgentsOfTheNode(t *testing.T) {
	w := checktest.Read(t, operator.Find, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {hostNetwork: true, containers: [{name: c, image: "x:1", securityContext: {privileged: true}}]}}
`)
	r := checktest.Only(t, Rules(), "pod-security-baseline", w.Stack("DaemonSet.apps/kube-system/agent").Check)
	if len(r.Findings) != 2 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	for _, f := range r.Findings {
		if f.Severity != check.Warning || !strings.Contains(f.Remedy, check.WaiveAnnotation+": pod-security-baseline=") {
			t.Errorf("%s: %s", f.Severity, f.Remedy)
		}
	}
}
