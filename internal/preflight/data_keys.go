package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// keys finds containers that take a key from a ConfigMap or Secret of the batch that has no
// such key. Those of the cluster are never read that far.
func (f *evaluation) keys() {
	for _, c := range f.podSets {
		if c.wanted == 0 && !c.later {
			continue
		}
		for _, in := range containers(&c.pod.Spec) {
			for j := range in.Env {
				f.keyOf(c, in, &in.Env[j])
			}
		}
	}
}

func (f *evaluation) keyOf(c *podSet, in *corev1.Container, env *corev1.EnvVar) {
	if env.ValueFrom == nil {
		return
	}
	ref, key, optional := object.Ref{Namespace: c.pod.Namespace}, "", (*bool)(nil)
	switch from := env.ValueFrom; {
	case from.ConfigMapKeyRef != nil:
		ref.Kind, ref.Name, key, optional = "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
	case from.SecretKeyRef != nil:
		ref.Kind, ref.Name, key, optional = "Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional
	default:
		return
	}
	it := f.items[ref]
	if optional != nil && *optional || it == nil && !f.known(ref) {
		return
	}
	if it == nil || it.Exists {
		f.note("whether %s has the keys that containers need", plain(ref))
		return
	}
	var keys []string
	for _, part := range []string{"data", "stringData", "binaryData"} {
		data, _, _ := unstructured.NestedMap(it.Object.Object, part)
		for k := range data {
			keys = append(keys, k)
		}
	}
	if slices.Contains(keys, key) {
		return
	}
	slices.Sort(keys)
	c.lost = true
	f.add(Finding{
		Topic: References, Verdict: impossible, Object: c.of, Reason: "CreateContainerConfigError",
		Field: fmt.Sprintf(c.spec()+".containers[%s].env[%s].valueFrom", in.Name, env.Name), Value: key,
		Message: fmt.Sprintf("container %s needs key %q of %s, which the batch creates without it (keys: %s): the container cannot start", in.Name, key, near(ref, ref.Namespace), strings.Join(keys, ", ")),
		Remedy:  "correct the key, or add it",
	})
}

func (f *evaluation) known(ref object.Ref) bool { exists, _ := f.exists(ref); return exists }
