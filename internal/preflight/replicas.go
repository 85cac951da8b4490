package preflight

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// replicas is the desired number of pods: what is written, or the present number where
// nothing is, within what an autoscaler allows.
func (f *evaluation) replicas(it *Item, written *int32) int {
	n := int(orOne(written))
	if wl, ok := f.World.Workload(it.Ref); ok && written == nil {
		n = int(wl.Replicas)
	}
	low, high, autoscaler := f.scaled(it.Ref)
	if autoscaler.Name == "" || n == 0 {
		return n
	}
	n = min(max(n, low), high)
	if high > n {
		f.note("%s may request up to %d pods of %s: %d are counted", plain(autoscaler), high, plain(it.Ref), n)
	}
	return n
}

// scaled returns the bounds that a HorizontalPodAutoscaler sets, of the batch or of the
// cluster.
func (f *evaluation) scaled(ref object.Ref) (low, high int, autoscaler object.Ref) {
	for _, a := range f.autoscalers() {
		t := a.Spec.ScaleTargetRef
		gv, err := schema.ParseGroupVersion(t.APIVersion)
		if err != nil || gv.Group != ref.Group || t.Kind != ref.Kind || t.Name != ref.Name || a.Namespace != ref.Namespace {
			continue
		}
		low = int(orOne(a.Spec.MinReplicas))
		return low, max(low, int(a.Spec.MaxReplicas)), object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: a.Namespace, Name: a.Name}
	}
	return 0, 0, object.Ref{}
}

func orOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

func (f *evaluation) autoscalers() []*autoscalingv2.HorizontalPodAutoscaler {
	return together[autoscalingv2.HorizontalPodAutoscaler](f, schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"})
}
