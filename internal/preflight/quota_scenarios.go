package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// quotaScenario is a scenario that decides: with fine, all is well if it is within the
// quota; without, it is impossible if it is not.
type quotaScenario struct {
	scenario
	fine          bool
	before, after string
}

// tries are the scenarios that are held against a quota, one after another: what certainly
// exists; each Job's first pod; rollouts that cannot begin; and rollouts that replace pod by
// pod.
func (f *evaluation) tries(name corev1.ResourceName) []quotaScenario {
	out := []quotaScenario{{scenario: scenario{noPodSet, certain}, after: ": part of it cannot be created"}}
	for _, one := range f.podSets {
		if one.ends && !one.guess && !one.later {
			out = append(out, quotaScenario{after: ": its pods cannot be created", scenario: scenario{noPodSet, func(c *podSet) int {
				if c == one {
					return min(1, c.missing())
				}
				return certain(c)
			}}})
		}
		if one.first > 0 && one.wanted >= len(one.old) && ready(one.old) && !one.guess {
			out = append(out, quotaScenario{
				before: fmt.Sprintf("the rollout cannot start: none of the %s is deleted before a new one runs (maxUnavailable is 0), and ", object.Count(len(one.old), "old pod")),
				scenario: scenario{func(c *podSet) bool { return c == one }, func(c *podSet) int {
					if c == one {
						return 1
					}
					return 0
				}},
			})
		}
	}
	return append(out, quotaScenario{fine: true, scenario: scenario{anyPodSet, func(c *podSet) int {
		if len(c.old) > 0 && c.overlap && usesNoMore(c, name) {
			return min(1, c.first)
		}
		return c.missing()
	}}})
}

// usesNoMore says that a new pod uses no more of a resource than any old one.
func usesNoMore(c *podSet, name corev1.ResourceName) bool {
	current := podUsage(c.pod)[name]
	return !slices.ContainsFunc(c.old, func(p *corev1.Pod) bool {
		was := podUsage(p)[name]
		return current.Cmp(was) > 0
	}) && c.wanted <= len(c.old)
}

func itemOf(t, all *tally) *Item {
	if t.item != nil {
		return t.item
	}
	return all.item
}
