package check

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Colocation is how the pods of a stack lie on nodes and in zones.
type Colocation struct {
	// Stack is what it is called.
	Stack object.Ref
	// Workloads are those with pods, in order. Pods that operators make themselves are
	// together under their owner.
	Workloads []ColocatedWorkload
	// Nodes are those that pods are on, in order of their names.
	Nodes []ColocatedNode
	// Zones and Regions are those of Nodes, each once and in order; the empty one is not
	// among them.
	Zones, Regions []string
	// ZonesThere are those of all nodes that were read.
	ZonesThere []string
	// Pending are the pods that wait for a node.
	Pending []object.Ref
	// Claims are those of which the volume can be mounted in one zone, or on one node.
	Claims []ColocatedClaim
	// Crossings are requests from one workload to another that have to leave a zone.
	Crossings []ZoneCrossing
	// Together says what speaks for and against keeping all of it on one node.
	Together SingleNode
	// NodesUnread says that Nodes could not all be read: what is said of zones, and of
	// nodes that would take the pods, is not whole.
	NodesUnread bool
}

// ColocatedWorkload is where the pods of a workload are.
type ColocatedWorkload struct {
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

// ColocatedNode is a node, and what of the stack is there.
type ColocatedNode struct {
	Name, Zone, Region string
	// Unread says that the Node was not read: its zone is not known.
	Unread bool
	// Workloads are those with pods there, with how many, in order.
	Workloads []WorkloadPods
}

// WorkloadPods counts pods of a workload.
type WorkloadPods struct {
	Ref  object.Ref `json:"id"`
	Pods int        `json:"pods"`
}

// ColocatedClaim is a claim that binds its pods to a place.
type ColocatedClaim struct {
	Claim    object.Ref `json:"id"`
	Workload object.Ref `json:"workload"`
	// Node is the only one that can mount it; else Zones are those in which it can be
	// mounted.
	Node  string   `json:"node,omitempty"`
	Zones []string `json:"zones"`
}

// ZoneCrossing says that pods of one workload send requests to another that has no pod in
// their zone.
type ZoneCrossing struct {
	From object.Ref `json:"from"`
	To   object.Ref `json:"to"`
	// Service is the one that is called, Zones those of From in which no pod of To is.
	Service object.Ref `json:"service"`
	Zones   []string   `json:"zones"`
}

// Colocation says how the pods of a stack lie, and whether they could be kept together.
func (w *ClusterState) Colocation(s *Stack) *Colocation {
	c := &Colocation{Stack: s.Ref, NodesUnread: !w.Read(robustNodeKind, "")}
	nodes := colocatedNodes(w)
	for _, n := range nodes {
		c.ZonesThere = append(c.ZonesThere, n.Labels[zoneLabel])
	}
	c.ZonesThere = colocatedPlaces(c.ZonesThere)
	crews := slices.DeleteFunc(w.robustCrews(s.Workloads()), func(x *replicaGroup) bool { return len(x.Pods) == 0 && x.Replicas == 0 })
	for _, x := range crews {
		c.add(x, nodes)
	}
	slices.SortFunc(c.Nodes, func(a, b ColocatedNode) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range c.Nodes {
		c.Zones, c.Regions = append(c.Zones, n.Zone), append(c.Regions, n.Region)
	}
	c.Zones, c.Regions = colocatedPlaces(c.Zones), colocatedPlaces(c.Regions)
	slices.SortFunc(c.Pending, object.Compare)
	for _, x := range crews {
		c.Claims = append(c.Claims, w.colocatedClaims(x, nodes)...)
	}
	c.Crossings = w.zoneCrossings(s, crews, nodes)
	c.Together = w.together(crews, nodes)
	return c
}

func colocatedNodes(w *ClusterState) map[string]*corev1.Node {
	out := map[string]*corev1.Node{}
	for _, n := range All[*corev1.Node](w.Facts, "", "Node") {
		out[n.Name] = n
	}
	return out
}

// colocatedPlaces returns the places that have a name, each once and in order.
func colocatedPlaces(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// add counts the pods of a crew.
func (c *Colocation) add(x *replicaGroup, nodes map[string]*corev1.Node) {
	wl := ColocatedWorkload{Ref: x.Ref, Replicas: x.Replicas, Pods: len(x.Pods)}
	on := map[string]int{}
	for _, p := range x.Pods {
		if p.Spec.NodeName == "" {
			c.Pending = append(c.Pending, podRef(p))
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
	wl.Zones = colocatedPlaces(wl.Zones)
	c.Workloads = append(c.Workloads, wl)
}

func (c *Colocation) node(name string, nodes map[string]*corev1.Node) *ColocatedNode {
	if i := slices.IndexFunc(c.Nodes, func(n ColocatedNode) bool { return n.Name == name }); i >= 0 {
		return &c.Nodes[i]
	}
	n := ColocatedNode{Name: name, Unread: nodes[name] == nil}
	if !n.Unread {
		n.Zone, n.Region = nodes[name].Labels[zoneLabel], nodes[name].Labels[regionLabel]
	}
	c.Nodes = append(c.Nodes, n)
	return &c.Nodes[len(c.Nodes)-1]
}

// OneNode returns the node that all pods are on, if it is one.
func (c *Colocation) OneNode() (string, bool) {
	if len(c.Nodes) != 1 || len(c.Pending) > 0 {
		return "", false
	}
	return c.Nodes[0].Name, true
}

// colocatedClaims returns the claims of a crew that bind it to a node, or to some of the
// zones.
func (w *ClusterState) colocatedClaims(x *replicaGroup, nodes map[string]*corev1.Node) []ColocatedClaim {
	var out []ColocatedClaim
	for _, wl := range x.Workloads {
		for _, claim := range w.robustClaims(wl) {
			pv, ok := Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName})
			if !ok || pv.Spec.NodeAffinity == nil {
				continue
			}
			c := ColocatedClaim{Claim: robustClaimRef(claim), Workload: x.Ref, Node: w.robustBoundTo(claim)}
			var in, all []string
			for _, n := range nodes {
				all = append(all, n.Labels[zoneLabel])
				if volumehelpers.CheckNodeAffinity(pv, n.Labels) == nil {
					in = append(in, n.Labels[zoneLabel])
				}
			}
			c.Zones = colocatedPlaces(in)
			if c.Node != "" || len(c.Zones) > 0 && len(c.Zones) < len(colocatedPlaces(all)) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b ColocatedClaim) int { return object.Compare(a.Claim, b.Claim) })
	return slices.CompactFunc(out, func(a, b ColocatedClaim) bool { return a.Claim == b.Claim })
}

// zoneCrossings finds workloads that need a Service in whose zone they are not.
func (w *ClusterState) zoneCrossings(s *Stack, crews []*replicaGroup, nodes map[string]*corev1.Node) []ZoneCrossing {
	of := map[object.Ref]*replicaGroup{}
	for _, x := range crews {
		for _, wl := range x.Workloads {
			of[wl.Ref] = x
		}
	}
	var out []ZoneCrossing
	for _, ref := range s.Members() {
		behind := w.robustPodsOf(ref)
		if ref.GroupKind() != robustServiceKind || len(behind) == 0 {
			continue
		}
		wl, ok := w.Workload(podRef(behind[0]))
		if !ok || of[wl.Ref] == nil {
			continue
		}
		to := of[wl.Ref]
		there := groupZones(to, nodes)
		for _, caller := range w.callers(ref) {
			from := of[caller]
			if from == nil || from == to || len(there) == 0 {
				continue
			}
			away := slices.DeleteFunc(groupZones(from, nodes), func(z string) bool { return slices.Contains(there, z) })
			if len(away) > 0 {
				out = append(out, ZoneCrossing{From: from.Ref, To: to.Ref, Service: ref, Zones: away})
			}
		}
	}
	return slices.CompactFunc(out, func(a, b ZoneCrossing) bool { return a.From == b.From && a.To == b.To && a.Service == b.Service })
}

// groupZones returns the zones of a crew's pods, each once and in order.
func groupZones(x *replicaGroup, nodes map[string]*corev1.Node) []string {
	var out []string
	for _, p := range x.Pods {
		if n := nodes[p.Spec.NodeName]; n != nil {
			out = append(out, n.Labels[zoneLabel])
		}
	}
	return colocatedPlaces(out)
}

// callers returns the workloads that need a Service, in order.
func (w *ClusterState) callers(service object.Ref) []object.Ref {
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
			wl, ok = w.Workload(w.builtInTop(from))
		}
		if ok {
			out = append(out, wl.Ref)
		}
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}
