package operator

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// candidate is a workload, and the evidence for it.
type candidate struct {
	wl      int
	points  int
	breadth int
	domains int
}

// verdict is the workload that acts on the objects of a definition (-1 where that is unknown),
// or the reason why it is unknown.
type verdict struct {
	main   int
	points int
	why    string
}

// decide finds the workload that acts on the objects of each definition.
func (s *search) decide() []verdict {
	breadth := s.breadths()
	out := make([]verdict, len(s.defs))
	for i := range s.defs {
		out[i] = s.decideOne(i, breadth)
	}
	return out
}

func (s *search) decideOne(i int, breadth map[string]map[int]int) verdict {
	var all []candidate
	best := candidate{wl: -1}
	for _, wl := range slices.Sorted(maps.Keys(s.signs[i])) {
		signs := s.signs[i][wl].has
		if !s.able(i, wl) {
			continue
		}
		c := candidate{wl: wl, points: signs.points(), breadth: breadth[s.defs[i].group][wl], domains: len(s.homes[wl])}
		if c.domains > domains && !signs.has(signConversion|signOwner|signPackage|signWebhook|signLabels|signName) {
			continue
		}
		if c.points > best.points {
			best = c
		}
		if c.points >= enough {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return verdict{main: -1, why: s.explainNone(i, best)}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(b.breadth, a.breadth), cmp.Compare(a.domains, b.domains))
	})
	first := all[0]
	var rivals []string
	for _, c := range all[1:] {
		if c.points == first.points && c.breadth == first.breadth && c.domains == first.domains && !s.kin(c.wl, first.wl) && !s.twins(c.wl, first.wl) {
			rivals = append(rivals, check.Describe(s.workloads[c.wl].Ref))
		}
	}
	if len(rivals) > 0 {
		return verdict{main: -1, why: "several workloads act on it, and none stands out: " + check.Describe(s.workloads[first.wl].Ref) + ", " + object.ShortList(rivals)}
	}
	return verdict{main: first.wl, points: first.points}
}

// domains is the maximum number of domains of API groups for an operator. An account beyond it
// manages everything, and is no operator where its permissions are the only sign.
const domains = 12

// breadths counts, for each group, the definitions whose status each workload may write.
func (s *search) breadths() map[string]map[int]int {
	breadth := map[string]map[int]int{}
	for i, signs := range s.signs {
		for wl, have := range signs {
			if !have.has.has(signStatus | signGroup) {
				continue
			}
			group := s.defs[i].group
			if breadth[group] == nil {
				breadth[group] = map[int]int{}
			}
			breadth[group][wl]++
		}
	}
	return breadth
}

// able reports whether a workload could be the operator: it has some permission on the
// objects, or its permissions are unknown.
func (s *search) able(i, wl int) bool {
	if s.loose || !s.rightsRead() || s.workloads[wl].all {
		return true
	}
	return s.signsOf(i, wl).has(signStatus | signGroup | signFinalizers | signWrite | signRead | signConversion | signWebhook)
}

func (s *search) rightsRead() bool {
	w := s.w
	return w.Read(check.ClusterRoleKind, "") && w.Read(check.ClusterRoleBindingKind, "") && w.Read(check.RoleBindingKind, "") && w.Read(check.RoleKind, "")
}

// explainNone returns the reason why the operator of a definition is unknown.
func (s *search) explainNone(i int, best candidate) string {
	if unread := s.unread(); len(unread) > 0 {
		return strings.Join(unread, ", ") + " were not all read, and it is unknown which workload acts on its objects"
	}
	if best.wl >= 0 && best.points > 1 {
		return "no workload is clearly the one that acts on its objects; the closest is " + check.Describe(s.workloads[best.wl].Ref) + ", of which only this is known: " + object.ShortList(s.tellSigns([]int{i}, best.wl))
	}
	return "no workload of the cluster may write the status of its objects by a rule that names them: the operator runs outside of the cluster, is not installed, or has permissions by wildcard only"
}

func (s *search) unread() []string {
	var out []string
	for _, k := range []struct{ group, kind, plural string }{
		{"", "Pod", "pods"}, {"apps", "DaemonSet", "daemon sets"}, {"apps", "Deployment", "deployments"}, {"apps", "StatefulSet", "stateful sets"},
	} {
		if !s.w.Read(schema.GroupKind{Group: k.group, Kind: k.kind}, "") {
			out = append(out, k.plural)
		}
	}
	if !s.rightsRead() {
		out = append(out, "roles and their bindings")
	}
	return out
}
