package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ColocationDocument is how the pods of stacks lie (docs/schema/colocation.json).
type ColocationDocument struct {
	Head   `json:",inline"`
	Stacks []ColocationStackDocument `json:"stacks"`
	Gaps   []object.Gap              `json:"gaps"`
}

// ColocationStackDocument is how the pods of a stack lie.
type ColocationStackDocument struct {
	ID object.Ref `json:"id"`
	// Nodes are those that pods are on, Pending the pods that wait for one.
	Nodes     []ColocationNodeDocument `json:"nodes"`
	Workloads []colocation.Workload    `json:"workloads"`
	Pending   []object.Ref             `json:"pending"`
	// Zones and Regions are those of the nodes, ClusterZones those of all nodes that were read.
	Zones        []string                     `json:"zones"`
	Regions      []string                     `json:"regions"`
	ClusterZones []string                     `json:"clusterZones"`
	Claims       []colocation.Claim           `json:"claims"`
	Crossings    []colocation.Crossing        `json:"crossings"`
	SingleNode   ColocationSingleNodeDocument `json:"singleNode"`
	// NodesUnread says that nodes could not all be read.
	NodesUnread bool `json:"nodesUnread"`
}

// ColocationNodeDocument is a node with pods of a stack.
type ColocationNodeDocument struct {
	Name   string `json:"name"`
	Zone   string `json:"zone,omitempty"`
	Region string `json:"region,omitempty"`
	// Read is false where the Node was not read, so that its zone is unknown.
	Read      bool                      `json:"read"`
	Workloads []colocation.WorkloadPods `json:"workloads"`
}

// ColocationSingleNodeDocument says whether all could be kept on one node.
type ColocationSingleNodeDocument struct {
	// Verdict is in one word, Summary in one sentence.
	Verdict string `json:"verdict"`
	Summary string `json:"summary"`
	// On is the node that all pods are on today.
	On string `json:"on,omitempty"`
	// Nodes are those that would take each pod, room aside.
	Nodes        []string                         `json:"nodes"`
	Obstacles    []string                         `json:"obstacles"`
	Selectors    []colocation.PodSelector         `json:"selectors"`
	Configurable []ColocationConfigurableDocument `json:"configurable"`
}

// ColocationConfigurableDocument is what a custom resource lets users say of where its pods go.
type ColocationConfigurableDocument struct {
	ID     object.Ref `json:"id"`
	Fields []string   `json:"fields"`
	// Open is a field that takes anything about pods; Read is false where the definition
	// was not read.
	Open string `json:"open,omitempty"`
	Read bool   `json:"read"`
}

func colocationDocument(found []*colocation.Placement, gaps []object.Gap) ColocationDocument {
	doc := ColocationDocument{Head: headOf("Colocation"), Gaps: gaps}
	for _, c := range found {
		doc.Stacks = append(doc.Stacks, colocationStack(c))
	}
	return doc
}

func colocationStack(c *colocation.Placement) ColocationStackDocument {
	s := ColocationStackDocument{
		ID: c.Stack, Workloads: c.Workloads, Pending: c.Pending, Zones: c.Zones, Regions: c.Regions, ClusterZones: c.ZonesThere,
		Claims: c.Claims, Crossings: c.Crossings, SingleNode: colocationSingleNode(c), NodesUnread: c.NodesUnread,
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		s.Nodes = append(s.Nodes, ColocationNodeDocument{n.Name, n.Zone, n.Region, !n.Unread, n.Workloads})
	}
	return s
}

func colocationSingleNode(c *colocation.Placement) ColocationSingleNodeDocument {
	t := &c.Together
	out := ColocationSingleNodeDocument{Nodes: t.Nodes, Obstacles: t.Obstacles, Selectors: t.Selectors}
	out.Verdict, out.Summary = colocationVerdict(c)
	out.On, _ = c.OneNode()
	for i := range t.Settable {
		x := &t.Settable[i]
		out.Configurable = append(out.Configurable, ColocationConfigurableDocument{x.Resource, x.Paths, x.Open, !x.Unread})
	}
	return out
}
