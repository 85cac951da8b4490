package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
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
	ID string `json:"id"`
	// Nodes are those that pods are on, Pending the pods that wait for one.
	Nodes     []ColocationNodeDocument     `json:"nodes"`
	Workloads []ColocationWorkloadDocument `json:"workloads"`
	Pending   []string                     `json:"pending"`
	// Zones and Regions are those of the nodes, ClusterZones those of all nodes that were read.
	Zones        []string                     `json:"zones"`
	Regions      []string                     `json:"regions"`
	ClusterZones []string                     `json:"clusterZones"`
	Claims       []ColocationClaimDocument    `json:"claims"`
	Crossings    []ColocationCrossingDocument `json:"crossings"`
	SingleNode   ColocationSingleNodeDocument `json:"singleNode"`
	// NodesUnread says that nodes could not all be read.
	NodesUnread bool `json:"nodesUnread"`
}

// ColocationNodeDocument is a node with pods of a stack.
type ColocationNodeDocument struct {
	Name   string `json:"name"`
	Zone   string `json:"zone,omitempty"`
	Region string `json:"region,omitempty"`
	// Read is false where the Node was not read, so that its zone is not known.
	Read      bool                       `json:"read"`
	Workloads []ColocationCountsDocument `json:"workloads"`
}

// ColocationCountsDocument counts the pods of a workload on a node.
type ColocationCountsDocument struct {
	ID   string `json:"id"`
	Pods int    `json:"pods"`
}

// ColocationWorkloadDocument is a workload of a stack.
type ColocationWorkloadDocument struct {
	ID string `json:"id"`
	// Replicas are those that are wanted, Pods those that there are.
	Replicas int      `json:"replicas"`
	Pods     int      `json:"pods"`
	Zones    []string `json:"zones"`
}

// ColocationClaimDocument is a claim that binds its pods to a place.
type ColocationClaimDocument struct {
	ID       string `json:"id"`
	Workload string `json:"workload"`
	// Node is the only one that can mount it, Zones those in which it can be mounted.
	Node  string   `json:"node,omitempty"`
	Zones []string `json:"zones"`
}

// ColocationCrossingDocument is requests that have to leave a zone.
type ColocationCrossingDocument struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Service string   `json:"service"`
	Zones   []string `json:"zones"`
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
	Selectors    []ColocationSelectorDocument     `json:"selectors"`
	Configurable []ColocationConfigurableDocument `json:"configurable"`
}

// ColocationSelectorDocument is a setting by which pods choose where they go.
type ColocationSelectorDocument struct {
	Workload string `json:"workload"`
	Field    string `json:"field"`
	Value    string `json:"value"`
}

// ColocationConfigurableDocument is what a custom resource lets users say of where its pods go.
type ColocationConfigurableDocument struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields"`
	// Open is a field that takes anything about pods; Read is false where the definition
	// was not read.
	Open string `json:"open,omitempty"`
	Read bool   `json:"read"`
}

func colocationDocument(found []*check.Colocation, gaps []object.Gap) ColocationDocument {
	doc := ColocationDocument{Head: Head{APIVersion, "Colocation"}, Gaps: gaps}
	for _, c := range found {
		doc.Stacks = append(doc.Stacks, colocationStack(c))
	}
	return doc
}

func colocationStack(c *check.Colocation) ColocationStackDocument {
	s := ColocationStackDocument{
		ID: c.Stack.String(), Pending: refIDs(c.Pending),
		Zones: c.Zones, Regions: c.Regions, ClusterZones: c.ZonesThere,
		SingleNode: colocationSingleNode(c), NodesUnread: c.NodesUnread,
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		out := ColocationNodeDocument{Name: n.Name, Zone: n.Zone, Region: n.Region, Read: !n.Unread}
		for _, w := range n.Workloads {
			out.Workloads = append(out.Workloads, ColocationCountsDocument{w.Ref.String(), w.Pods})
		}
		s.Nodes = append(s.Nodes, out)
	}
	for i := range c.Workloads {
		w := &c.Workloads[i]
		s.Workloads = append(s.Workloads, ColocationWorkloadDocument{ID: w.Ref.String(), Replicas: int(w.Replicas), Pods: w.Pods, Zones: w.Zones})
	}
	for i := range c.Claims {
		x := &c.Claims[i]
		s.Claims = append(s.Claims, ColocationClaimDocument{ID: x.Claim.String(), Workload: x.Workload.String(), Node: x.Node, Zones: x.Zones})
	}
	for i := range c.Crossings {
		x := &c.Crossings[i]
		s.Crossings = append(s.Crossings, ColocationCrossingDocument{From: x.From.String(), To: x.To.String(), Service: x.Service.String(), Zones: x.Zones})
	}
	return s
}

func colocationSingleNode(c *check.Colocation) ColocationSingleNodeDocument {
	t := &c.Together
	verdict, summary := colocationVerdict(c)
	out := ColocationSingleNodeDocument{
		Verdict: verdict, Summary: summary,
		Nodes: t.Nodes, Obstacles: t.Obstacles,
	}
	out.On, _ = c.OneNode()
	for _, x := range t.Selectors {
		out.Selectors = append(out.Selectors, ColocationSelectorDocument{x.Workload.String(), x.Field, x.Value})
	}
	for i := range t.Settable {
		x := &t.Settable[i]
		out.Configurable = append(out.Configurable, ColocationConfigurableDocument{ID: x.Resource.String(), Fields: x.Paths, Open: x.Open, Read: !x.Unread})
	}
	return out
}
