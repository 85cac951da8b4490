package solve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxLength limits a version or a range, in bytes.
const maxLength = 256

// Range is a range of semantic versions. The zero value is that of an empty text.
type Range struct {
	constraints *semver.Constraints
}

// ParseRange parses a range: comparisons that must all hold, separated by spaces or commas, and
// alternatives between ||: ">=1.14 <2", "~1.2 || ^2.1", "1.x". An empty one matches any version
// that is not a prerelease. A prerelease matches only if one of the comparisons names one:
// ">=2.0.0-0".
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
	return Range{constraints: c}, nil
}

// Contains reports whether a version is in the range.
func (r Range) Contains(v *semver.Version) bool {
	if r.constraints == nil {
		return v.Prerelease() == ""
	}
	return r.constraints.Check(v)
}

// overlaps reports whether a version is in the range, including prereleases between its bounds.
func (r Range) overlaps(v *semver.Version) bool {
	if r.constraints == nil {
		return true
	}
	c := *r.constraints
	c.IncludePrerelease = true
	return c.Check(v)
}

// ParseVersion parses a semantic version: three numbers, an optional prerelease and build: 1.14.2,
// 2.0.0-rc.1. A leading v is not allowed.
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

// parseCluster parses the version of a cluster without the vendor's suffix: v1.31.4-eks-2d5f260 is
// 1.31.4, which is in a range such as ">=1.29".
func parseCluster(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%.40q is not a version of Kubernetes: expected one such as 1.31.4", text)
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", ""), nil
}
