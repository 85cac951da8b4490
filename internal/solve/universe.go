package solve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// candidate is one version of a package that could be chosen.
type candidate struct {
	*Package
	pack        *pack
	at          *semver.Version
	constraints []*constraint
	refused     []*reason // why it can never be chosen
	impossible  bool      // as far as is known before versions are tried
}

// pack is a package with all its versions, in the order in which they are tried.
type pack struct {
	name      string
	versions  []*candidate
	installed *candidate
	fixed     bool
	wanted    bool
	// reached is set if wants could lead to it.
	reached bool
}

// reason is why packages exclude each other; versions of one package can share it.
type reason struct {
	Reason
	versions []*candidate
	asks     []*constraint // that it is the reason of
	order    int
	used     bool // a search used it
	ignored  bool // it is dropped, to test whether it matters
}

// constraint is what a version, or a want, requires of the other packages.
type constraint struct {
	*reason
	pack      *pack   // that it requires; nil for an API, or if there is none
	providers []*pack // of the API in some version, best first
	unclear   *reason // that nothing decides between them
	installed bool    // of an installed version
	required  bool    // a version that meets it must be chosen; otherwise it only restricts
	meets     func(*candidate) bool
	met       map[*candidate]bool // cache of meets
	possible  bool
}

// universe is the relevant part of a question: what is wanted, what is installed, and all that
// these could need.
type universe struct {
	q       *Question
	cluster *semver.Version
	all     map[string][]*Package // by name
	packs   map[string]*pack
	offers  map[string][]string // names of packages, sorted, by the kind that some version provides
	// root are the constraints of wants, then of what is installed.
	root        []*constraint
	reasons     map[string]*reason
	constraints []*constraint
	size        int // of packs: versions, requirements and APIs
}

// maxSize limits the relevant part of a catalog: real ones have some thousand.
const maxSize = 50_000

func newUniverse(q *Question) (*universe, error) {
	u := &universe{q: q, all: map[string][]*Package{}, packs: map[string]*pack{}, offers: map[string][]string{}, reasons: map[string]*reason{}}
	if q.Kubernetes != "" {
		var err error
		if u.cluster, err = parseCluster(q.Kubernetes); err != nil {
			return nil, err
		}
	}
	if err := u.gather(); err != nil {
		return nil, err
	}
	for i, w := range q.Wants {
		if (w.Package == "") == (w.API.Kind == "") {
			return nil, fmt.Errorf("requirement %d of %s: expected either a package or an API", i+1, w.By)
		}
		if err := u.reach(u.targets(w.Requirement), true); err != nil {
			return nil, err
		}
	}
	for _, i := range q.Installed {
		if err := u.reach([]string{i.Name}, false); err != nil {
			return nil, err
		}
	}
	return u, u.constrain()
}

// gather groups all packages by name.
func (u *universe) gather() error {
	take := func(p *Package, origin string) error {
		if p.Name == "" {
			return fmt.Errorf("%s has no name (its version is %q)", origin, p.Version)
		}
		u.all[p.Name] = append(u.all[p.Name], p)
		for _, a := range p.Provides {
			if names := u.offers[a.Kind]; !slices.Contains(names, p.Name) {
				u.offers[a.Kind] = append(names, p.Name)
			}
		}
		return nil
	}
	for i := range u.q.Installed {
		p := &u.q.Installed[i].Package
		if had := u.all[p.Name]; len(had) > 0 {
			return fmt.Errorf("%s is installed twice, in %s and %s: expected one", p.Name, had[0].Version, p.Version)
		}
		if err := take(p, "an installed package"); err != nil {
			return err
		}
	}
	for i := range u.q.Available {
		p := &u.q.Available[i]
		// An installed version is as it was installed, whatever the catalog says.
		if slices.ContainsFunc(u.q.Installed, func(i Installed) bool { return i.Name == p.Name && i.Version == p.Version }) {
			continue
		}
		if err := take(p, "a package of the catalog"); err != nil {
			return err
		}
	}
	for _, names := range u.offers {
		slices.Sort(names)
	}
	return nil
}

// targets returns the names of the packages that could meet a requirement.
func (u *universe) targets(r Requirement) []string {
	if r.Package != "" {
		return []string{r.Package}
	}
	return u.offers[r.API.Kind]
}

// reach adds packages and all that these could need.
func (u *universe) reach(queue []string, wanted bool) error {
	for ; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if len(u.all[name]) == 0 || u.packs[name] != nil {
			continue
		}
		p, err := u.pack(name)
		if err != nil {
			return err
		}
		p.reached = wanted
		u.packs[name] = p
		for _, v := range p.versions {
			for _, r := range v.Requires {
				if !r.Optional {
					queue = append(queue, u.targets(r)...)
				}
			}
		}
	}
	return nil
}

// pack reads the versions of a package.
func (u *universe) pack(name string) (*pack, error) {
	p := &pack{name: name}
	p.wanted = slices.ContainsFunc(u.q.Wants, func(w Want) bool { return w.Package == name && !w.Optional })
	i := slices.IndexFunc(u.q.Installed, func(i Installed) bool { return i.Name == name })
	for _, version := range u.all[name] {
		if u.size += 1 + len(version.Requires) + len(version.Conflicts) + len(version.Provides); u.size > maxSize {
			return nil, fmt.Errorf("the packages that could be needed have more than %d versions, requirements and APIs: use a catalog with fewer", maxSize)
		}
		at, err := ParseVersion(version.Version)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", name, err)
		}
		v := &candidate{Package: version, pack: p, at: at}
		p.versions = append(p.versions, v)
		if i >= 0 && version == &u.q.Installed[i].Package {
			p.installed, p.fixed = v, u.q.Installed[i].Fixed
		}
	}
	slices.SortFunc(p.versions, func(a, b *candidate) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.Version, b.Version)) })
	for i, v := range p.versions[1:] {
		if v.Version == p.versions[i].Version {
			return nil, fmt.Errorf("package %s %s is listed twice: expected one", name, v.Version)
		}
	}
	if p.installed != nil && !p.wanted {
		p.versions = slices.DeleteFunc(p.versions, func(v *candidate) bool { return v == p.installed })
		p.versions = slices.Insert(p.versions, 0, p.installed)
	}
	return p, nil
}

// constrain finds the constraints of each version and each want.
func (u *universe) constrain() error {
	for _, w := range u.q.Wants {
		c, err := u.constraint(Wanted, nil, w.By, w.Requirement)
		if err != nil {
			return fmt.Errorf("%s wants %s: %w", w.By, w.Package, err)
		}
		if c != nil && !slices.Contains(u.root, c) {
			u.root = append(u.root, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.packs)) {
		p := u.packs[name]
		if p.installed != nil {
			u.root = append(u.root, &constraint{reason: &reason{}, pack: p, required: true, met: map[*candidate]bool{}, meets: func(*candidate) bool { return true }})
			u.stay(p)
		}
		for _, v := range p.versions {
			if err := u.askedBy(v); err != nil {
				return fmt.Errorf("package %s %s: %w", v.Name, v.Version, err)
			}
		}
	}
	return nil
}

// stay refuses other versions of a fixed package, and older ones unless a want selects them.
func (u *universe) stay(p *pack) {
	kind := NotDown
	if p.fixed {
		kind = Stays
	}
	down := slices.ContainsFunc(u.root, func(c *constraint) bool {
		return c.pack == p && c.Kind == Wanted && c.required && c.Requirement.Range != "" && !c.has(p.installed)
	})
	for _, v := range p.versions {
		if v != p.installed && (p.fixed || !down && v.at.LessThan(p.installed.at)) {
			v.refused = append(v.refused, u.reason(kind, p.name, "", Requirement{}, p.installed))
		}
	}
}

func (u *universe) askedBy(v *candidate) error {
	versions, err := ParseRange(v.Kubernetes)
	if err != nil {
		return fmt.Errorf("kubernetes: %w", err)
	}
	if u.cluster != nil && v.Kubernetes != "" && v != v.pack.installed && !versions.Contains(u.cluster) {
		v.refused = append(v.refused, u.reason(Kubernetes, v.Name, "", Requirement{Range: v.Kubernetes}, v))
	}
	for _, r := range v.Requires {
		if (r.Package == "") == (r.API.Kind == "") {
			return errors.New("a requirement names neither or both of a package and an API: expected one")
		}
		if err := u.add(Needed, v, r); err != nil {
			return fmt.Errorf("needs %s: %w", r.Package, err)
		}
	}
	for _, r := range v.Conflicts {
		if r.Package == "" {
			return errors.New("a conflict names no package: expected one")
		}
		if err := u.add(Apart, v, r); err != nil {
			return fmt.Errorf("conflicts with %s: %w", r.Package, err)
		}
	}
	return nil
}

func (u *universe) add(kind ReasonKind, v *candidate, r Requirement) error {
	c, err := u.constraint(kind, v, "", r)
	if err == nil && c != nil {
		v.constraints = append(v.constraints, c)
	}
	return err
}

// constraint prepares a requirement or a conflict; nil if it requires nothing. Equal ones of a
// package are shared.
func (u *universe) constraint(kind ReasonKind, v *candidate, source string, r Requirement) (*constraint, error) {
	versions, err := ParseRange(r.Range)
	if err != nil {
		return nil, err
	}
	p := u.packs[r.Package]
	installed, name := v != nil && v == v.pack.installed, ""
	if v != nil {
		name = v.Name
	}
	served := slices.ContainsFunc(u.q.Served, func(a API) bool { return a.meets(r.API) })
	if p == nil && (r.Optional || kind == Apart || served) || kind == Apart && p == v.pack {
		return nil, nil
	}
	g := u.reason(kind, name, source, r, v)
	if i := slices.IndexFunc(g.asks, func(c *constraint) bool { return c.installed == installed }); i >= 0 {
		return g.asks[i], nil
	}
	c := &constraint{reason: g, pack: p, installed: installed, required: !r.Optional && kind != Apart, met: map[*candidate]bool{}}
	switch {
	case r.Package == "":
		c.meets = func(o *candidate) bool { return o.provides(r.API) }
		c.providers = u.providers(c)
		c.unclear = u.reason(unclear, "", "", Requirement{API: r.API}, nil)
	case kind == Apart:
		c.meets = func(o *candidate) bool { return !versions.overlaps(o.at) }
	default:
		c.meets = func(o *candidate) bool {
			return versions.Contains(o.at) || r.Range == "" && o == o.pack.installed
		}
	}
	if installed {
		if kind == Needed && !v.pack.reached && u.unmet(c) {
			return nil, nil // unmet already, and no want is about it: it stays as it is
		}
		if asks := c.meets; !c.required { // they are installed together already
			c.meets = func(o *candidate) bool { return o == o.pack.installed || asks(o) }
		}
	}
	c.asks, u.constraints = append(c.asks, c), append(u.constraints, c)
	return c, nil
}

// reason returns a reason, shared by all versions with it; v is one of these.
func (u *universe) reason(kind ReasonKind, name, source string, r Requirement, v *candidate) *reason {
	key := fmt.Sprintf("%s %q %q %q %q %q %t", kind, name, source, r.Package, r.Range, r.API, r.Optional)
	g := u.reasons[key]
	if g == nil {
		g = &reason{Reason: Reason{Kind: kind, Package: name, Requirement: r, By: source}, order: len(u.reasons)}
		u.reasons[key] = g
	}
	if v != nil && !slices.Contains(g.versions, v) {
		g.versions = append(g.versions, v)
	}
	return g
}

// unmet reports whether installed packages do not meet a requirement.
func (u *universe) unmet(c *constraint) bool {
	if !c.required && c.pack.installed == nil {
		return false
	}
	for _, p := range append(slices.Clone(c.providers), c.pack) {
		if p != nil && p.installed != nil && c.meets(p.installed) {
			return false
		}
	}
	return true
}

// providers returns the packages that provide an API: installed, wanted, preferred, then by name.
func (u *universe) providers(c *constraint) (all []*pack) {
	for _, name := range u.offers[c.Requirement.API.Kind] {
		if p := u.packs[name]; p != nil && slices.ContainsFunc(p.versions, c.meets) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *pack) int { return cmp.Compare(u.rank(a), u.rank(b)) })
	return all
}

func (u *universe) rank(p *pack) int {
	switch i := slices.Index(u.q.Prefer, p.name); {
	case p.installed != nil:
		return 0
	case p.wanted:
		return 1
	case i >= 0:
		return 2 + i
	}
	return 2 + len(u.q.Prefer)
}

// has reports whether a version meets a constraint.
func (c *constraint) has(v *candidate) bool {
	met, known := c.met[v]
	if !known {
		met = c.meets(v)
		c.met[v] = met
	}
	return met
}

// targets returns the packages that could meet a constraint.
func (c *constraint) targets() []*pack {
	if c.pack != nil {
		return []*pack{c.pack}
	}
	return c.providers
}

// meets reports whether an API provides what another one requires.
func (a API) meets(asked API) bool {
	return a.Kind == asked.Kind && (len(a.Versions) == 0 || len(asked.Versions) == 0 ||
		slices.ContainsFunc(asked.Versions, func(v string) bool { return slices.Contains(a.Versions, v) }))
}

func (v *candidate) provides(a API) bool {
	return slices.ContainsFunc(v.Provides, func(p API) bool { return p.meets(a) })
}
