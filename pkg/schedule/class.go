package schedule

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// class is candidates that are alike in all that matters: whichever of them is placed makes
// no difference to any other.
type class struct {
	members []*candidate
	of      *candidate
	asked   bool
	*filtered
	// counted are the nodes that count for each of its spread constraints.
	counted []nodeSet
	// dead says that it can have no node whatever happens, so that it takes part in nothing.
	dead bool
}

func (c *class) count() int { return len(c.members) }

func (c *class) names() []string {
	out := make([]string, 0, len(c.members))
	for _, m := range c.members {
		out = append(out, m.name)
	}
	return out
}

// classes filters the candidates and puts those that are alike together, in the order of
// the question, those that wait last.
func (g *clusterState) classes() []*class {
	marks := g.marks()
	cache := map[string][]code{}
	byKey := map[string]*class{}
	same := map[string]string{}
	var out []*class
	for _, c := range g.candidates {
		raw := c.raw()
		if key := same[raw]; raw != "" && key != "" {
			byKey[key].members = append(byKey[key].members, c)
			continue
		}
		f := g.filter(c, cache)
		key := c.key(g, f, marks)
		same[raw] = key
		known, ok := byKey[key]
		if !ok {
			known = &class{of: c, asked: c.asked >= 0, filtered: f, counted: g.countedNodes(c)}
			byKey[key] = known
			out = append(out, known)
		}
		known.members = append(known.members, c)
	}
	return out
}

// raw is equal for candidates that are written alike, so that one of them need be looked at.
// It is empty for those with claims, which are named one by one.
func (c *candidate) raw() string {
	if len(c.claims) > 0 || c.lost != nil {
		return ""
	}
	spec, err := json.Marshal(&c.pod.Spec)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%v %s %v %q %s", c.asked >= 0, c.pod.Namespace, c.pod.Labels, c.open, spec)
}

// podTraits are all terms and constraints of candidates: which of them mean a pod is part of
// what it is.
type podTraits struct {
	terms  []*term
	groups [][]*term
	spread []*spread
}

func (g *clusterState) marks() *podTraits {
	m := &podTraits{}
	seen := map[string]bool{}
	fresh := func(id string) bool {
		old := seen[id]
		seen[id] = true
		return !old
	}
	for _, c := range g.candidates {
		for _, t := range c.anti {
			if fresh("t" + t.id) {
				m.terms = append(m.terms, t)
			}
		}
		if len(c.affinity) > 0 && fresh("g"+termIDs(c.affinity)) {
			m.groups = append(m.groups, c.affinity)
		}
		for _, s := range c.spread {
			if fresh("s" + s.id) {
				m.spread = append(m.spread, s)
			}
		}
	}
	return m
}

func termIDs(terms []*term) string {
	ids := make([]string, 0, len(terms))
	for _, t := range terms {
		ids = append(ids, t.id)
	}
	return strings.Join(ids, "\x01")
}

// key is equal for candidates that are alike.
func (c *candidate) key(g *clusterState, f *filtered, m *podTraits) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v %d %v %v %q %v %q", c.asked >= 0, c.foreign, c.priority, c.evicts, c.want, c.open, c.ports, c.once)
	if c.lost != nil {
		fmt.Fprintf(&b, " lost %s %s", c.lost.Reason, c.lost.Message)
	}
	for _, v := range disksOf(c.pod) {
		fmt.Fprintf(&b, " %v", v.VolumeSource)
	}
	for w := range worlds {
		for _, word := range f.in[w] {
			b.Write(binary.LittleEndian.AppendUint64(nil, word))
		}
	}
	fmt.Fprintf(&b, " %q %q", termIDs(c.affinity), termIDs(c.anti))
	for _, s := range c.spread {
		fmt.Fprintf(&b, " %q", s.id)
		// What it counts depends on the nodes that it may use.
		b.WriteString(nodeKey(c.pod))
	}
	for _, t := range m.terms {
		fmt.Fprintf(&b, "%v", g.matches(t, c.pod))
	}
	for _, t := range m.groups {
		fmt.Fprintf(&b, "%v", g.matchesAll(t, c.pod))
	}
	for _, s := range m.spread {
		fmt.Fprintf(&b, "%v%v", s.counts(c.pod), s.selector.Matches(labelsOf(c.pod)))
	}
	return b.String()
}

// conflict says that two classes may not be in one domain of a part.
type conflict struct {
	other int
	part  *part
	// cluster is the number of the part in the model.
	cluster int
}

// conflictsOf lists the pairs among classes, for each class. It is symmetric: a term keeps
// away who it means from who has it, and the other way round.
//
// A pod that names its node is not held up by the terms of others, only others by it. In
// the world least such pairs are left out: it depends on who comes first.
func (g *clusterState) conflictsOf(classes []*class, w world) [][]conflict {
	out := make([][]conflict, len(classes))
	for i, a := range classes {
		for j, b := range classes {
			direct := a.of.pod.Spec.NodeName != "" || b.of.pod.Spec.NodeName != ""
			for _, p := range g.keptApart(a.of, b.of) {
				if w == least && direct && (p.key != partNode || !portsClash(a.of.ports, b.of.ports)) {
					continue
				}
				out[i] = append(out[i], conflict{other: j, part: p})
			}
		}
	}
	return out
}

func (g *clusterState) keptApart(a, b *candidate) []*part {
	var out []*part
	add := func(key string) {
		if p := g.part(key); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if portsClash(a.ports, b.ports) || disksClash(disksOf(a.pod), disksOf(b.pod)) {
		add(partNode)
	}
	for _, key := range a.once {
		if slices.Contains(b.once, key) {
			add(partCluster)
		}
	}
	for _, t := range a.anti {
		if g.matches(t, b.pod) {
			add(t.key)
		}
	}
	for _, t := range b.anti {
		if g.matches(t, a.pod) {
			add(t.key)
		}
	}
	return out
}

// connected splits classes into those that have nothing to do with each other.
func (g *clusterState) connected(classes []*class) [][]*class {
	home := make([]int, len(classes))
	for i := range home {
		home[i] = i
	}
	var find func(int) int
	find = func(i int) int {
		if home[i] != i {
			home[i] = find(home[i])
		}
		return home[i]
	}
	for i, a := range classes {
		for j := range i {
			if find(i) != find(j) && g.related(a, classes[j]) {
				home[find(i)] = find(j)
			}
		}
	}
	at := map[int]int{}
	var out [][]*class
	for i, c := range classes {
		root := find(i)
		k, ok := at[root]
		if !ok {
			k = len(out)
			at[root] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], c)
	}
	return out
}

// related says that the place of one class can matter to another.
func (g *clusterState) related(a, b *class) bool {
	if a.in[least].meets(b.in[least]) {
		return true
	}
	means := func(x, y *candidate) bool {
		if g.matchesAll(x.affinity, y.pod) {
			return true
		}
		return slices.ContainsFunc(x.spread, func(s *spread) bool { return s.counts(y.pod) })
	}
	return means(a.of, b.of) || means(b.of, a.of) || len(g.keptApart(a.of, b.of)) > 0
}
