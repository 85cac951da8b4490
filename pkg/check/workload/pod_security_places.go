package workload

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// podPlace is a field of a pod, without spec (hostPID), and its value; empty for a required
// field that is not set.
type podPlace struct{ field, value string }

// podPlaces returns the fields that a check refuses. The checks themselves only describe them
// in words. It is empty for a check that is newer than this table.
func podPlaces(id policy.CheckID, v check.PodView) []podPlace {
	if v.Spec.SecurityContext == nil {
		v.Spec = v.Spec.DeepCopy()
		v.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	switch id {
	case "hostNamespaces":
		return placesOfHost(v.Spec)
	case "hostPathVolumes", "restrictedVolumes":
		return placesOfVolumes(id, v.Spec)
	case "sysctls":
		return placesOfSysctls(v.Spec)
	case "appArmorProfile":
		return placesOfAppArmor(v)
	}
	return placesOfContexts(id, v.Spec)
}

func placesOfHost(spec *corev1.PodSpec) []podPlace {
	var out []podPlace
	for _, f := range []struct {
		set  bool
		name string
	}{{spec.HostPID, "hostPID"}, {spec.HostIPC, "hostIPC"}, {spec.HostNetwork, "hostNetwork"}} {
		if f.set {
			out = append(out, podPlace{f.name, "true"})
		}
	}
	return out
}

// placesOfVolumes sorts the volumes of the node last, since baseline reports them.
func placesOfVolumes(id policy.CheckID, spec *corev1.PodSpec) []podPlace {
	var out, host []podPlace
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		at := "volumes[" + v.Name + "]"
		switch {
		case v.HostPath != nil:
			host = append(host, podPlace{at + ".hostPath.path", v.HostPath.Path})
		case id == "restrictedVolumes" && !podVolumeAllowed(&v.VolumeSource):
			out = append(out, podPlace{at, ""})
		}
	}
	return append(out, host...)
}

func podVolumeAllowed(v *corev1.VolumeSource) bool {
	return v.ConfigMap != nil || v.CSI != nil || v.DownwardAPI != nil || v.EmptyDir != nil || v.Ephemeral != nil ||
		v.Image != nil || v.PersistentVolumeClaim != nil || v.Projected != nil || v.Secret != nil
}

// placesOfSysctls returns all of them: only the library knows the safe ones, and its message
// names them.
func placesOfSysctls(spec *corev1.PodSpec) []podPlace {
	var out []podPlace
	for _, s := range spec.SecurityContext.Sysctls {
		out = append(out, podPlace{"securityContext.sysctls[" + s.Name + "]", s.Value})
	}
	return out
}

func placesOfAppArmor(v check.PodView) []podPlace {
	out := placesOfContexts("appArmorProfile", v.Spec)
	for _, key := range slices.Sorted(maps.Keys(v.Meta.Annotations)) {
		if strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix) {
			out = append(out, podPlace{"metadata.annotations[" + key + "]", v.Meta.Annotations[key]})
		}
	}
	return out
}

// placesOfContexts checks the security contexts of the pod and of each container.
func placesOfContexts(id policy.CheckID, spec *corev1.PodSpec) []podPlace {
	var out []podPlace
	say := func(at, field, value string) {
		if at != "" {
			at += "."
		}
		out = append(out, podPlace{at + field, value})
	}
	pod := spec.SecurityContext
	places := podContext{id: id, spec: spec, say: say}
	places.pod(pod)
	check.EachContainer(spec, func(at string, c *corev1.Container) {
		context := c.SecurityContext
		if context == nil {
			context = &corev1.SecurityContext{}
		}
		places.container(at, c, context)
	})
	return out
}

// podContext looks for the places of one check.
type podContext struct {
	id   policy.CheckID
	spec *corev1.PodSpec
	say  func(at, field, value string)
}

func (x *podContext) pod(c *corev1.PodSecurityContext) {
	switch x.id {
	case "seLinuxOptions":
		x.seLinux("", c.SELinuxOptions)
	case "seccompProfile_baseline", "seccompProfile_restricted":
		x.seccomp("", c.SeccompProfile)
	case "appArmorProfile":
		x.appArmor("", c.AppArmorProfile)
	case "runAsNonRoot":
		x.nonRoot("", c.RunAsNonRoot)
	case "runAsUser":
		x.user("", c.RunAsUser)
	case "windowsHostProcess":
		x.hostProcess("", c.WindowsOptions)
	}
}

func (x *podContext) container(at string, c *corev1.Container, s *corev1.SecurityContext) {
	switch x.id {
	case "privileged":
		if s.Privileged != nil && *s.Privileged {
			x.say(at, "securityContext.privileged", "true")
		}
	case "allowPrivilegeEscalation":
		if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
			x.say(at, "securityContext.allowPrivilegeEscalation", podBool(s.AllowPrivilegeEscalation))
		}
	case "capabilities_baseline", "capabilities_restricted":
		x.capabilities(at, s.Capabilities)
	case "procMount", "procMount_restricted":
		if s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount {
			x.say(at, "securityContext.procMount", string(*s.ProcMount))
		}
	case "hostPorts":
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				x.say(at, "ports["+strconv.Itoa(int(p.ContainerPort))+"].hostPort", strconv.Itoa(int(p.HostPort)))
			}
		}
	case "hostProbesAndHostLifecycle":
		x.hosts(at, c)
	case "seLinuxOptions":
		x.seLinux(at, s.SELinuxOptions)
	case "seccompProfile_baseline", "seccompProfile_restricted":
		x.seccomp(at, s.SeccompProfile)
	case "appArmorProfile":
		x.appArmor(at, s.AppArmorProfile)
	case "runAsNonRoot":
		x.nonRoot(at, s.RunAsNonRoot)
	case "runAsUser":
		x.user(at, s.RunAsUser)
	case "windowsHostProcess":
		x.hostProcess(at, s.WindowsOptions)
	}
}
