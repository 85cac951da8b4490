// Package colocation says where the pods of a stack run, what binds them there, and whether
// the stack fits on one node.
package colocation

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Placement is where the pods of a stack run: on which nodes, and in which zones.
type Placement struct {
	// Stack is what it is called.
	Stack object.Ref `json:"id"`
	// Nodes are those that pods are on, in order of their names.
	Nodes []Node `json:"nodes"`
	// Workloads are those with pods, in order. Pods that operators make themselves are
	// singleNode under their owner.
	Workloads []Workload `json:"workloads"`
	// Pending are the pods that wait for a node.
	Pending []object.Ref `json:"pending"`
	// Zones and Regions are those of Nodes, each once and in order; the empty one is not
	// among them.
	Zones   []string `json:"zones"`
	Regions []string `json:"regions"`
	// ZonesThere are those of all nodes that were read.
	ZonesThere []string `json:"clusterZones"`
	// Claims are those of which the volume can be mounted in one zone, or on one node.
	Claims []Claim `json:"claims"`
	// Crossings are requests from one workload to another that have to leave a zone.
	Crossings []Crossing `json:"crossings"`
	// Together says what speaks for and against keeping all of it on one node.
	Together SingleNode `json:"-"`
	// NodesUnread says that Nodes could not all be read: what is said of zones, and of
	// nodes that would take the pods, is not whole.
	NodesUnread bool `json:"-"`
}

// Workload is where the pods of a workload are.
type Workload struct {
	Ref object.Ref `json:"id"`
	// Replicas are those that are wanted, Pods those that exist.
	Replicas int32 `json:"replicas"`
	Pods     int   `json:"pods"`
	// On are the nodes, in order, and how many pods are on each; Zones those of the nodes.
	On    []NodePods `json:"-"`
	Zones []string   `json:"zones"`
}

// NodePods counts pods on a node.
type NodePods struct {
	Node string
	Pods int
}

// Node is a node, and what of the stack is there.
type Node struct {
	Name   string `json:"name"`
	Zone   string `json:"zone,omitempty"`
	Region string `json:"region,omitempty"`
	// Read is false where the Node was not read: its zone is unknown.
	Read bool `json:"read"`
	// Workloads are those with pods there, with how many, in order.
	Workloads []WorkloadPods `json:"workloads"`
}

// WorkloadPods counts pods of a workload.
type WorkloadPods struct {
	Ref  object.Ref `json:"id"`
	Pods int        `json:"pods"`
}

// Claim is a claim that binds its pods to a place.
type Claim struct {
	Claim    object.Ref `json:"id"`
	Workload object.Ref `json:"workload"`
	// Node is the only one that can mount it; else Zones are those in which it can be
	// mounted.
	Node  string   `json:"node,omitempty"`
	Zones []string `json:"zones"`
}

// Crossing says that pods of one workload send requests to another that has no pod in
// their zone.
type Crossing struct {
	From object.Ref `json:"from"`
	To   object.Ref `json:"to"`
	// Service is the one that is called, Zones those of From in which no pod of To is.
	Service object.Ref `json:"service"`
	Zones   []string   `json:"zones"`
}

// Measure finds where the pods of a stack run, and whether one node could hold them all.
func Measure(w *check.ClusterState, s *check.Stack) *Placement {
	c := &Placement{Stack: s.Ref, NodesUnread: !w.Read(check.NodeKind, "")}
	nodes := nodesByName(w)
	for _, n := range nodes {
		c.ZonesThere = append(c.ZonesThere, n.Labels[corev1.LabelTopologyZone])
	}
	c.ZonesThere = places(c.ZonesThere)
	groups := slices.DeleteFunc(w.ReplicaGroups(s.Workloads()), func(x *check.ReplicaGroup) bool { return len(x.Pods) == 0 && x.Replicas == 0 })
	for _, x := range groups {
		c.add(x, nodes)
	}
	slices.SortFunc(c.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range c.Nodes {
		c.Zones, c.Regions = append(c.Zones, n.Zone), append(c.Regions, n.Region)
	}
	c.Zones, c.Regions = places(c.Zones), places(c.Regions)
	slices.SortFunc(c.Pending, object.Compare)
	for _, x := range groups {
		c.Claims = append(c.Claims, claims(w, x, nodes)...)
	}
	c.Crossings = zoneCrossings(w, s, groups, nodes)
	c.Together = singleNode(w, groups, nodes)
	return c
}

func nodesByName(w *check.ClusterState) map[string]*corev1.Node {
	out := map[string]*corev1.Node{}
	for _, n := range check.All[*corev1.Node](w.Facts, "", "Node") {
		out[n.Name] = n
	}
	return out
}

// places returns the places that have a name, each once and in order.
func places(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// add counts the pods of a replica group.
func (c *Placement) add(x *check.ReplicaGroup, nodes map[string]*corev1.Node) {
	wl := Workload{Ref: x.Ref, Replicas: x.Replicas, Pods: len(x.Pods)}
	on := map[string]int{}
	for _, p := range x.Pods {
		if p.Spec.NodeName == "" {
			c.Pending = append(c.Pending, check.PodRef(p))
			continue
		}
		on[p.Spec.NodeName]++
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		wl.On = append(wl.On, NodePods{Node: name, Pods: on[name]})
		node := c.node(name, nodes)
		node.Workloads = append(node.Workloads, WorkloadPods{Ref: x.Ref, Pods: on[name]})
		wl.Zones = append(wl.Zones, node.Zone)
	}
	wl.Zones = places(wl.Zones)
	c.Workloads = append(c.Workloads, wl)
}

func (c *Placement) node(name string, nodes map[string]*corev1.Node) *Node {
	if i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		return &c.Nodes[i]
	}
	n := Node{Name: name, Read: nodes[name] != nil}
	if n.Read {
		n.Zone, n.Region = nodes[name].Labels[corev1.LabelTopologyZone], nodes[name].Labels[corev1.LabelTopologyRegion]
	}
	c.Nodes = append(c.Nodes, n)
	return &c.Nodes[len(c.Nodes)-1]
}

// OneNode returns the node that all pods are on, if it is one.
func (c *Placement) OneNode() (string, bool) {
	if len(c.Nodes) != 1 || len(c.Pending) > 0 {
		return "", false
	}
	return c.Nodes[0].Name, true
}

// claims returns the claims of a replica group that bind it to a node, or to some of the
// zones.
func claims(w *check.ClusterState, x *check.ReplicaGroup, nodes map[string]*corev1.Node) []Claim {
	var out []Claim
	for _, wl := range x.Workloads {
		for _, claim := range w.Claims(wl) {
			pv, ok := check.Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName})
			if !ok || pv.Spec.NodeAffinity == nil {
				continue
			}
			c := Claim{Claim: check.ClaimRef(claim), Workload: x.Ref, Node: w.OnlyNode(claim)}
			var in, all []string
			for _, n := range nodes {
				all = append(all, n.Labels[corev1.LabelTopologyZone])
				if volumehelpers.CheckNodeAffinity(pv, n.Labels) == nil {
					in = append(in, n.Labels[corev1.LabelTopologyZone])
				}
			}
			c.Zones = places(in)
			if c.Node != "" || len(c.Zones) > 0 && len(c.Zones) < len(places(all)) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b Claim) int { return object.Compare(a.Claim, b.Claim) })
	return slices.CompactFunc(out, func(a, b Claim) bool { return a.Claim == b.Claim })
}

// zoneCrossings finds workloads that need a Service in whose zone they are not.
func zoneCrossings(w *check.ClusterState, s *check.Stack, groups []*check.ReplicaGroup, nodes map[string]*corev1.Node) []Crossing {
	groupOf := map[object.Ref]*check.ReplicaGroup{}
	for _, x := range groups {
		for _, wl := range x.Workloads {
			groupOf[wl.Ref] = x
		}
	}
	var out []Crossing
	for _, ref := range s.Members() {
		behind := w.PodsBehind(ref)
		if ref.GroupKind() != check.ServiceKind || len(behind) == 0 {
			continue
		}
		wl, ok := w.Workload(check.PodRef(behind[0]))
		if !ok || groupOf[wl.Ref] == nil {
			continue
		}
		to := groupOf[wl.Ref]
		targetZones := groupZones(to, nodes)
		for _, caller := range callers(w, ref) {
			from := groupOf[caller]
			if from == nil || from == to || len(targetZones) == 0 {
				continue
			}
			away := slices.DeleteFunc(groupZones(from, nodes), func(z string) bool { return slices.Contains(targetZones, z) })
			if len(away) > 0 {
				out = append(out, Crossing{From: from.Ref, To: to.Ref, Service: ref, Zones: away})
			}
		}
	}
	return slices.CompactFunc(out, func(a, b Crossing) bool { return a.From == b.From && a.To == b.To && a.Service == b.Service })
}

// groupZones returns the zones of a replica group's pods, each once and in order.
func groupZones(x *check.ReplicaGroup, nodes map[string]*corev1.Node) []string {
	var out []string
	for _, p := range x.Pods {
		if n := nodes[p.Spec.NodeName]; n != nil {
			out = append(out, n.Labels[corev1.LabelTopologyZone])
		}
	}
	return places(out)
}

// callers returns the workloads that need a Service, in order.
func callers(w *check.ClusterState, service object.Ref) []object.Ref {
	id, ok := w.Graph.Find(service)
	if !ok {
		return nil
	}
	var out []object.Ref
	for e := range w.Graph.In(id) {
		if e.Relation != relation.Needs || e.Rule == "statefulset-service" || w.Graph.State(e.From) != graph.Present {
			continue
		}
		from := w.Graph.Ref(e.From)
		wl, ok := w.Workload(from)
		if !ok && (from.GroupKind() == schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}) {
			wl, ok = w.Workload(w.BuiltInTop(from))
		}
		if ok {
			out = append(out, wl.Ref)
		}
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}
