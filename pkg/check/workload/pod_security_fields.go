package workload

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The fields that the checks of the Pod Security Standards read. The value is empty for a
// required field that is not set.

func podBool(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// baselineCapabilities are those that baseline lets a container add: the defaults of runtimes.
var baselineCapabilities = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
	"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

func (x *podContext) capabilities(at string, c *corev1.Capabilities) {
	if c == nil {
		c = &corev1.Capabilities{}
	}
	restricted := x.id == "capabilities_restricted"
	var added []string
	for _, one := range c.Add {
		if restricted && one != "NET_BIND_SERVICE" || !restricted && !slices.Contains(baselineCapabilities, one) {
			added = append(added, string(one))
		}
	}
	if restricted && !slices.Contains(c.Drop, "ALL") {
		dropped := make([]string, 0, len(c.Drop))
		for _, one := range c.Drop {
			dropped = append(dropped, string(one))
		}
		x.say(at, "securityContext.capabilities.drop", strings.Join(dropped, ", "))
	}
	if len(added) > 0 {
		x.say(at, "securityContext.capabilities.add", strings.Join(added, ", "))
	}
}

// hosts finds probes and hooks that the kubelet sends to a host other than the pod.
func (x *podContext) hosts(at string, c *corev1.Container) {
	call := func(field string, get *corev1.HTTPGetAction, dial *corev1.TCPSocketAction) {
		if get != nil && get.Host != "" {
			x.say(at, field+".httpGet.host", get.Host)
		}
		if dial != nil && dial.Host != "" {
			x.say(at, field+".tcpSocket.host", dial.Host)
		}
	}
	for _, p := range []struct {
		field string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if p.probe != nil {
			call(p.field, p.probe.HTTPGet, p.probe.TCPSocket)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	if h := c.Lifecycle.PostStart; h != nil {
		call("lifecycle.postStart", h.HTTPGet, h.TCPSocket)
	}
	if h := c.Lifecycle.PreStop; h != nil {
		call("lifecycle.preStop", h.HTTPGet, h.TCPSocket)
	}
}

func (x *podContext) seLinux(at string, o *corev1.SELinuxOptions) {
	if o == nil {
		return
	}
	for _, f := range [][2]string{{"user", o.User}, {"role", o.Role}} {
		if f[1] != "" {
			x.say(at, "securityContext.seLinuxOptions."+f[0], f[1])
		}
	}
	if o.Type != "" && !slices.Contains([]string{"container_t", "container_init_t", "container_kvm_t", "container_engine_t"}, o.Type) {
		x.say(at, "securityContext.seLinuxOptions.type", o.Type)
	}
}

// seccomp: baseline refuses a wrong profile, restricted a missing one too. The pod's setting
// is the default of its containers.
func (x *podContext) seccomp(at string, p *corev1.SeccompProfile) {
	const field = "securityContext.seccompProfile.type"
	if p != nil {
		if !podSeccompAllowed(p) {
			x.say(at, field, string(p.Type))
		}
		return
	}
	if pod := x.spec.SecurityContext.SeccompProfile; at != "" && x.id == "seccompProfile_restricted" && (pod == nil || !podSeccompAllowed(pod)) {
		x.say(at, field, "")
	}
}

func podSeccompAllowed(p *corev1.SeccompProfile) bool {
	return p.Type == corev1.SeccompProfileTypeRuntimeDefault || p.Type == corev1.SeccompProfileTypeLocalhost
}

func (x *podContext) appArmor(at string, p *corev1.AppArmorProfile) {
	if p != nil && p.Type != corev1.AppArmorProfileTypeRuntimeDefault && p.Type != corev1.AppArmorProfileTypeLocalhost {
		x.say(at, "securityContext.appArmorProfile.type", string(p.Type))
	}
}

func (x *podContext) nonRoot(at string, set *bool) {
	const field = "securityContext.runAsNonRoot"
	if set != nil {
		if !*set {
			x.say(at, field, "false")
		}
		return
	}
	if pod := x.spec.SecurityContext.RunAsNonRoot; at != "" && (pod == nil || !*pod) {
		x.say(at, field, "")
	}
}

func (x *podContext) user(at string, id *int64) {
	if id != nil && *id == 0 {
		x.say(at, "securityContext.runAsUser", "0")
	}
}

func (x *podContext) hostProcess(at string, o *corev1.WindowsSecurityContextOptions) {
	if o != nil && o.HostProcess != nil && *o.HostProcess {
		x.say(at, "securityContext.windowsOptions.hostProcess", "true")
	}
}
