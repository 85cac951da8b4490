package solve

import (
	"context"
	"fmt"
)

// What a question may be. Real catalogues have some hundred packages of some ten versions.
const (
	maxPackages     = 10_000     // that wants and installed packages could need
	maxVersions     = 10_000     // of a package
	maxRequirements = 1_000      // of a version, its conflicts among them
	maxComparisons  = 10_000_000 // of a range with a version, or of an API with one
)

// bindAll makes needs ready, and counts what looking at them comes to.
func (u *universe) bindAll(ctx context.Context) error {
	sum := 0
	for _, n := range u.inOrder {
		if err := ctx.Err(); err != nil {
			return err
		}
		u.bind(n)
		sum += n.cost()
		if sum > maxComparisons {
			return fmt.Errorf("the packages have too many different ranges for their versions: more than %d million comparisons; want fewer versions or fewer ranges (one of them is %s)", maxComparisons/1_000_000, words(n.Requirement))
		}
	}
	return nil
}

func tooMany(p *pack) error {
	if len(p.versions) > maxVersions {
		return fmt.Errorf("package %s has %d versions: want %d at most", short(p.name), len(p.versions), maxVersions)
	}
	for _, v := range p.versions {
		if n := len(v.Requires) + len(v.Conflicts); n > maxRequirements {
			return fmt.Errorf("package %s %s has %d requirements and conflicts: want %d at most", short(p.name), v.Version, n, maxRequirements)
		}
	}
	return nil
}
