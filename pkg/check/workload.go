package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Workload is a built-in controller of pods, or a pod that has none, and the existing pods.
type Workload struct {
	// Ref is the topmost built-in controller: the Deployment and not its ReplicaSet, the
	// CronJob and not its Job. A pod without one is its own workload.
	Ref object.Ref
	// Template is that of its pods; nil for a bare pod.
	Template *corev1.PodTemplateSpec
	// Replicas is the desired number; 0 for a CronJob, the number of its pods for a
	// DaemonSet.
	Replicas int32
	// Pods are the existing ones that have not ended, in order.
	Pods []*corev1.Pod
	// Object is the Deployment, StatefulSet, ... as it was read.
	Object runtime.Object
}

// Specs returns the specs of the pods as they run, without those whose containers are equal;
// the spec of the template where there are no pods.
func (wl *Workload) Specs() []*corev1.PodSpec {
	var out []*corev1.PodSpec
	for _, p := range wl.Pods {
		if !slices.ContainsFunc(out, func(s *corev1.PodSpec) bool {
			return len(s.Containers) > 0 && len(p.Spec.Containers) > 0 && &s.Containers[0] == &p.Spec.Containers[0]
		}) {
			out = append(out, &p.Spec)
		}
	}
	if len(out) == 0 && wl.Template != nil {
		out = append(out, &wl.Template.Spec)
	}
	return out
}

// IsLongRunning reports whether its pods run until they are deleted.
func (wl *Workload) IsLongRunning() bool {
	switch wl.Ref.Kind {
	case "Job", "CronJob":
		return false
	case "Pod":
		return len(wl.Pods) > 0 && wl.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyNever
	}
	return true
}

// SpecPath is the path of the pods' spec in a workload.
func (wl *Workload) SpecPath() string {
	switch {
	case wl.Template == nil:
		return "spec"
	case wl.Ref.Kind == "CronJob":
		return "spec.jobTemplate.spec.template.spec"
	}
	return "spec.template.spec"
}

// Images returns the images of the containers of a workload's pods, without init containers.
func (wl *Workload) Images() []Image {
	var out []Image
	for _, spec := range wl.Specs() {
		for i := range spec.Containers {
			out = append(out, ParseImage(spec.Containers[i].Image))
		}
	}
	return out
}

// Accounts returns the service accounts that the pods of a workload run as, in order, each
// once.
func (wl *Workload) Accounts() []object.Ref {
	var out []object.Ref
	for _, spec := range wl.Specs() {
		if sa := ServiceAccount(wl.Ref.Namespace, spec.ServiceAccountName); !slices.Contains(out, sa) {
			out = append(out, sa)
		}
	}
	return out
}

// ServiceAccount is the reference of the account that a pod names; default where it names none.
func ServiceAccount(namespace, name string) object.Ref {
	if name == "" {
		name = "default"
	}
	return object.Ref{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}
