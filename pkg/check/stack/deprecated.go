package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// deprecation is a label, annotation or volume that Kubernetes has deprecated.
type deprecation struct {
	severity check.Severity
	what     string
	instead  string
}

// Source: "Well-Known Labels, Annotations and Taints" and the pages of the volume types on
// kubernetes.io.
var (
	deprecatedLabels = map[string]deprecation{
		"beta.kubernetes.io/arch":                  {check.Info, "deprecated since Kubernetes 1.14", corev1.LabelArchStable},
		"beta.kubernetes.io/os":                    {check.Info, "deprecated since Kubernetes 1.14", corev1.LabelOSStable},
		"beta.kubernetes.io/instance-type":         {check.Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelInstanceTypeStable},
		"failure-domain.beta.kubernetes.io/zone":   {check.Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelTopologyZone},
		"failure-domain.beta.kubernetes.io/region": {check.Warning, "deprecated since Kubernetes 1.17, and no longer set on new nodes by all clouds", corev1.LabelTopologyRegion},
		"node-role.kubernetes.io/master":           {check.Warning, "no longer set by kubeadm since 1.24", "node-role.kubernetes.io/control-plane"},
	}
	deprecatedAnnotations = map[string]deprecation{
		"seccomp.security.alpha.kubernetes.io/pod":        {check.Warning, "ignored since Kubernetes 1.27: the pods run without the profile", "securityContext.seccompProfile"},
		"container.seccomp.security.alpha.kubernetes.io/": {check.Warning, "ignored since Kubernetes 1.27: the containers run without the profile", "securityContext.seccompProfile"},
		"container.apparmor.security.beta.kubernetes.io/": {check.Info, "deprecated since Kubernetes 1.30", "securityContext.appArmorProfile"},
		"scheduler.alpha.kubernetes.io/critical-pod":      {check.Info, "ignored since Kubernetes 1.16", "priorityClassName"},
	}
)

func deprecatedFields(s *check.Stack, r *check.Result) {
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
		at := strings.TrimSuffix(wl.SpecPath(), "spec")
		var found []check.Finding
		add := func(field, value string, old deprecation) {
			found = append(found, check.Finding{
				Severity: old.severity, Object: wl.Ref, Field: at + field, Value: value,
				Message: fmt.Sprintf("uses %s, which is %s", value, old.what), Remedy: "use " + old.instead,
			})
		}
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			if old, ok := annotationDeprecation(key, annotations); ok {
				add("metadata.annotations", key, old)
			}
		}
		nodeLabels(spec, add)
		volumes(spec.Volumes, add)
		if len(found) == 0 {
			r.Pass(wl.Ref)
		}
		for _, f := range found {
			r.AddFinding(f)
		}
	}
}

// annotationDeprecation reports whether an annotation of a template is deprecated.
func annotationDeprecation(key string, all map[string]string) (deprecation, bool) {
	if old, ok := deprecatedAnnotations[key]; ok {
		return old, true
	}
	if prefix, _, ok := strings.Cut(key, "/"); ok {
		old, ok := deprecatedAnnotations[prefix+"/"]
		return old, ok && all[key] != ""
	}
	return deprecation{}, false
}

// nodeLabels checks the labels of nodes by which a pod is placed. Tolerations of an old
// taint next to a new one do no harm.
func nodeLabels(spec *corev1.PodSpec, add func(field, value string, old deprecation)) {
	see := func(field, key string) {
		if old, ok := deprecatedLabels[key]; ok {
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
	for _, term := range podTerms(a) {
		see("spec.affinity."+term.field, term.topologyKey)
	}
}

type term struct{ field, topologyKey string }

func podTerms(a *corev1.Affinity) []term {
	var out []term
	add := func(field string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for _, t := range required {
			out = append(out, term{field, t.TopologyKey})
		}
		for _, t := range preferred {
			out = append(out, term{field, t.PodAffinityTerm.TopologyKey})
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

func volumes(volumes []corev1.Volume, add func(field, value string, old deprecation)) {
	for i := range volumes {
		v := &volumes[i]
		field := fmt.Sprintf("spec.volumes[%d]", i)
		switch {
		case v.GitRepo != nil:
			add(field, "gitRepo", deprecation{check.Warning, "off by default since Kubernetes 1.33: the pod does not start there", "an init container that clones into an emptyDir"})
		case v.FlexVolume != nil:
			add(field, "flexVolume", deprecation{check.Info, "deprecated since Kubernetes 1.23", "a CSI driver"})
		case v.Glusterfs != nil:
			add(field, "glusterfs", deprecation{check.Warning, "removed in Kubernetes 1.26: the pod does not start there", "a CSI driver"})
		case v.RBD != nil:
			add(field, "rbd", deprecation{check.Warning, "removed in Kubernetes 1.31: the pod does not start there", "the Ceph CSI driver"})
		case v.CephFS != nil:
			add(field, "cephfs", deprecation{check.Warning, "removed in Kubernetes 1.31: the pod does not start there", "the Ceph CSI driver"})
		}
	}
}
