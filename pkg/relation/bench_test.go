package relation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func podObject(p *corev1.Pod) object.Object {
	return object.Object{Ref: object.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}, Version: "v1", Meta: p, Body: p}
}

// typicalPod has ten links: owner, account, node, priority, pull secret, token volume, claim, two
// references and two hosts in the environment of one of its two containers.
func typicalPod() *corev1.Pod {
	env := []corev1.EnvVar{
		{Name: "DB_HOST", Value: "db"},
		{Name: "DB_PORT", Value: "3306"},
		{Name: "LOG_LEVEL", Value: "info"},
		{Name: "CACHE_URL", Value: "redis://:secret@cache.shop.svc:6379/0"},
		{Name: "JAVA_OPTS", Value: "-Xmx512m -Dfile.encoding=UTF-8"},
		{Name: "FEATURE", Value: "true"},
		{Name: "DB_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "p"}}},
		{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "shop", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "u"}}},
		Spec: corev1.PodSpec{
			NodeName: "n1", ServiceAccountName: "web", PriorityClassName: "high",
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
			Containers: []corev1.Container{
				{Name: "web", Env: env, EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}}},
				{Name: "proxy"},
			},
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-web-0"}}},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
				}}}},
			},
		},
	}
}

func BenchmarkTypicalPod(b *testing.B) {
	set, o, n := relation.NewSet(relation.BuiltIn()...), podObject(typicalPod()), 0
	emit := func(int, relation.Link) { n++ }
	b.ReportAllocs()
	for b.Loop() {
		set.Links(o, emit)
	}
	b.ReportMetric(float64(n)/float64(b.N), "links/op")
}

// BenchmarkNothing: a pod whose only reference is its account.
func BenchmarkNothing(b *testing.B) {
	p := typicalPod()
	p.OwnerReferences = nil
	p.Spec = corev1.PodSpec{
		ServiceAccountName: "web",
		Containers:         []corev1.Container{{Env: []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "FEATURE", Value: "true"}, {Name: "PORT", Value: "8080"}}}},
		Volumes:            []corev1.Volume{{Name: "tmp"}},
	}
	set, o := relation.NewSet(relation.BuiltIn()...), podObject(p)
	emit := func(int, relation.Link) {}
	b.ReportAllocs()
	for b.Loop() {
		set.Links(o, emit)
	}
}

// TestNoAllocation: an object without links allocates only the two closures that emit links.
func TestNoAllocation(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"}}}
	p.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "HOST", Value: "127.0.0.1"}, {Name: "OPTS", Value: "a b://c"}, {Name: "F", Value: "/x"}}}}
	p.Spec.Volumes = []corev1.Volume{{Name: "tmp"}}
	set, o := relation.NewSet(relation.BuiltIn()...), podObject(p)
	emit := func(_ int, l relation.Link) { t.Errorf("unexpected link %+v", l) }
	if n := testing.AllocsPerRun(10, func() { set.Links(o, emit) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
