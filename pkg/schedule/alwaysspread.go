package schedule

import (
	"cmp"
	"slices"
)

// withSpread shows that a pod with topology spread constraints finds a node at any time.
//
// A node is bad at some time if others have closed it, or if its domain then has too many
// pods for one of the constraints. For a constraint that is looked at domain by domain
// (see pushed), the nodes that can be bad are bounded; if the bounds of all constraints
// and that of the closed nodes together leave a node, the pod finds one.
//
// That is not so where there are few domains, as all of them get pods. Then one constraint
// is led by its least domain, which never has too many: see led.
func (m *model) withSpread(c int, rules []*spreadRule) bool {
	for _, r := range rules {
		if r.self > r.skew {
			return false
		}
	}
	if m.hasRoomDespite(c, m.in[c], rules, nil) {
		return true
	}
	return slices.ContainsFunc(rules, func(r *spreadRule) bool { return m.led(c, r, rules) })
}

// hasRoomDespite says that one of the nodes is neither closed nor bad for any of the rules, but
// the one that leads.
func (m *model) hasRoomDespite(c int, nodes nodeSet, rules []*spreadRule, leads *spreadRule) bool {
	left := nodes.count()
	if left == 0 {
		return false
	}
	for _, r := range rules {
		if r != leads {
			left -= m.pushed(c, r, nodes)
		}
	}
	return left > 0 && m.othersNear(c, nodes).closable() < left
}

// countSelected counts the pods that are to be placed and count for a rule, but one of the class.
func (m *model) countSelected(c int, r *spreadRule) int {
	n := 0
	for i, k := range m.classes {
		if r.means[i] {
			n += k.count()
			if i == c {
				n--
			}
		}
	}
	return n
}

// floor is the least count that others are measured by, now; it only grows.
func (r *spreadRule) floor() int { return int(r.least(r.base)) }

// pushed bounds how many of the nodes are in domains that can have too many pods for a
// rule. What a domain may have is at least the skew above the least count of now. A domain
// that has less needs as many pods more as that takes, and there are only so many: the
// bound is what fits into that number, the best domains first, and a part of the last.
func (m *model) pushed(c int, r *spreadRule, nodes nodeSet) int {
	limit := r.floor() + r.skew - r.self
	sizes := make([]int, r.part.domains)
	nodes.each(func(n int) {
		if d := r.part.of[n]; d >= 0 {
			sizes[d]++
		}
	})
	type domain struct{ size, need int }
	var domains []domain
	bad := 0
	for d, size := range sizes {
		switch need := limit + 1 - int(r.base[d]); {
		case size == 0:
		case need <= 0:
			bad += size
		default:
			domains = append(domains, domain{size, need})
		}
	}
	slices.SortFunc(domains, func(a, b domain) int { return cmp.Compare(b.size*a.need, a.size*b.need) })
	left := m.countSelected(c, r)
	for _, d := range domains {
		if d.need > left {
			return bad + d.size*left/d.need
		}
		left -= d.need
		bad += d.size
	}
	return bad
}

// manyDomains is more than are looked at one by one.
const manyDomains = 128

// led: let O be the domains of a rule in each of which the pod finds a node at any time, but
// for this rule. Of these, one with the fewest pods has at most their average. It is open if
// that is not more than the skew above the least domain, which has at least what is there
// now if it is not one of O, and is the least of O if it is.
func (m *model) led(c int, r *spreadRule, rules []*spreadRule) bool {
	if len(r.present) > manyDomains {
		return false
	}
	sum, count, lowest := 0, 0, 1<<30
	if len(r.present) < r.minDomains {
		lowest = 0
	}
	for _, d := range r.present {
		if m.hasRoomDespite(c, m.nodesWithin(c, r.part, func(e int32) bool { return e == d }), rules, r) {
			sum += int(r.base[d])
			count++
		} else {
			lowest = min(lowest, int(r.base[d]))
		}
	}
	switch {
	case count == 0:
		return false
	case lowest == 1<<30:
		return true
	}
	return (sum+m.countSelected(c, r))/count+r.self-lowest <= r.skew
}
