package solve

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// release is a version that is not a prerelease: major, minor, patch.
type release [3]uint64

func releaseOf(v *semver.Version) release { return release{v.Major(), v.Minor(), v.Patch()} }

func (a release) compare(b release) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

// after is the first release behind those that begin with the first n numbers of a.
func (a release) after(n int) release {
	a[n-1]++
	clear(a[n:])
	return a
}

// span are the releases from the first on and before the second.
type span [2]release

func (s span) has(v release) bool { return s[0].compare(v) <= 0 && v.compare(s[1]) < 0 }

// spans reads the alternatives of a range that is known to be one. It returns nil where the
// range is written in a way that only semver reads: with x, a prerelease, != and the like.
// They are there because semver makes an error text for every version that is not in a range.
func spans(text string) []span {
	var out []span
	for part := range strings.SplitSeq(text, "||") {
		s := span{{}, {math.MaxUint64, 0, 0}}
		for _, f := range strings.FieldsFunc(part, func(c rune) bool { return c == ',' || c == ' ' }) {
			one, ok := comparison(f)
			if !ok {
				return nil
			}
			if one[0].compare(s[0]) > 0 {
				s[0] = one[0]
			}
			if one[1].compare(s[1]) < 0 {
				s[1] = one[1]
			}
		}
		out = append(out, s)
	}
	return out
}

func comparison(text string) (span, bool) {
	number := strings.TrimLeft(text, "<>=~^")
	v, n := numbers(number)
	if n == 0 {
		return span{}, false
	}
	top := release{math.MaxUint64, 0, 0}
	switch text[:len(text)-len(number)] {
	case ">=":
		return span{v, top}, true
	case ">":
		return span{v.after(n), top}, true
	case "<":
		return span{{}, v}, true
	case "<=":
		return span{{}, v.after(n)}, true
	case "", "=":
		return span{v, v.after(n)}, n == 3 || v != release{}
	case "~":
		return span{v, v.after(min(n, 2))}, v != release{}
	case "^":
		return span{v, v.after(1)}, v[0] > 0
	}
	return span{}, false
}

// numbers reads one to three numbers, and says how many they are; 0 where they are none.
func numbers(text string) (v release, n int) {
	for f := range strings.SplitSeq(text, ".") {
		k, err := strconv.ParseUint(f, 10, 31)
		if err != nil || n == 3 || len(f) > 1 && f[0] == '0' {
			return v, 0
		}
		v[n] = k
		n++
	}
	return v, n
}
