package app

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podTemplatePath returns the path of the pod template of a built-in kind; nil for none.
func podTemplatePath(ref object.Ref) []string {
	switch ref.Group + "/" + ref.Kind {
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "batch/Job", "/ReplicationController":
		return []string{"spec", "template"}
	case "batch/CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}
	}
	return nil
}

// podTrial is a pod as the controller of an object would create it, with the changes that let it be
// tried before the rest of the batch exists.
type podTrial struct {
	pod *corev1.Pod
	// account, priority and runtime are names that the batch creates, and that the trial omits.
	account, priority, runtime string
	pulls                      []corev1.LocalObjectReference
}

// podOf makes a pod from the template of an object, without an owner and with a generated name. For
// a StatefulSet it is the first pod, without its fixed name, which may be taken. It is nil without
// a template, and an error where the template is malformed.
func podOf(ref object.Ref, owner *unstructured.Unstructured) (*corev1.Pod, error) {
	path := podTemplatePath(ref)
	if path == nil {
		return nil, nil
	}
	fields, found, err := unstructured.NestedMap(owner.Object, path...)
	if err != nil || !found {
		return nil, err
	}
	template := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, template); err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.APIVersion, pod.Kind = "v1", "Pod"
	pod.Name, pod.GenerateName, pod.Namespace = "", podPrefix(ref.Name), ref.Namespace
	pod.OwnerReferences = nil
	if ref.Kind == "StatefulSet" {
		if err := statefulPod(pod, ref, owner); err != nil {
			return nil, err
		}
	}
	return pod, nil
}

// podPrefix is the beginning of the names of pods. The server cuts it where it is too long.
func podPrefix(name string) string { return name + "-" }

// statefulPod adds what only the pods of a StatefulSet have: a network identity, and volumes for
// its claims, which replace those of the template with the same name.
func statefulPod(pod *corev1.Pod, ref object.Ref, owner *unstructured.Unstructured) error {
	service, _, _ := unstructured.NestedString(owner.Object, "spec", "serviceName")
	pod.Spec.Hostname, pod.Spec.Subdomain = ref.Name+"-0", service
	claims, _, err := unstructured.NestedSlice(owner.Object, "spec", "volumeClaimTemplates")
	if err != nil {
		return err
	}
	for _, c := range claims {
		fields, _ := c.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "metadata", "name")
		if name == "" {
			return fmt.Errorf("a volumeClaimTemplate without a name")
		}
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name + "-" + ref.Name + "-0"},
		}})
	}
	return nil
}

// borrow removes from a pod the names that the batch has yet to create: admission refuses a pod whose
// service account, priority class or runtime class is missing.
func borrow(pod *corev1.Pod, created func(object.Ref) bool, everyAccount bool) *podTrial {
	t := &podTrial{pod: pod, pulls: pod.Spec.ImagePullSecrets}
	spec := &pod.Spec
	account := spec.ServiceAccountName
	if account == "" {
		account = spec.DeprecatedServiceAccount
	}
	if account != "" && account != "default" && (everyAccount || created(object.Ref{Kind: "ServiceAccount", Namespace: pod.Namespace, Name: account})) {
		t.account = account
		spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
	}
	if name := spec.PriorityClassName; name != "" && created(object.Ref{Group: "scheduling.k8s.io", Kind: "PriorityClass", Name: name}) {
		t.priority, spec.PriorityClassName, spec.Priority = name, "", nil
	}
	if name := spec.RuntimeClassName; name != nil && created(object.Ref{Group: "node.k8s.io", Kind: "RuntimeClass", Name: *name}) {
		t.runtime, spec.RuntimeClassName, spec.Overhead = *name, nil, nil
	}
	return t
}

// restore puts the removed names back into an admitted pod, and its namespace.
func (t *podTrial) restore(admitted *unstructured.Unstructured, namespace string) {
	admitted.SetNamespace(namespace)
	set := func(value any, field string) {
		_ = unstructured.SetNestedField(admitted.Object, value, "spec", field) // spec is a mapping: it was admitted
	}
	if t.account != "" {
		set(t.account, "serviceAccountName")
		set(t.account, "serviceAccount")
		pulls := []any{}
		for _, p := range t.pulls {
			pulls = append(pulls, map[string]any{"name": p.Name})
		}
		unstructured.RemoveNestedField(admitted.Object, "spec", "imagePullSecrets")
		if len(pulls) > 0 {
			set(pulls, "imagePullSecrets")
		}
	}
	if t.priority != "" {
		set(t.priority, "priorityClassName")
		unstructured.RemoveNestedField(admitted.Object, "spec", "priority")
		unstructured.RemoveNestedField(admitted.Object, "spec", "preemptionPolicy")
	}
	if t.runtime != "" {
		set(t.runtime, "runtimeClassName")
	}
}
