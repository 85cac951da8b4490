package solve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// version is one version of a package that could be chosen.
type version struct {
	*Package
	at       *semver.Version
	x        int // its variable
	requires []*need
	// conflicts are its Conflicts; their ranges are wide.
	conflicts []*need
}

// pack is a package with all its versions, the newest first.
type pack struct {
	name     string
	versions []*version
	there    *version // the installed one
	fixed    bool
	wanted   bool
	down     bool // it may be moved to an older version
	used     int  // its variable
	far      int  // how many were found before it, from the wants on
}

// universe is what of a question can matter: what is wanted, what is installed, and all that
// these could need.
type universe struct {
	q       *Question
	packs   []*pack // by name
	byName  map[string]*pack
	served  map[string][]API
	offers  map[string][]string // names of packages, sorted, by the kind that some version provides
	reached map[string]bool     // what wants could need
	ranges  map[string]Range
	needs   map[needKey]*need
	inOrder []*need
	wants   []*need // of q.Wants
	// preferred are the places of names in q.Prefer.
	preferred map[string]int
	cluster   *semver.Version
	known     []string
}

func newUniverse(ctx context.Context, q *Question) (*universe, error) {
	u := &universe{
		q: q, byName: map[string]*pack{}, served: map[string][]API{}, offers: map[string][]string{},
		reached: map[string]bool{}, ranges: map[string]Range{}, needs: map[needKey]*need{}, preferred: map[string]int{},
	}
	for _, a := range q.Served {
		u.served[a.Kind] = append(u.served[a.Kind], a)
	}
	for i, name := range slices.Backward(q.Prefer) {
		u.preferred[name] = i
	}
	if q.Kubernetes != "" {
		v, err := parseCluster(q.Kubernetes)
		if err != nil {
			return nil, err
		}
		u.cluster = v
	}
	all, err := u.gather()
	if err != nil {
		return nil, err
	}
	u.known = slices.Sorted(maps.Keys(all))
	if err := u.reach(ctx, all); err != nil {
		return nil, err
	}
	return u, u.bindAll(ctx)
}

// found is a package as it is given.
type found struct {
	*Package
	there, fixed bool
}

// gather sorts all packages by name; an installed one is the first of its name.
func (u *universe) gather() (map[string][]found, error) {
	all := map[string][]found{}
	provided := map[string]map[string]bool{}
	take := func(f found) {
		all[f.Name] = append(all[f.Name], f)
		for _, a := range f.Provides {
			if provided[a.Kind] == nil {
				provided[a.Kind] = map[string]bool{}
			}
			provided[a.Kind][f.Name] = true
		}
	}
	for at := range u.q.Installed {
		i := &u.q.Installed[at]
		if i.Name == "" {
			return nil, fmt.Errorf("an installed package has no name (its version is %q)", i.Version)
		}
		if len(all[i.Name]) > 0 {
			return nil, fmt.Errorf("%s is installed twice, in %s and %s: want one", i.Name, all[i.Name][0].Version, i.Version)
		}
		take(found{&i.Package, true, i.Fixed})
	}
	for at := range u.q.Available {
		p := &u.q.Available[at]
		if p.Name == "" {
			return nil, fmt.Errorf("a package of the catalog has no name (its version is %q)", p.Version)
		}
		if f := all[p.Name]; len(f) > 0 && f[0].there && f[0].Version == p.Version {
			continue // what is there is as it was installed
		}
		take(found{Package: p})
	}
	for kind, names := range provided {
		u.offers[kind] = slices.Sorted(maps.Keys(names))
	}
	return all, nil
}

// reach makes packs of what wants and installed packages could need.
func (u *universe) reach(ctx context.Context, all map[string][]found) error {
	var queue []string
	for i, w := range u.q.Wants {
		if (w.Package == "") == (w.API.Kind == "") {
			return fmt.Errorf("want %d of %s: want either a package or an API", i+1, w.By)
		}
		n, err := u.learn(w.Requirement)
		if err != nil {
			return fmt.Errorf("%s wants %s: %w", w.By, w.Package, err)
		}
		u.wants = append(u.wants, n)
		queue = append(queue, u.targets(w.Requirement)...)
	}
	if err := u.follow(ctx, all, queue); err != nil {
		return err
	}
	for name := range u.byName {
		u.reached[name] = true
	}
	queue = nil
	for _, i := range u.q.Installed {
		queue = append(queue, i.Name)
	}
	if err := u.follow(ctx, all, queue); err != nil {
		return err
	}
	u.packs = slices.SortedFunc(maps.Values(u.byName), func(a, b *pack) int { return cmp.Compare(a.name, b.name) })
	for _, w := range u.q.Wants {
		p := u.byName[w.Package]
		if p == nil || w.Optional {
			continue
		}
		p.wanted = true
		if p.there != nil && w.Range != "" && !u.ranges[w.Range].Contains(p.there.at) {
			p.down = true
		}
	}
	return nil
}

func (u *universe) follow(ctx context.Context, all map[string][]found, queue []string) error {
	for ; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if u.byName[name] != nil || len(all[name]) == 0 {
			continue
		}
		p, err := newPack(name, all[name])
		if err != nil {
			return err
		}
		p.far = len(u.byName)
		u.byName[name] = p
		if len(u.byName) > maxPackages {
			return fmt.Errorf("more than %d packages could be needed: want fewer in the catalog", maxPackages)
		}
		if err := cmp.Or(tooMany(p), ctx.Err()); err != nil {
			return err
		}
		for _, v := range p.versions {
			if err := u.check(v); err != nil {
				return err
			}
			for _, r := range v.Requires {
				if !r.Optional {
					queue = append(queue, u.targets(r)...)
				}
			}
		}
	}
	return nil
}

func newPack(name string, all []found) (*pack, error) {
	p := &pack{name: name, versions: make([]*version, 0, len(all))}
	for _, f := range all {
		at, err := ParseVersion(f.Version)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", name, err)
		}
		v := &version{Package: f.Package, at: at}
		if f.there {
			p.there, p.fixed = v, f.fixed
		}
		p.versions = append(p.versions, v)
	}
	slices.SortStableFunc(p.versions, func(a, b *version) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.Version, a.Version))
	})
	kept := p.versions[:0]
	for _, v := range p.versions {
		if n := len(kept); n > 0 && kept[n-1].Version == v.Version {
			if !reflect.DeepEqual(kept[n-1].Package, v.Package) {
				return nil, fmt.Errorf("package %s %s is there twice, and the two differ: want one", name, v.Version)
			}
			continue
		}
		kept = append(kept, v)
	}
	p.versions = kept
	return p, nil
}

// check says what is wrong with a version.
func (u *universe) check(v *version) error {
	wrong := func(err error) error { return fmt.Errorf("package %s %s: %w", v.Name, v.Version, err) }
	if err := u.learnRange(v.Kubernetes); err != nil {
		return wrong(fmt.Errorf("kubernetes: %w", err))
	}
	v.requires = make([]*need, len(v.Requires))
	for i, r := range v.Requires {
		if (r.Package == "") == (r.API.Kind == "") {
			return wrong(fmt.Errorf("a requirement names neither or both of a package and an API: want one"))
		}
		n, err := u.learn(r)
		if err != nil {
			return wrong(fmt.Errorf("needs %s: %w", r.Package, err))
		}
		v.requires[i] = n
	}
	for _, r := range v.Conflicts {
		if r.Package == "" {
			return wrong(fmt.Errorf("a conflict names no package: want one"))
		}
		n, err := u.learn(r)
		if err != nil {
			return wrong(fmt.Errorf("conflicts with %s: %w", r.Package, err))
		}
		v.conflicts = append(v.conflicts, n)
	}
	return nil
}

// learnRange reads a range once.
func (u *universe) learnRange(text string) error {
	if _, ok := u.ranges[text]; ok {
		return nil
	}
	r, err := ParseRange(text)
	if err == nil {
		u.ranges[text] = r
	}
	return err
}

// targets are the names of the packages that could meet a requirement.
func (u *universe) targets(r Requirement) []string {
	if r.Package != "" {
		return []string{r.Package}
	}
	return u.offers[r.API.Kind]
}

// meets says that an API brings what another one asks for.
func (a API) meets(asked API) bool {
	return a.Kind == asked.Kind && (len(a.Versions) == 0 || len(asked.Versions) == 0 ||
		slices.ContainsFunc(asked.Versions, func(v string) bool { return slices.Contains(a.Versions, v) }))
}

func (u *universe) isServed(a API) bool {
	return slices.ContainsFunc(u.served[a.Kind], func(s API) bool { return s.meets(a) })
}

func (v *version) provides(a API) bool {
	return slices.ContainsFunc(v.Provides, func(p API) bool { return p.meets(a) })
}

// runs says that a version runs on the cluster; one that is installed does.
func (u *universe) runs(p *pack, v *version) bool {
	return u.cluster == nil || v.Kubernetes == "" || v == p.there || u.ranges[v.Kubernetes].Contains(u.cluster)
}
