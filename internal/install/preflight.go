package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// CheckKubernetes checks the version of the cluster against the range that a part supports, without
// the suffix of a vendor (v1.33.2-gke.100). An empty range or version passes; an invalid range is
// refused.
func CheckKubernetes(part, constraint, version string) (Refusal, bool) {
	if strings.TrimSpace(constraint) == "" || version == "" {
		return Refusal{}, false
	}
	refuse := func(hint, format string, args ...any) (Refusal, bool) {
		return Refusal{Topic: "kubernetes", Part: part, Message: fmt.Sprintf(format, args...), Hint: hint}, true
	}
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return refuse("report it to the publisher", "%s requires Kubernetes %q, which is not a range of versions", part, constraint)
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return refuse("", "the cluster reports Kubernetes %q, which is not a version", version)
	}
	bare := semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	if c.Check(bare) {
		return Refusal{}, false
	}
	return refuse("choose another version of it, or another cluster", "%s requires Kubernetes %s, and the cluster has %s", part, constraint, version)
}

// CheckImages compares the platforms of images (by reference) with those of the nodes
// (linux/amd64). An image that no node can run is refused; one that only some nodes can run is a
// note. Images without known platforms are skipped, and so is everything if no node is known.
func CheckImages(parts []*Part, platforms map[string][]string, nodes []string) ([]Refusal, []string) {
	var refused []Refusal
	var notes []string
	for _, p := range parts {
		for _, image := range rendered(p).Images {
			has := platforms[image]
			if len(has) == 0 || len(nodes) == 0 {
				continue
			}
			var unsupported []string
			for _, n := range nodes {
				if !slices.ContainsFunc(has, func(h string) bool { return h == n || strings.HasPrefix(h, n+"/") }) {
					unsupported = append(unsupported, n)
				}
			}
			slices.Sort(unsupported)
			unsupported = slices.Compact(unsupported)
			switch {
			case len(unsupported) == 0:
			case len(unsupported) == len(distinct(nodes)):
				refused = append(refused, Refusal{
					Topic: "images", Part: p.Name,
					Message: fmt.Sprintf("image %s is for %s, and the nodes are %s", image, strings.Join(has, ", "), strings.Join(unsupported, ", ")),
					Hint:    "choose an image for these platforms by the values of " + p.Name,
				})
			default:
				notes = append(notes, fmt.Sprintf("image %s of %s is for %s: its pods cannot run on nodes that are %s", image, p.Name, strings.Join(has, ", "), strings.Join(unsupported, ", ")))
			}
		}
	}
	return refused, notes
}

func distinct(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}
