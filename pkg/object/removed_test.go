package object_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestRemoved(t *testing.T) {
	for _, c := range []struct {
		apiVersion, kind, want string
	}{
		{"extensions/v1beta1", "Ingress", "removed in Kubernetes 1.22, use networking.k8s.io/v1"},
		{"networking.k8s.io/v1beta1", "Ingress", "removed in Kubernetes 1.22, use networking.k8s.io/v1"},
		{"batch/v1beta1", "CronJob", "removed in Kubernetes 1.25, use batch/v1"},
		{"policy/v1beta1", "PodSecurityPolicy", "removed in Kubernetes 1.25 without a successor"},
		{"networking.k8s.io/v1", "Ingress", ""},
		// Kinds that were added to a version after others in it were removed.
		{"networking.k8s.io/v1beta1", "IPAddress", ""},
		{"storage.k8s.io/v1beta1", "VolumeAttributesClass", ""},
		{"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy", ""},
		{"coordination.k8s.io/v1beta1", "LeaseCandidate", ""},
		{"v1", "Pod", ""},
		{"example.com/v1beta1", "Ingress", ""},
	} {
		r, removed := object.Removed(schema.FromAPIVersionAndKind(c.apiVersion, c.kind))
		if removed != (c.want != "") || removed && r.String() != c.want {
			t.Errorf("%s %s: %v, %v; want %q", c.apiVersion, c.kind, removed, r, c.want)
		}
	}
}

// In a group that is still served, the successor of a kind is a known version that is not itself
// removed; and no version occurs twice.
func TestRemovedAPIs(t *testing.T) {
	seen := sets.New[schema.GroupVersionKind]()
	for _, r := range object.RemovedAPIs() {
		if seen.Has(r.GroupVersionKind) {
			t.Errorf("%s occurs twice", r.GroupVersionKind)
		}
		seen.Insert(r.GroupVersionKind)
		next := r.Successor.WithKind(r.Kind)
		if _, gone := object.Removed(next); gone {
			t.Errorf("%s: the successor %s was removed as well", r.GroupVersionKind, next)
		}
		if scheme.Scheme.IsGroupRegistered(r.Successor.Group) && !r.Successor.Empty() && !scheme.Scheme.Recognizes(next) {
			t.Errorf("%s: there is no %s", r.GroupVersionKind, next)
		}
	}
}
