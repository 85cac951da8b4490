package solve

import (
	"cmp"
	"slices"
)

// need is a requirement of a question. Equal ones are one.
type need struct {
	Requirement
	within Range
	pack   *pack   // whose name it says; nil where there is none
	in     []bool  // which of its versions are in the range
	by     []*pack // who brings its API in some version, the better ones first
	served bool

	decided *chosen
	// needs and conflicts are who asked for it last.
	needs, conflicts *asker
	// Literals that are made once; 0 for none yet.
	met            literal
	limited, apart [2]literal // the second one leaves out what is installed
}

type needKey struct {
	name, within, api string
	optional          bool
}

// learn reads a requirement once.
func (u *universe) learn(r Requirement) (*need, error) {
	key := needKey{r.Package, r.Range, "", r.Optional}
	if r.Package == "" {
		key.api = r.API.String()
	}
	if n := u.needs[key]; n != nil {
		return n, nil
	}
	if err := u.learnRange(r.Range); err != nil {
		return nil, err
	}
	n := &need{Requirement: r, within: u.ranges[r.Range]}
	u.needs[key] = n
	u.inOrder = append(u.inOrder, n)
	return n, nil
}

// bind finds who meets a need.
func (u *universe) bind(n *need) {
	if n.Package != "" {
		n.pack = u.byName[n.Package]
		return
	}
	n.served = u.isServed(n.API)
	for _, name := range u.offers[n.API.Kind] {
		p := u.byName[name]
		if p != nil && slices.ContainsFunc(p.versions, func(v *version) bool { return v.provides(n.API) }) {
			n.by = append(n.by, p)
		}
	}
	slices.SortStableFunc(n.by, func(x, y *pack) int { return cmp.Compare(u.rank(x), u.rank(y)) })
}

// rank is the lower the better a package is to bring an API: what is installed, what is
// wanted, what is preferred, then by name.
func (u *universe) rank(p *pack) int {
	if p.there != nil {
		return 0
	}
	if p.wanted {
		return 1
	}
	if at, ok := u.preferred[p.name]; ok {
		return 2 + at
	}
	return 2 + len(u.preferred)
}

// cost is how many versions are looked at for a need.
func (n *need) cost() int {
	if n.pack != nil {
		return len(n.pack.versions)
	}
	sum := 0
	for _, p := range n.by {
		sum += len(p.versions)
	}
	return sum
}

// contains says which versions of the package are in the range. What is installed is in an
// empty one.
func (n *need) contains() []bool {
	if n.in == nil && n.pack != nil {
		n.in = make([]bool, len(n.pack.versions))
		for i, v := range n.pack.versions {
			n.in[i] = n.within.Contains(v.at) || n.Range == "" && v == n.pack.there
		}
	}
	return n.in
}
