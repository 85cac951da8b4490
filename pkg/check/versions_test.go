package check

import (
	"slices"
	"testing"
)

// TestVersionOrder: of two versions at most one is older, and none than itself.
func TestVersionOrder(t *testing.T) {
	versions := []string{"1.2", "1.2.0", "v1.2.3", "1.10", "2.0-rc.1", "2", "latest", "", "20240101", "1.2.3+build", "sha-abc.1"}
	for _, a := range versions {
		for _, b := range versions {
			if IsOlder(a, b) && (IsOlder(b, a) || VersionsAgree(b, a)) {
				t.Errorf("%q is older than %q, and the other way round or equal", a, b)
			}
		}
	}
	if !slices.Equal(versionNumbers("v1.10.3-rc.1"), []int{1, 10, 3}) {
		t.Errorf("numbers of v1.10.3-rc.1: %v", versionNumbers("v1.10.3-rc.1"))
	}
}
