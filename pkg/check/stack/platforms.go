package stack

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// platforms checks workloads of clusters whose nodes have several architectures, and pods
// whose image was refused for its platform.
func platforms(s *check.Stack, r *check.Result) {
	w := s.World
	nodes := check.All[*corev1.Node](w.Facts, "", "Node")
	archs := architectures(nodes)
	for _, wl := range s.Workloads() {
		if f, wrong := refused(wl); wrong {
			r.AddFinding(f)
			continue
		}
		switch specs := wl.Specs(); {
		case len(nodes) == 0 || !w.Read(schema.GroupKind{Kind: "Node"}, ""):
			r.AddUnknown(wl.Ref, "nodes could not be read, so their architectures are unknown")
		case len(archs) < 2 || len(specs) == 0 || bound(specs[0]):
			r.Pass(wl.Ref)
		default:
			ran := ranOn(wl, nodes)
			if missing := slices.DeleteFunc(slices.Clone(archs), func(a string) bool { return slices.Contains(ran, a) }); len(missing) > 0 {
				r.AddUnknown(wl.Ref, fmt.Sprintf("nodes are %s, the pods may run on any of them, and whether the images exist for %s cannot be read from the cluster", object.AndList(archs), strings.Join(missing, ", ")))
				continue
			}
			r.Pass(wl.Ref)
		}
	}
}

// architectures returns the architectures of nodes that take pods, in order.
func architectures(nodes []*corev1.Node) []string {
	var out []string
	for _, n := range nodes {
		if arch := architecture(n); arch != "" && !n.Spec.Unschedulable && !slices.Contains(out, arch) {
			out = append(out, arch)
		}
	}
	slices.Sort(out)
	return out
}

func architecture(n *corev1.Node) string {
	if arch := n.Labels[corev1.LabelArchStable]; arch != "" {
		return arch
	}
	return n.Status.NodeInfo.Architecture
}

// bound reports whether a pod selects nodes by their architecture.
func bound(spec *corev1.PodSpec) bool {
	keys := []string{corev1.LabelArchStable, "beta.kubernetes.io/arch"}
	for _, key := range keys {
		if spec.NodeSelector[key] != "" {
			return true
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return slices.Contains(keys, e.Key) })
	})
}

// ranOn returns the architectures of the nodes on which pods of a workload are ready, which
// prove that the images exist.
func ranOn(wl *check.Workload, nodes []*corev1.Node) []string {
	archs := map[string]string{}
	for _, n := range nodes {
		archs[n.Name] = architecture(n)
	}
	var out []string
	for _, p := range wl.Pods {
		if check.PodReady(p) {
			out = append(out, archs[p.Spec.NodeName])
		}
	}
	return out
}

// refused finds a container whose image has no variant for the node. The texts are those of
// containerd, CRI-O and Docker.
func refused(wl *check.Workload) (check.Finding, bool) {
	for _, p := range wl.Pods {
		for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for _, c := range list {
				if c.State.Waiting == nil {
					continue
				}
				message := strings.ToLower(c.State.Waiting.Message)
				for _, words := range []string{"no match for platform", "no matching manifest for", "no image found in manifest list for architecture", "no image found in image index for architecture"} {
					if strings.Contains(message, words) {
						return check.Finding{
							Object: wl.Ref, Field: "spec.containers[" + c.Name + "].image", Value: c.Image,
							Message: fmt.Sprintf("the image of container %s does not exist for node %s: pod %s waits with %s", c.Name, p.Spec.NodeName, p.Name, c.State.Waiting.Reason),
						}, true
					}
				}
			}
		}
	}
	return check.Finding{}, false
}
