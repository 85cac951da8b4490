package operator

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// kin reports whether two workloads are parts of one installation of one operator: a
// controller and its webhook. Labels that differ take precedence.
func (s *search) kin(i, j int) bool {
	a, b := &s.workloads[i], &s.workloads[j]
	if i == j {
		return true
	}
	if a.Ref.Namespace != b.Ref.Namespace {
		return false
	}
	for _, key := range []string{"app.kubernetes.io/part-of", "helm.sh/chart"} {
		x, y := a.labels[key], b.labels[key]
		if x == "" || y == "" {
			continue
		}
		if x != y {
			return false
		}
		if key == "app.kubernetes.io/part-of" {
			return true
		}
	}
	if sameAccount(a, b) {
		return true
	}
	if name := a.labels["app.kubernetes.io/name"]; name != "" && name == b.labels["app.kubernetes.io/name"] && a.labels[graph.InstanceLabel] == b.labels[graph.InstanceLabel] {
		return true
	}
	if s.oneRelease(a, b) {
		return akin(a.stem, b.stem) || a.labels["helm.sh/chart"] != ""
	}
	return a.stem != "" && a.stem == b.stem
}

// sameAccount reports whether two workloads share a service account. The account default of a
// namespace is no evidence.
func sameAccount(a, b *workload) bool {
	return slices.ContainsFunc(a.accounts, func(sa object.Ref) bool { return sa.Name != "default" && slices.Contains(b.accounts, sa) })
}

// oneRelease reports whether one release installed both, or both are of one instance.
func (s *search) oneRelease(a, b *workload) bool {
	name, ns := s.w.HelmRelease(a.Ref)
	other, otherNS := s.w.HelmRelease(b.Ref)
	if name != "" && other != "" {
		return name == other && ns == otherNS
	}
	instance := a.labels[graph.InstanceLabel]
	return instance != "" && instance == b.labels[graph.InstanceLabel]
}

// akin reports whether one stem is a prefix of the other: cert and cert-manager-csi.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && (a == b || strings.HasPrefix(b, a+"-"))
}

// twins reports whether two workloads are the same program installed twice: they run the same
// image, under a name of the same stem or in another namespace.
func (s *search) twins(i, j int) bool {
	a, b := &s.workloads[i], &s.workloads[j]
	if a.Ref.Namespace == b.Ref.Namespace && !akin(a.stem, b.stem) {
		return false
	}
	return slices.ContainsFunc(a.images, func(image string) bool { return image != "" && slices.Contains(b.images, image) })
}
