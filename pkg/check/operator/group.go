package operator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// operators groups the definitions by the workloads that act on them.
func (s *search) operators() []*check.Operator {
	verdicts := s.decide()
	mains := s.families(verdicts)
	var out []*check.Operator
	unknown := map[string][]int{}
	for i := range s.defs {
		if verdicts[i].main < 0 {
			name := cmp.Or(s.defs[i].own, s.defs[i].group)
			unknown[name+"\x00"+verdicts[i].why] = append(unknown[name+"\x00"+verdicts[i].why], i)
		}
	}
	byName := map[string]*check.Operator{}
	for _, family := range slices.SortedFunc(maps.Keys(mains), cmp.Compare[int]) {
		o := s.operator(mains[family], verdicts)
		out = append(out, o)
		if _, taken := byName[o.Name]; taken {
			o.Name = o.Workloads[0].Ref.Namespace + "/" + o.Workloads[0].Ref.Name
		}
		byName[o.Name] = o
	}
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		name, reason, _ := strings.Cut(key, "\x00")
		if o := byName[name]; o != nil && s.defs[unknown[key][0]].own != "" && !strings.HasPrefix(reason, "several") {
			s.define(o, unknown[key])
			o.Evidence = append(o.Evidence, fmt.Sprintf("the catalog says that %s is one of the kinds of %s", s.tellDefs(unknown[key]), name))
			continue
		}
		if o := byName[name]; o != nil && len(o.Workloads) == 0 {
			s.define(o, unknown[key])
			continue
		}
		o := &check.Operator{World: s.w, Name: name, Unknown: reason}
		s.define(o, unknown[key])
		out = append(out, o)
		if byName[name] == nil {
			byName[name] = o
		}
	}
	slices.SortFunc(out, compareOperators)
	return out
}

// define adds definitions to an operator.
func (s *search) define(o *check.Operator, defs []int) {
	for _, i := range defs {
		o.Definitions = append(o.Definitions, s.defs[i].ref)
		if s.defs[i].kind.Kind != "" {
			o.Kinds = append(o.Kinds, s.defs[i].kind)
		}
	}
	slices.SortFunc(o.Definitions, object.Compare)
	slices.SortFunc(o.Kinds, object.CompareKinds)
}

// families groups the definitions whose main workloads are of one operator, by the first of
// the workloads.
func (s *search) families(verdicts []verdict) map[int][]int {
	var mains []int
	for _, v := range verdicts {
		if v.main >= 0 && !slices.Contains(mains, v.main) {
			mains = append(mains, v.main)
		}
	}
	slices.Sort(mains)
	family := map[int]int{}
	for n, wl := range mains {
		family[wl] = wl
		for _, before := range mains[:n] {
			if !s.kin(before, wl) && !s.twins(before, wl) && !s.sameEntry(before, wl, verdicts) {
				continue
			}
			from, to := family[wl], family[before]
			for k, v := range family {
				if v == from {
					family[k] = to
				}
			}
		}
	}
	out := map[int][]int{}
	for i, v := range verdicts {
		if v.main >= 0 {
			out[family[v.main]] = append(out[family[v.main]], i)
		}
	}
	return out
}

// sameEntry reports whether two workloads of a namespace act on definitions with one name in
// the catalog.
func (s *search) sameEntry(a, b int, verdicts []verdict) bool {
	if s.workloads[a].Ref.Namespace != s.workloads[b].Ref.Namespace {
		return false
	}
	names := map[string]bool{}
	for i, v := range verdicts {
		if v.main == a && s.defs[i].own != "" {
			names[s.defs[i].own] = true
		}
	}
	for i, v := range verdicts {
		if v.main == b && names[s.defs[i].own] {
			return true
		}
	}
	return false
}

// operator makes an operator from definitions whose main workloads are of one family.
func (s *search) operator(defs []int, verdicts []verdict) *check.Operator {
	mains := map[int]bool{}
	for _, i := range defs {
		mains[verdicts[i].main] = true
	}
	members := maps.Clone(mains)
	for _, i := range defs {
		for wl := range s.signs[i] {
			if !members[wl] && s.able(i, wl) && s.joins(i, wl, mains, defs) {
				members[wl] = true
			}
		}
	}
	o := &check.Operator{World: s.w}
	order := slices.SortedFunc(maps.Keys(members), func(a, b int) int {
		x, y := s.rank(a, defs), s.rank(b, defs)
		return cmp.Or(cmp.Compare(x.made, y.made), cmp.Compare(y.writes, x.writes), cmp.Compare(y.status, x.status), cmp.Compare(y.leads, x.leads), cmp.Compare(y.points, x.points), cmp.Compare(a, b))
	})
	for _, wl := range order {
		o.Workloads = append(o.Workloads, s.workloads[wl].Workload)
		for _, sentence := range s.tellSigns(defs, wl) {
			o.Evidence = append(o.Evidence, check.Describe(s.workloads[wl].Ref)+" "+sentence)
		}
	}
	s.define(o, defs)
	o.Name = s.name(defs, verdicts, order[0])
	return o
}

// joins reports whether a workload acts on a definition together with the main ones.
func (s *search) joins(def, wl int, mains map[int]bool, defs []int) bool {
	signs := s.signsOf(def, wl)
	acts := signs.has(signStatus | signGroup | signFinalizers | signWrite | signConversion | signWebhook)
	if top := s.workloads[wl].top; acts && top != (object.Ref{}) {
		if slices.ContainsFunc(defs, func(i int) bool { return s.defs[i].kind == top.GroupKind() }) {
			return true
		}
	}
	for main := range mains {
		if (acts || signs.has(signRead|signAny)) && s.kin(main, wl) || acts && s.twins(main, wl) {
			return true
		}
	}
	return false
}

// rank is the sort key of workloads by which the main one comes first.
type rank struct {
	// made is 1 where a custom resource made the workload.
	made           int
	writes, status int
	// leads is 1 where the name ends in operator, controller or manager.
	leads, points int
}

func (s *search) rank(wl int, defs []int) rank {
	var r rank
	if s.workloads[wl].top != (object.Ref{}) {
		r.made = 1
	}
	for _, i := range defs {
		signs := s.signsOf(i, wl)
		if signs.has(signStatus | signGroup | signFinalizers | signWrite | signAny) {
			r.writes++
		}
		if signs.has(signStatus) {
			r.status++
		}
		r.points += signs.points()
	}
	name := s.workloads[wl].Ref.Name
	for _, word := range []string{"operator", "controller", "manager"} {
		if strings.HasSuffix(name, word) {
			r.leads = 1
		}
	}
	return r
}

// name returns the catalog's name with the most evidence, or else that of the main workload.
func (s *search) name(defs []int, verdicts []verdict, main int) string {
	votes := map[string]int{}
	for _, i := range defs {
		votes[s.defs[i].own] += verdicts[i].points - enough + 1
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if votes[name] > votes[best] {
			best = name
		}
	}
	return cmp.Or(best, s.workloads[main].Ref.Name)
}
