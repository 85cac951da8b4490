package check

import (
	"slices"
	"strconv"
	"strings"
)

// VersionsAgree reports whether a tag is of a version: 15.4-bookworm of 15, v2.0.1 of 2.0.1.
func VersionsAgree(want, tag string) bool {
	if want == "" || tag == "" {
		return false
	}
	if want == tag {
		return true
	}
	a, b := versionNumbers(want), versionNumbers(tag)
	return len(a) > 0 && len(b) >= len(a) && slices.Equal(a, b[:len(a)])
}

// IsOlder reports whether both are versions with at least two numbers, and the first is
// plainly the smaller.
func IsOlder(tag, want string) bool {
	a, b := versionNumbers(tag), versionNumbers(want)
	const enough = 2
	if len(a) < enough || len(b) < enough {
		return false
	}
	n := min(len(a), len(b))
	return slices.Compare(a[:n], b[:n]) < 0
}

// versionNumbers returns the numbers at the start of a version: 2, 0 and 1 of v2.0.1-rc.1.
func versionNumbers(version string) []int {
	version = strings.TrimLeft(version, "vV")
	end := strings.IndexFunc(version, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if end >= 0 {
		version = version[:end]
	}
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
