package definition

import (
	"reflect"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schemaBuiltInFields are the field names of the Kubernetes types that definitions embed.
// Types of one field are left out: their shape is no evidence.
var schemaBuiltInFields = sync.OnceValue(func() []map[string]bool {
	return schemaFieldsOf(
		corev1.PodSpec{}, corev1.Container{}, corev1.EphemeralContainer{},
		corev1.Affinity{}, corev1.NodeAffinity{}, corev1.PodAffinity{}, corev1.PodAffinityTerm{}, corev1.WeightedPodAffinityTerm{},
		corev1.NodeSelectorTerm{}, corev1.NodeSelectorRequirement{}, corev1.PreferredSchedulingTerm{},
		corev1.Toleration{}, corev1.TopologySpreadConstraint{},
		corev1.ResourceRequirements{}, corev1.VolumeResourceRequirements{}, corev1.ResourceClaim{},
		corev1.EnvVar{}, corev1.EnvVarSource{}, corev1.EnvFromSource{}, corev1.ObjectFieldSelector{}, corev1.ResourceFieldSelector{},
		corev1.SecretKeySelector{}, corev1.ObjectReference{}, corev1.TypedLocalObjectReference{}, corev1.TypedObjectReference{},
		corev1.Volume{}, corev1.VolumeSource{}, corev1.VolumeMount{}, corev1.VolumeDevice{}, corev1.KeyToPath{},
		corev1.SecretVolumeSource{}, corev1.ConfigMapVolumeSource{}, corev1.EmptyDirVolumeSource{}, corev1.CSIVolumeSource{},
		corev1.ProjectedVolumeSource{}, corev1.VolumeProjection{}, corev1.ServiceAccountTokenProjection{}, corev1.ClusterTrustBundleProjection{}, corev1.PodCertificateProjection{},
		corev1.HostPathVolumeSource{}, corev1.NFSVolumeSource{},
		corev1.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimStatus{}, corev1.PersistentVolumeClaim{}, corev1.PersistentVolumeSource{},
		corev1.Probe{}, corev1.Lifecycle{}, corev1.LifecycleHandler{}, corev1.HTTPGetAction{}, corev1.ContainerPort{},
		corev1.SecurityContext{}, corev1.PodSecurityContext{}, corev1.SELinuxOptions{}, corev1.Capabilities{},
		corev1.HostAlias{}, corev1.PodDNSConfig{},
		corev1.Service{}, corev1.ServiceSpec{}, corev1.ServicePort{}, corev1.ServiceStatus{},
		appsv1.DeploymentSpec{}, appsv1.DeploymentStrategy{}, appsv1.StatefulSetSpec{}, appsv1.StatefulSetUpdateStrategy{}, appsv1.DaemonSetSpec{},
		batchv1.JobSpec{}, batchv1.CronJobSpec{},
		autoscalingv2.HorizontalPodAutoscalerSpec{}, autoscalingv2.HorizontalPodAutoscalerBehavior{}, autoscalingv2.HPAScalingRules{}, autoscalingv2.MetricSpec{},
		networkingv1.IngressSpec{}, networkingv1.NetworkPolicySpec{}, networkingv1.NetworkPolicyPort{}, networkingv1.NetworkPolicyPeer{},
		policyv1.PodDisruptionBudgetSpec{},
		admissionregistrationv1.NamedRuleWithOperations{}, admissionregistrationv1.ParamRef{}, admissionregistrationv1.MatchResources{},
		rbacv1.PolicyRule{}, rbacv1.Subject{}, rbacv1.RoleRef{},
		metav1.ObjectMeta{}, metav1.LabelSelector{}, metav1.LabelSelectorRequirement{}, metav1.Condition{},
		apiextensionsv1.JSONSchemaProps{},
	)
})

func schemaFieldsOf(types ...any) []map[string]bool {
	out := make([]map[string]bool, 0, len(types))
	for _, example := range types {
		fields := map[string]bool{}
		schemaAddFields(reflect.TypeOf(example), fields)
		out = append(out, fields)
	}
	return out
}

// schemaAddFields adds the names that the fields of a type have in JSON.
func schemaAddFields(t reflect.Type, to map[string]bool) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			to[name] = true
		} else if f.Anonymous && strings.Contains(rest, "inline") && f.Type.Kind() == reflect.Struct {
			schemaAddFields(f.Type, to)
		}
	}
}

// schemaBuiltIn reports whether an object has the fields of a Kubernetes type, and no others:
// all of them for a small type, and most of them otherwise, for an older version or a few
// omissions.
func schemaBuiltIn(p *apiextensionsv1.JSONSchemaProps) bool {
	if len(p.Properties) < 2 {
		return false
	}
	for _, fields := range schemaBuiltInFields() {
		if schemaHasFields(p, fields) {
			return true
		}
	}
	return false
}

func schemaHasFields(p *apiextensionsv1.JSONSchemaProps, fields map[string]bool) bool {
	const smallType = 4
	want := len(fields)
	if want > smallType {
		want = (want + 1) / 2
	}
	if len(p.Properties) < want && !schemaIsResources(p) {
		return false
	}
	for name := range p.Properties {
		if !fields[name] {
			return false
		}
	}
	return true
}

// schemaIsResources reports whether an object has requests and limits, and at most claims
// besides, which newer versions added.
func schemaIsResources(p *apiextensionsv1.JSONSchemaProps) bool {
	_, limits := p.Properties["limits"]
	_, requests := p.Properties["requests"]
	return limits && requests
}
