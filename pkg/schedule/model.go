package schedule

// model is a part of the question that stands for itself: classes, the nodes that any of
// them could have, and the rules between them, in one world.
type model struct {
	g       *clusterState
	classes []*class
	// in are the nodes that each class may have; free what nodes have left.
	in        []nodeSet
	free      []int64
	dims      int
	nodes     []int
	conflicts [][]conflict
	affinity  [][]*affinityRule
	spread    [][]*spreadRule
	// kind is equal for nodes that no rule tells apart.
	kind []int32
	// rules are all of them, for what a placement changes.
	affinityAll []*affinityRule
	spreadAll   []*spreadRule
	clusters    []*clash
}

// affinityRule is the affinity of a class: all keys of a node have to be of domains with a
// pod that all terms mean, unless it is the first of its kind.
type affinityRule struct {
	parts []*part
	// base counts pods that are there, by part and domain; firm those that stay.
	base, firm [][]int32
	// total and firmTotal count those that are on a node with any of the keys.
	total int32
	means []bool
	self  bool
	index int
}

// spreadRule is a spread constraint of a class.
type spreadRule struct {
	*spread
	part    *part
	counted nodeSet
	base    []int32
	// present are the domains that count for the least one.
	present []int32
	means   []bool
	self    int
	index   int
}

// clash is a part in which classes conflict.
type clash struct {
	part  *part
	index int
}

// newModel lays out classes in a world. In the world least, rules that pods outside of the
// model could change are left out: what is impossible without them is so with them.
func (g *clusterState) newModel(classes []*class, w world) *model {
	m := &model{g: g, classes: classes, dims: len(g.dims), free: g.free[w], conflicts: g.conflictsOf(classes, w)}
	all := newNodeSet(len(g.nodes))
	for _, c := range classes {
		m.in = append(m.in, c.in[w])
		all.join(c.in[w])
	}
	m.nodes = all.list()
	m.affinity = make([][]*affinityRule, len(classes))
	m.spread = make([][]*spreadRule, len(classes))
	for i, c := range classes {
		if c.of.foreign || c.of.pod.Spec.NodeName != "" {
			continue
		}
		m.addAffinity(i, c, w)
		m.addSpread(i, c, w)
	}
	seen := map[*part]int{}
	for _, list := range m.conflicts {
		for i := range list {
			k := &list[i]
			at, ok := seen[k.part]
			if !ok {
				at = len(m.clusters)
				seen[k.part] = at
				m.clusters = append(m.clusters, &clash{part: k.part, index: at})
			}
			k.cluster = at
		}
	}
	m.sortKinds()
	return m
}

// monotone says that a pod which is placed never helps another to be placed.
func (m *model) monotone() bool { return len(m.affinityAll) == 0 && len(m.spreadAll) == 0 }

func (m *model) addAffinity(i int, c *class, w world) {
	terms := c.of.affinity
	if len(terms) == 0 || w == least && m.g.mayChange(func(o *candidate) bool { return m.g.matchesAll(terms, o.pod) }) {
		return
	}
	r := &affinityRule{self: m.g.matchesAll(terms, c.of.pod), index: len(m.affinityAll)}
	seen := map[string]bool{}
	for _, t := range terms {
		if !seen[t.key] {
			seen[t.key] = true
			p := m.g.part(t.key)
			r.parts = append(r.parts, p)
			r.base = append(r.base, make([]int32, p.domains))
			r.firm = append(r.firm, make([]int32, p.domains))
		}
	}
	m.g.eachSelected(terms[0], func(s *boundPod) {
		if m.g.matchesAll(terms, s.pod) {
			r.note(s)
		}
	})
	for _, o := range m.classes {
		r.means = append(r.means, m.g.matchesAll(terms, o.of.pod))
	}
	m.affinity[i] = append(m.affinity[i], r)
	m.affinityAll = append(m.affinityAll, r)
}

func (r *affinityRule) note(s *boundPod) {
	any := false
	for k, p := range r.parts {
		d := p.of[s.node]
		if d < 0 {
			continue
		}
		any = true
		r.base[k][d]++
		if s.stays > now {
			r.firm[k][d]++
		}
	}
	if any {
		r.total++
	}
}

// mayChange says that pods which the model does not have could change what a rule of a
// class counts: those that may go, those that wait, those that could not be read.
func (g *clusterState) mayChange(means func(*candidate) bool) bool {
	if g.Unread.Pods || g.Unread.Namespaces {
		return true
	}
	for i := range g.settled {
		if s := &g.settled[i]; s.stays < least && means(&candidate{pod: s.pod}) {
			return true
		}
	}
	for _, p := range g.Pods {
		if p.Spec.NodeName == "" && !ended(p) && means(&candidate{pod: p}) {
			return true
		}
	}
	for _, o := range g.candidates {
		if (o.foreign || o.pod.Spec.NodeName != "") && means(o) {
			return true
		}
	}
	return false
}

func (m *model) addSpread(i int, c *class, w world) {
	for k, s := range c.of.spread {
		if w == least && m.g.mayChange(func(o *candidate) bool { return s.counts(o.pod) }) {
			continue
		}
		p := m.g.part(s.key)
		r := &spreadRule{spread: s, part: p, counted: c.counted[k], base: make([]int32, p.domains), index: len(m.spreadAll)}
		seen := make([]bool, p.domains)
		r.counted.each(func(n int) {
			if d := p.of[n]; !seen[d] {
				seen[d] = true
				r.present = append(r.present, d)
			}
		})
		for _, j := range m.g.inNamespace[s.namespace] {
			if t := &m.g.settled[j]; t.pod.DeletionTimestamp == nil && r.counted.has(t.node) && s.counts(t.pod) {
				r.base[p.of[t.node]]++
			}
		}
		if s.selector.Matches(labelsOf(c.of.pod)) {
			r.self = 1
		}
		for _, o := range m.classes {
			r.means = append(r.means, s.counts(o.of.pod))
		}
		m.spread[i] = append(m.spread[i], r)
		m.spreadAll = append(m.spreadAll, r)
	}
}
