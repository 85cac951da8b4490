package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// portabilityOld is a label, annotation or volume that Kubernetes has deprecated.
type portabilityOld struct {
	severity Severity
	what     string
	instead  string
}

// Source: "Well-Known Labels, Annotations and Taints" and the pages of the volume types on
// kubernetes.io.
var (
	portabilityLabels = map[string]portabilityOld{
		"beta.kubernetes.io/arch":                  {Info, "deprecated since Kubernetes 1.14", corev1.LabelArchStable},
		"beta.kubernetes.io/os":                    {Info, "deprecated since Kubernetes 1.14", corev1.LabelOSStable},
		"beta.kubernetes.io/instance-type":         {Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelInstanceTypeStable},
		"failure-domain.beta.kubernetes.io/zone":   {Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelTopologyZone},
		"failure-domain.beta.kubernetes.io/region": {Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelTopologyRegion},
		"node-role.kubernetes.io/master":           {Warning, "no longer set by kubeadm since 1.24", "node-role.kubernetes.io/control-plane"},
	}
	portabilityAnnotations = map[string]portabilityOld{
		"seccomp.security.alpha.kubernetes.io/pod":        {Warning, "ignored since Kubernetes 1.27: the pods run without the profile", "securityContext.seccompProfile"},
		"container.seccomp.security.alpha.kubernetes.io/": {Warning, "ignored since Kubernetes 1.27: the containers run without the profile", "securityContext.seccompProfile"},
		"container.apparmor.security.beta.kubernetes.io/": {Info, "deprecated since Kubernetes 1.30", "securityContext.appArmorProfile"},
		"scheduler.alpha.kubernetes.io/critical-pod":      {Info, "ignored since Kubernetes 1.16", "priorityClassName"},
	}
)

func portabilityDeprecatedFields(s *Stack, r *Result) {
	for _, wl := range s.Workloads() {
		annotations, spec := map[string]string(nil), (*corev1.PodSpec)(nil)
		switch {
		case wl.Template != nil:
			annotations, spec = wl.Template.Annotations, &wl.Template.Spec
		case len(wl.Pods) > 0:
			// The API server itself writes annotations of AppArmor on pods.
			spec = &wl.Pods[0].Spec
		default:
			continue
		}
		at := strings.TrimSuffix(wl.specPath(), "spec")
		var found []Finding
		add := func(field, value string, old portabilityOld) {
			found = append(found, Finding{
				Severity: old.severity, Object: wl.Ref, Field: at + field, Value: value,
				Message: fmt.Sprintf("uses %s, which is %s", value, old.what), Remedy: "use " + old.instead,
			})
		}
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			if old, ok := portabilityAnnotation(key, annotations); ok {
				add("metadata.annotations", key, old)
			}
		}
		portabilityNodeLabels(spec, add)
		portabilityVolumes(spec.Volumes, add)
		if len(found) == 0 {
			r.Pass(wl.Ref)
		}
		for _, f := range found {
			r.AddFinding(f)
		}
	}
}

// portabilityAnnotation says whether an annotation of a template is an old one.
func portabilityAnnotation(key string, all map[string]string) (portabilityOld, bool) {
	if old, ok := portabilityAnnotations[key]; ok {
		return old, true
	}
	if prefix, _, ok := strings.Cut(key, "/"); ok {
		old, ok := portabilityAnnotations[prefix+"/"]
		return old, ok && all[key] != ""
	}
	return portabilityOld{}, false
}

// portabilityNodeLabels looks at the labels of nodes by which a pod is placed. Tolerations
// of an old taint beside a new one do no harm.
func portabilityNodeLabels(spec *corev1.PodSpec, add func(field, value string, old portabilityOld)) {
	see := func(field, key string) {
		if old, ok := portabilityLabels[key]; ok {
			add(field, key, old)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		see("spec.nodeSelector", key)
	}
	for i, c := range spec.TopologySpreadConstraints {
		see(fmt.Sprintf("spec.topologySpreadConstraints[%d].topologyKey", i), c.TopologyKey)
	}
	a := spec.Affinity
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				see("spec.affinity.nodeAffinity", e.Key)
			}
		}
	}
	for _, term := range portabilityPodTerms(a) {
		see("spec.affinity."+term.field, term.topologyKey)
	}
}

type portabilityTerm struct{ field, topologyKey string }

func portabilityPodTerms(a *corev1.Affinity) []portabilityTerm {
	var out []portabilityTerm
	add := func(field string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for _, t := range required {
			out = append(out, portabilityTerm{field, t.TopologyKey})
		}
		for _, t := range preferred {
			out = append(out, portabilityTerm{field, t.PodAffinityTerm.TopologyKey})
		}
	}
	if p := a.PodAffinity; p != nil {
		add("podAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		add("podAntiAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

func portabilityVolumes(volumes []corev1.Volume, add func(field, value string, old portabilityOld)) {
	for i := range volumes {
		v := &volumes[i]
		field := fmt.Sprintf("spec.volumes[%d]", i)
		switch {
		case v.GitRepo != nil:
			add(field, "gitRepo", portabilityOld{Warning, "off by default since Kubernetes 1.33: the pod does not start there", "an init container that clones into an emptyDir"})
		case v.FlexVolume != nil:
			add(field, "flexVolume", portabilityOld{Info, "deprecated since Kubernetes 1.23", "a CSI driver"})
		case v.Glusterfs != nil:
			add(field, "glusterfs", portabilityOld{Warning, "removed in Kubernetes 1.26: the pod does not start there", "a CSI driver"})
		case v.RBD != nil:
			add(field, "rbd", portabilityOld{Warning, "removed in Kubernetes 1.31: the pod does not start there", "the Ceph CSI driver"})
		case v.CephFS != nil:
			add(field, "cephfs", portabilityOld{Warning, "removed in Kubernetes 1.31: the pod does not start there", "the Ceph CSI driver"})
		}
	}
}
