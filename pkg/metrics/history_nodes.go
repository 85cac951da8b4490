package metrics

import (
	"maps"
	"slices"
)

// nodeStreams are nodes and load balancers.
func (p *windowState) nodeStreams() []stream {
	return []stream{
		{name: "kube_node_status_capacity", matchers: `resource="cpu"`, everywhere: true, scale: 9, back: backGauge, take: p.takeCapacity("")},
		{name: "kube_node_status_capacity", matchers: `resource!="cpu"`, everywhere: true, back: backGauge, take: p.takeCapacity("")},
		{name: "kube_node_status_capacity_cpu_cores", everywhere: true, scale: 9, back: backGauge, take: p.takeCapacity(CPU)},
		{name: "kube_node_status_capacity_memory_bytes", everywhere: true, back: backGauge, take: p.takeCapacity(Memory)},
		// One without an address is not told by it: as of an instant, it costs nothing yet.
		{name: "kube_service_status_load_balancer_ingress", back: backGauge, take: func(list []series) {
			for _, g := range groups(list, "namespace", "service") {
				key := podName{g.labels["namespace"], g.labels["service"]}
				b := entry(p.balancers, key)
				got, holes := b.lane.feed(g.samples(), span{start: p.serviceStarted[key]})
				p.hole(key.namespace, key.name, holes)
				for _, v := range got {
					b.hours.add(uint64(v.b - v.a))
				}
			}
		}},
	}
}

func (p *windowState) node(name string) *node {
	n := p.nodes[name]
	if n == nil {
		n = &node{name: name, capacity: map[Resource]*amount{}}
		p.nodes[name] = n
	}
	return n
}

func (p *windowState) takeCapacity(resource Resource) func([]series) {
	return func(list []series) {
		for _, g := range groups(list, "node", "resource") {
			name := resource
			if name == "" {
				var ok bool
				if name, ok = p.resource(g.labels["resource"]); !ok {
					continue
				}
			}
			n := p.node(g.labels["node"])
			samples := g.samples()
			n.there = append(n.there, samples...)
			got, holes := entry(p.gauges, "node"+string(name)+"\xff"+n.name).feed(samples, span{start: n.started})
			p.hole("", n.name, holes)
			for _, v := range got {
				entry(n.capacity, name).area(v)
			}
		}
	}
}

// settle ends a piece: a node was there as long as anything was told of it.
func (n *node) settle() {
	got, _ := n.lane.feed(unite(n.there, nil), span{start: n.started})
	for _, v := range got {
		n.hours.add(uint64(v.b - v.a))
	}
	n.there = n.there[:0]
}

// fillNodes gives the nodes of a reading the time that they were there, and adds those
// that are not in it: of a few namespaces those alone that pods of theirs ran on.
func (p *windowState) fillNodes(r *UsageReport) {
	whole := p.options.wholeCluster()
	wanted := map[string]bool{}
	for i := range r.Pods {
		wanted[r.Pods[i].Node] = true
	}
	here := map[string]bool{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		here[n.Name] = true
		n.Hours, n.Capacity = p.node(n.Name).hours.perUnits(milliseconds), p.node(n.Name).amounts()
		n.Whole = n.Whole && whole && n.Capacity != nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.nodes)) {
		n := p.nodes[name]
		if here[name] || !n.hours.known || !whole && !wanted[name] {
			continue
		}
		r.Nodes = append(r.Nodes, Node{
			Name: name, Gone: true, Labels: n.labels, ProviderID: n.provider,
			Hours: n.hours.perUnits(milliseconds), Capacity: n.amounts(), Whole: whole,
		})
	}
}

func (n *node) amounts() Amounts { return integralsOf(n.capacity) }
