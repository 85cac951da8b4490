package solve_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// world is a small random question.
func world(r *rand.Rand) solve.Question {
	var q solve.Question
	names := []string{"a", "b", "c", "d", "e"}[:2+r.IntN(4)]
	ranges := []string{"", "", ">=2", "<2", "=1.0.0", ">=1 <3", ">=3", ">=2.0.0-0"}
	kinds := []string{"X.t.io", "Y.t.io"}
	asked := [][]string{nil, nil, nil, {"v1"}, {"v2"}, {"v1", "v2"}}
	need := func() solve.Requirement {
		if r.IntN(4) == 0 {
			return solve.Requirement{API: solve.API{Kind: kinds[r.IntN(2)], Versions: asked[r.IntN(len(asked))]}, Optional: r.IntN(5) == 0}
		}
		return solve.Requirement{Package: names[r.IntN(len(names))], Range: ranges[r.IntN(len(ranges))], Optional: r.IntN(4) == 0}
	}
	for _, n := range names {
		for _, v := range []string{"1.0.0", "2.0.0-rc.1", "2.0.0", "3.0.0"} {
			if r.IntN(3) == 0 || strings.Contains(v, "rc") && r.IntN(2) == 0 {
				continue
			}
			p := pkg(n, v)
			for range r.IntN(3) {
				p.Requires = append(p.Requires, need())
			}
			if r.IntN(6) == 0 {
				p.Conflicts = append(p.Conflicts, solve.Requirement{Package: names[r.IntN(len(names))], Range: ranges[r.IntN(len(ranges))]})
			}
			if r.IntN(3) == 0 {
				p.Provides = append(p.Provides, solve.API{Kind: kinds[r.IntN(2)], Versions: asked[1+r.IntN(len(asked)-1)]})
			}
			if r.IntN(6) == 0 {
				p.Kubernetes = ">=1.30"
			}
			q.Available = append(q.Available, p)
		}
	}
	for range 1 + r.IntN(2) {
		w := need()
		w.Optional = false
		q.Wants = append(q.Wants, solve.Want{Requirement: w, By: "the test"})
	}
	if r.IntN(2) == 0 {
		q.Kubernetes = "1.29.3"
	}
	if r.IntN(3) == 0 {
		q.Prefer = []string{names[r.IntN(len(names))]}
	}
	if r.IntN(5) == 0 {
		q.Served = []solve.API{{Kind: kinds[0], Versions: asked[r.IntN(len(asked))]}}
	}
	for i, p := range q.Available {
		if r.IntN(4) == 0 && !slices.ContainsFunc(q.Installed, func(o solve.Installed) bool { return o.Name == p.Name }) {
			if r.IntN(3) > 0 { // else it may lack something
				p.Requires, p.Conflicts = nil, nil
				q.Available[i] = p
			}
			q.Installed = append(q.Installed, solve.Installed{Package: p, Fixed: r.IntN(3) == 0})
		}
	}
	return q
}

// naive tries everything, and judges by the words of the package's documentation.
type naive struct {
	q     solve.Question
	names []string
	all   map[string][]solve.Package // the oldest first
	there map[string]solve.Installed
	loose bool           // who brings an API need not be decided
	only  []solve.Reason // the rules that are to hold; nil for all
	// reached are the packages that wants could lead to.
	reached map[string]bool
	within  map[string]bool // answers of in
	before  picked          // what is installed
}

func newNaive(q solve.Question) *naive {
	n := &naive{q: q, all: map[string][]solve.Package{}, there: map[string]solve.Installed{}, within: map[string]bool{}, before: picked{}}
	for _, p := range q.Available {
		if n.all[p.Name] == nil {
			n.names = append(n.names, p.Name)
		}
		n.all[p.Name] = append(n.all[p.Name], p)
	}
	for _, i := range q.Installed {
		n.there[i.Name] = i
		n.before[i.Name] = i.Package
	}
	slices.Sort(n.names)
	for _, list := range n.all {
		slices.SortFunc(list, func(a, b solve.Package) int { return semver.MustParse(a.Version).Compare(semver.MustParse(b.Version)) })
	}
	n.reached = n.reach()
	return n
}

func (n *naive) in(r solve.Requirement, v string, present bool) bool {
	key := r.Range + "\x00" + v
	in, ok := n.within[key]
	if !ok {
		p := semver.MustParse(v)
		in = p.Prerelease() == ""
		if r.Range != "" {
			c, _ := semver.NewConstraint(r.Range)
			in = c.Check(p)
		}
		n.within[key] = in
	}
	return in || r.Range == "" && present
}

type picked map[string]solve.Package

func (n *naive) isThere(p solve.Package) bool { return n.there[p.Name].Version == p.Version }

// serves says that one of the APIs is an asked one.
func serves(all []solve.API, asked solve.API) bool {
	for _, a := range all {
		if a.Kind != asked.Kind {
			continue
		}
		if a.Versions == nil || asked.Versions == nil {
			return true
		}
		for _, v := range a.Versions {
			if slices.Contains(asked.Versions, v) {
				return true
			}
		}
	}
	return false
}

func (n *naive) brings(p solve.Package, a solve.API) bool { return serves(p.Provides, a) }

func (n *naive) served(a solve.API) bool { return serves(n.q.Served, a) }

// reach are the packages that wants could lead to.
func (n *naive) reach() map[string]bool {
	reached := map[string]bool{}
	var follow func(r solve.Requirement)
	visit := func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, p := range n.all[name] {
			for _, r := range p.Requires {
				if !r.Optional {
					follow(r)
				}
			}
		}
	}
	follow = func(r solve.Requirement) {
		if r.Package != "" {
			visit(r.Package)
			return
		}
		for _, name := range n.names {
			if slices.ContainsFunc(n.all[name], func(p solve.Package) bool { return n.brings(p, solve.API{Kind: r.API.Kind}) }) {
				visit(name)
			}
		}
	}
	for _, w := range n.q.Wants {
		follow(w.Requirement)
	}
	return reached
}

// lacks says that an installed package does without something already, and that no want is
// about it.
func (n *naive) lacks(p solve.Package, r solve.Requirement) bool {
	if !n.isThere(p) || n.reached[p.Name] {
		return false
	}
	return !n.met(n.before, r)
}

func (n *naive) met(s picked, r solve.Requirement) bool {
	if r.Package != "" {
		p, ok := s[r.Package]
		if !ok {
			return r.Optional
		}
		return n.in(r, p.Version, n.isThere(p))
	}
	if r.Optional || n.served(r.API) {
		return true
	}
	for _, p := range s {
		if n.brings(p, r.API) {
			return true
		}
	}
	return false
}

func (n *naive) wanted(name string) bool {
	return slices.ContainsFunc(n.q.Wants, func(w solve.Want) bool { return w.Package == name })
}

func (n *naive) runs(p solve.Package) bool {
	return n.isThere(p) || p.Kubernetes == "" || n.q.Kubernetes == "" // 1.29 is never in >=1.30
}

// for says who is brought along for an API.
func (n *naive) brought(a solve.API) []string {
	var any, able []string
	for _, name := range n.names {
		if n.there[name].Name != "" || n.wanted(name) {
			continue
		}
		one, good := false, false
		for _, p := range n.all[name] {
			if n.brings(p, a) {
				one = true
				good = good || n.runs(p) && !strings.Contains(p.Version, "-")
			}
		}
		if one {
			any = append(any, name)
		}
		if good {
			able = append(able, name)
		}
	}
	for _, p := range n.q.Prefer {
		if slices.Contains(able, p) {
			return []string{p}
		}
	}
	switch {
	case len(able) == 0:
		return any
	case len(able) == 1 || n.loose:
		return able
	}
	return nil
}

func (n *naive) right(s picked) bool {
	for _, i := range n.q.Installed {
		p, ok := s[i.Name]
		if !ok || i.Fixed && p.Version != i.Version && n.holds(solve.Stays, i.Name, solve.Requirement{}) {
			return false
		}
		if !i.Fixed && n.holds(solve.NotDown, i.Name, solve.Requirement{}) && semver.MustParse(p.Version).LessThan(semver.MustParse(i.Version)) && !slices.ContainsFunc(n.q.Wants, func(w solve.Want) bool {
			return w.Package == i.Name && w.Range != "" && !n.in(w.Requirement, i.Version, true)
		}) {
			return false
		}
	}
	for _, w := range n.q.Wants {
		if n.holds(solve.Wanted, "", w.Requirement) && !n.met(s, w.Requirement) {
			return false
		}
	}
	for _, p := range s {
		if !n.runs(p) && n.holds(solve.Kubernetes, p.Name, solve.Requirement{Range: p.Kubernetes}) {
			return false
		}
		for _, r := range p.Requires {
			if n.isThere(p) && (n.lacks(p, r) || r.Optional && n.isThere(s[r.Package])) {
				continue
			}
			if n.holds(solve.Needed, p.Name, r) && !n.met(s, r) {
				return false
			}
		}
		for _, c := range p.Conflicts {
			o, ok := s[c.Package]
			if !ok || o.Name == p.Name || n.isThere(p) && n.isThere(o) || !n.holds(solve.Apart, p.Name, c) {
				continue
			}
			if c.Range == "" {
				return false
			}
			k, _ := semver.NewConstraint(c.Range)
			k.IncludePrerelease = true
			if k.Check(semver.MustParse(o.Version)) {
				return false
			}
		}
	}
	return true
}

// options are the versions of a package in the order in which they are to be tried.
func (n *naive) options(name string) []solve.Package {
	out := slices.Clone(n.all[name])
	slices.Reverse(out)
	if current, ok := n.there[name]; ok && !n.wanted(name) {
		out = slices.DeleteFunc(out, n.isThere)
		out = slices.Insert(out, 0, current.Package)
	}
	return out
}

// score walks through an answer in the order in which packages are to be chosen, and says of
// each choice the how-many-best it is: it is smaller for the better of two answers. It is nil
// where the walk does not come to all packages of the answer: then nothing needs them.
func (n *naive) score(s picked) []int {
	score := []int{}
	var walked []string
	type ask struct {
		by string
		solve.Requirement
	}
	deferred := map[string]bool{}
	brought := func(a solve.API) bool {
		return slices.ContainsFunc(walked, func(name string) bool { return n.brings(s[name], a) })
	}
	next := func() (ask, bool) {
		var asks []ask
		for _, w := range n.q.Wants {
			if n.holds(solve.Wanted, "", w.Requirement) {
				asks = append(asks, ask{"", w.Requirement})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.there)) {
			asks = append(asks, ask{"", needs(name, "")})
		}
		for _, name := range walked {
			for _, r := range s[name].Requires {
				if !n.lacks(s[name], r) && n.holds(solve.Needed, name, r) {
					asks = append(asks, ask{name, r})
				}
			}
		}
		asks = slices.DeleteFunc(asks, func(a ask) bool {
			if a.Package != "" {
				return a.Optional || slices.Contains(walked, a.Package)
			}
			return a.Optional || n.served(a.API) || brought(a.API) || deferred[fmt.Sprint(a)]
		})
		if i := slices.IndexFunc(asks, func(a ask) bool { return a.Package != "" }); i > 0 {
			return asks[i], true
		}
		if len(asks) == 0 {
			return ask{}, false
		}
		return asks[0], true
	}
	for a, ok := next(); ok; a, ok = next() {
		var options []solve.Package
		if a.Package != "" {
			options = n.options(a.Package)
		} else {
			bringers := n.brought(a.API)
			for _, name := range n.names {
				if (n.there[name].Name != "" || n.wanted(name)) && !slices.Contains(walked, name) {
					bringers = append(bringers, name)
				}
			}
			for _, name := range bringers {
				options = append(options, slices.DeleteFunc(n.options(name), func(p solve.Package) bool {
					return !n.brings(p, a.API) || strings.Contains(p.Version, "-") && !n.isThere(p)
				})...)
			}
		}
		i := slices.IndexFunc(options, func(p solve.Package) bool { return s[p.Name].Version == p.Version })
		switch {
		case i >= 0:
			walked = append(walked, options[i].Name)
		case a.Package != "":
			return nil
		default:
			deferred[fmt.Sprint(a)] = true
			i = len(options)
		}
		score = append(score, i)
	}
	if len(walked) < len(s) {
		return nil
	}
	return score
}

func (n *naive) best() picked {
	var best picked
	var score []int
	s := picked{}
	var try func(i int)
	try = func(i int) {
		if i == len(n.names) {
			if n.right(s) {
				if c := n.score(s); c != nil && (best == nil || slices.Compare(c, score) < 0) {
					best, score = maps.Clone(s), c
				}
			}
			return
		}
		try(i + 1)
		for _, p := range n.all[n.names[i]] {
			s[n.names[i]] = p
			try(i + 1)
		}
		delete(s, n.names[i])
	}
	try(0)
	return best
}

// besides says that nothing of an answer needs a package: what is installed does, which is
// not in the answer.
func (n *naive) besides(got []solve.Choice, p solve.Package) bool {
	needs := func(r solve.Requirement) bool {
		return !r.Optional && (r.Package == p.Name || r.Package == "" && n.brings(p, r.API) && !n.served(r.API) &&
			!slices.ContainsFunc(got, func(c solve.Choice) bool { return n.brings(c.Package, r.API) }))
	}
	return !slices.ContainsFunc(n.q.Wants, func(w solve.Want) bool { return needs(w.Requirement) }) &&
		!slices.ContainsFunc(got, func(c solve.Choice) bool { return slices.ContainsFunc(c.Requires, needs) })
}

// asking returns the first of those that are said to need an API and do not.
func (n *naive) asking(a solve.API, askers []string) string {
	for _, asker := range askers {
		name, versions, _ := strings.Cut(asker, " ")
		asks := func(r solve.Requirement) bool { return !r.Optional && reflect.DeepEqual(r.API, a) }
		right := slices.ContainsFunc(n.q.Wants, func(w solve.Want) bool { return w.By == asker && asks(w.Requirement) })
		for _, p := range n.all[name] {
			right = right || slices.Contains(strings.Split(versions, ", "), p.Version) && slices.ContainsFunc(p.Requires, asks)
		}
		if !right {
			return asker
		}
	}
	return ""
}

// holds says that a rule is one of those that are to hold.
func (n *naive) holds(kind solve.ReasonKind, name string, r solve.Requirement) bool {
	return n.only == nil || slices.ContainsFunc(n.only, func(o solve.Reason) bool {
		return o.Kind == kind && o.Package == name && reflect.DeepEqual(o.Requirement, r)
	})
}

func TestSolveIsRight(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 8))
		q := world(r)
		n := newNaive(q)
		best := n.best()
		got, err := solve.Solve(t.Context(), q)
		var loop *solve.LoopError
		var conflict *solve.ConflictError
		var ambiguous *solve.AmbiguousError
		switch {
		case errors.As(err, &loop):
			counts["loop"]++
			if best == nil {
				t.Fatalf("seed %d: %v, but nothing satisfies it", seed, err)
			}
			continue
		case errors.As(err, &conflict), errors.As(err, &ambiguous):
			if best != nil {
				t.Fatalf("seed %d: %v\nbut there is %v\n%+v", seed, err, best, q)
			}
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		case best == nil:
			t.Fatalf("seed %d: got %s, but nothing satisfies it\n%+v", seed, told(got), q)
		}
		switch {
		case conflict != nil:
			counts["conflict"]++
			n.loose, n.only = true, conflict.Reasons
			if best := n.best(); best != nil {
				t.Fatalf("seed %d: %v\nbut with these reasons alone there is %v\n%+v", seed, err, best, q)
			}
			for i, reason := range conflict.Reasons {
				n.only = slices.Delete(slices.Clone(conflict.Reasons), i, i+1)
				if n.best() == nil {
					t.Fatalf("seed %d: %v\nneeds no %q\n%+v", seed, err, reason.Text, q)
				}
			}
		case ambiguous != nil:
			counts["ambiguous"]++
			n.loose = true
			if want := n.brought(ambiguous.API); len(want) < 2 || !slices.Equal(ambiguous.Candidates, want) {
				t.Fatalf("seed %d: %v\nwant the candidates %v\n%+v", seed, err, want, q)
			}
			if want := n.asking(ambiguous.API, ambiguous.By); len(ambiguous.By) == 0 || want != "" {
				t.Fatalf("seed %d: %v\nbut %q does not need it\n%+v", seed, err, want, q)
			}
		default:
			counts["answer"]++
			for name, p := range best {
				i := slices.IndexFunc(got, func(c solve.Choice) bool { return c.Name == name })
				if i < 0 && (n.there[name].Version == p.Version || n.besides(got, p)) {
					continue
				}
				if i < 0 || got[i].Version != p.Version {
					t.Fatalf("seed %d: got %s, want %v\n%+v", seed, told(got), best, q)
				}
			}
			for i, c := range got {
				if best[c.Name].Name == "" || len(c.Why) == 0 {
					t.Fatalf("seed %d: %s is not needed: %s", seed, c.Name, told(got))
				}
				for _, name := range c.Needs {
					at := slices.IndexFunc(got, func(o solve.Choice) bool { return o.Name == name })
					must := c.Was != c.Version && slices.ContainsFunc(c.Requires, func(r solve.Requirement) bool {
						return !r.Optional && (r.Package == name || r.Package == "" && at >= 0 && len(n.brought(r.API)) == 1 && n.brings(got[at].Package, r.API))
					})
					if at < 0 || at > i && must {
						t.Fatalf("seed %d: %s is before %s: %s", seed, c.Name, name, told(got))
					}
				}
			}
		}
		properties(t, seed, r, q, got, err)
	}
	for _, kind := range []string{"answer", "conflict", "ambiguous", "loop"} {
		if counts[kind] < 3 {
			t.Errorf("%d of %s: the worlds are too much alike", counts[kind], kind)
		}
	}
	t.Log(counts)
}

// properties hold whatever the answer is.
func properties(t *testing.T, seed uint64, r *rand.Rand, q solve.Question, got []solve.Choice, err error) {
	t.Helper()
	other := q
	other.Available, other.Installed = slices.Clone(q.Available), slices.Clone(q.Installed)
	r.Shuffle(len(other.Available), func(i, j int) {
		other.Available[i], other.Available[j] = other.Available[j], other.Available[i]
	})
	slices.Reverse(other.Installed)
	other.Available = append(other.Available, pkg("zz-unrelated", "1.0.0", needs("a", "")), pkg("aa-unrelated", "not a version"))
	again, err2 := solve.Solve(t.Context(), other)
	if !reflect.DeepEqual(got, again) || fmt.Sprint(err) != fmt.Sprint(err2) {
		t.Fatalf("seed %d: got %s, %v\nshuffled, with an unrelated one %s, %v", seed, told(got), err, told(again), err2)
	}
	// A prerelease that is installed is in an empty range, which it is not before.
	if err != nil || slices.ContainsFunc(got, func(c solve.Choice) bool { return strings.Contains(c.Version, "-") }) {
		return
	}
	for _, c := range got {
		fixed := false
		other.Installed = slices.DeleteFunc(other.Installed, func(i solve.Installed) bool {
			fixed = fixed || i.Name == c.Name && i.Fixed
			return i.Name == c.Name
		})
		other.Installed = append(other.Installed, solve.Installed{Package: c.Package, Fixed: fixed})
	}
	again, err = solve.Solve(t.Context(), other)
	for _, c := range again {
		if c.Was != c.Version {
			t.Fatalf("seed %d: first %s, then %s\n%+v", seed, told(got), told(again), q)
		}
	}
	if err != nil {
		t.Fatalf("seed %d: first %s, then %v\n%+v", seed, told(got), err, q)
	}
}
