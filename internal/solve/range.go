package solve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxLength is the most bytes that a version or a range may have.
const maxLength = 256

// Range is a range of semantic versions. The zero value is that of an empty text.
type Range struct {
	text        string
	constraints *semver.Constraints
}

// ParseRange reads a range: comparisons that hold together, separated by spaces or commas,
// and alternatives between ||: ">=1.14 <2", "~1.2 || ^2.1", "1.x". An empty one is any
// version that is not a prerelease. A prerelease is in a range only where a comparison beside
// it names one: ">=2.0.0-0".
func ParseRange(text string) (Range, error) {
	if len(text) > maxLength {
		return Range{}, fmt.Errorf("%q... is not a version range: it has %d bytes, at most %d are allowed", text[:32], len(text), maxLength)
	}
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return Range{}, nil
	}
	for part := range strings.SplitSeq(trimmed, "||") {
		if strings.TrimSpace(part) == "" {
			return Range{}, fmt.Errorf("%q is not a version range: an alternative beside || is empty", text)
		}
	}
	c, err := semver.NewConstraint(trimmed)
	if err != nil {
		return Range{}, fmt.Errorf("%q is not a version range: expected comparisons such as \">=1.14 <2\", \"~1.2\" or \"^1.2 || ^2\"", text)
	}
	return Range{text: trimmed, constraints: c}, nil
}

// Contains says that a version is in the range.
func (r Range) Contains(v *semver.Version) bool {
	if r.constraints == nil {
		return v.Prerelease() == ""
	}
	return r.constraints.Check(v)
}

// overlaps says that a version is in the range, prereleases between its bounds among them.
func (r Range) overlaps(v *semver.Version) bool {
	if r.constraints == nil {
		return true
	}
	c := *r.constraints
	c.IncludePrerelease = true
	return c.Check(v)
}

// String returns the range as it is written; empty for any version.
func (r Range) String() string { return r.text }

// ParseVersion reads a semantic version: three numbers, then a prerelease and a build where
// it has them: 1.14.2, 2.0.0-rc.1. A v before it is not one.
func ParseVersion(text string) (*semver.Version, error) {
	v, err := semver.StrictNewVersion(text)
	if err == nil {
		return v, nil
	}
	shown := text
	if len(shown) > maxLength {
		shown = shown[:32] + "..."
	}
	if loose, lax := semver.NewVersion(text); lax == nil {
		return nil, fmt.Errorf("%q is not a semantic version: expected %s", shown, loose)
	}
	if text == "" {
		return nil, errors.New("the version is empty: expected three numbers, 1.14.2")
	}
	return nil, fmt.Errorf("%q is not a semantic version: expected three numbers, 1.14.2, and what comes after - or +", shown)
}

// parseCluster reads the version of a cluster without what its vendor puts behind it:
// v1.31.4-eks-2d5f260 is 1.31.4, which a range such as ">=1.29" is to hold.
func parseCluster(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%.40q is not a version of Kubernetes: expected one such as 1.31.4", text)
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", ""), nil
}
