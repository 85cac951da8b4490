package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ColocationOptions say how the places of pods are shown.
type ColocationOptions struct {
	// Namespace is that of the user, which need not be written.
	Namespace string
	// Gaps are what could not be read.
	Gaps []object.Gap
}

// Colocation shows how the pods of stacks lie on nodes, and what would keep them together.
// The table has the nodes alone, a row for each workload on each.
func Colocation(found []*colocation.Placement, o ColocationOptions) Output {
	v := &colocationView{o: o}
	t := &Tree{Columns: []Column{
		{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "PODS", Right: true},
		{Name: "ZONE"},
		{Name: "DETAILS", OwnLine: true, Wrap: true},
	}}
	a := Output{Document: colocationDocument(found, o.Gaps), Tree: t, Table: v.table(found), Names: []string{}}
	a.Wide = a.Table
	for _, c := range found {
		t.Roots = append(t.Roots, v.stack(c))
		a.Names = append(a.Names, c.Stack.String())
	}
	return a
}

type colocationView struct{ o ColocationOptions }

func (v *colocationView) near(r object.Ref) string { return Written(r, v.o.Namespace, nil) }

func colocationLine(called, pods, zone string, effect Cell) *TreeRow {
	return &TreeRow{Name: Cell{Text: called}, Cells: []Cell{{Text: pods}, {Text: zone}, effect}}
}

func (v *colocationView) stack(c *colocation.Placement) *TreeRow {
	pods := 0
	for i := range c.Workloads {
		pods += c.Workloads[i].Pods
	}
	root := colocationLine("stack "+v.near(c.Stack), strconv.Itoa(pods), "", Cell{Text: colocationHead(c)})
	for i := range c.Nodes {
		root.Children = append(root.Children, v.node(&c.Nodes[i]))
	}
	for i := range c.Workloads {
		if w := &c.Workloads[i]; w.Pods == 0 {
			root.Children = append(root.Children, colocationLine(v.near(w.Ref), "0", "", Cell{fmt.Sprintf("! none of %s exists", counted(int(w.Replicas), "pod")), Warn}))
		}
	}
	for _, p := range c.Pending {
		root.Children = append(root.Children, colocationLine(v.near(p), "", "", Cell{"! waits for a node", Warn}))
	}
	for i := range c.Claims {
		x := &c.Claims[i]
		root.Children = append(root.Children, colocationLine(v.near(x.Claim), "", "", Cell{Text: v.bound(x)}))
	}
	for i := range c.Crossings {
		x := &c.Crossings[i]
		text := fmt.Sprintf("! calls %s, and no pod of %s is in its %s %s: requests leave the zone", v.near(x.Service), v.near(x.To), noun(len(x.Zones), "zone"), strings.Join(x.Zones, ", "))
		root.Children = append(root.Children, colocationLine(v.near(x.From), "", "", Cell{text, Warn}))
	}
	root.Children = append(root.Children, v.together(c))
	return root
}

// colocationHead sums up on how many nodes and in how many zones a stack is.
func colocationHead(c *colocation.Placement) string {
	if len(c.Nodes) == 0 {
		return "on no node"
	}
	text := "on " + counted(len(c.Nodes), "node")
	switch unread := colocationUnread(c); {
	case unread == len(c.Nodes):
		return text + "; zones unknown: the nodes were not read"
	case len(c.Zones) == 0:
		return text + ", which have no zones"
	case len(c.ZonesThere) > len(c.Zones):
		text += fmt.Sprintf(" in %d of %s", len(c.Zones), counted(len(c.ZonesThere), "zone"))
	default:
		text += " in " + counted(len(c.Zones), "zone")
	}
	return text
}

func colocationUnread(c *colocation.Placement) int {
	n := 0
	for i := range c.Nodes {
		if !c.Nodes[i].Read {
			n++
		}
	}
	return n
}

func (v *colocationView) node(n *colocation.Node) *TreeRow {
	pods := 0
	for _, w := range n.Workloads {
		pods += w.Pods
	}
	line := colocationLine("Node/"+n.Name, strconv.Itoa(pods), n.Zone, Cell{})
	if !n.Read {
		line.Cells[2] = Cell{"? the node was not read", Faint}
	}
	for _, w := range n.Workloads {
		line.Children = append(line.Children, colocationLine(v.near(w.Ref), strconv.Itoa(w.Pods), "", Cell{}))
	}
	return line
}

// bound says where a claim binds its pods to.
func (v *colocationView) bound(x *colocation.Claim) string {
	if x.Node != "" {
		return fmt.Sprintf("binds %s to node %s: no other can mount it", v.near(x.Workload), x.Node)
	}
	return fmt.Sprintf("binds %s to %s %s", v.near(x.Workload), noun(len(x.Zones), "zone"), strings.Join(x.Zones, ", "))
}

// The verdicts on whether all of a stack could be kept on one node.
const (
	colocationIs      = "is"
	colocationCould   = "could"
	colocationCannot  = "cannot"
	colocationUnknown = "unknown"
	colocationNothing = "nothing to place"
)

// colocationVerdict says whether all of a stack could be kept on one node, as it is declared
// today. What speaks against it comes before where it is: pods may be older than what is
// declared.
func colocationVerdict(c *colocation.Placement) (verdict, summary string) {
	t := &c.Together
	node, oneNode := c.OneNode()
	switch {
	case len(t.Obstacles) > 0:
		return colocationCannot, "as declared, it cannot run on one node"
	case oneNode:
		return colocationIs, "all of it runs on node " + node
	case len(t.Nodes) > 0:
		return colocationCould, "fits on one node: " + firstFew(t.Nodes) + " (free room was not checked)"
	case c.NodesUnread:
		return colocationUnknown, "unknown: nodes could not all be read"
	}
	return colocationNothing, "it has no long-running pods to place"
}

// together says what speaks for and against keeping all of it on one node.
func (v *colocationView) together(c *colocation.Placement) *TreeRow {
	t := &c.Together
	verdict, summary := colocationVerdict(c)
	word := map[string]Cell{
		colocationIs: {"✔ " + summary, Good}, colocationCould: {"✔ " + summary, Good}, colocationCannot: {"✖ " + summary, Warn},
		colocationUnknown: {"? " + summary, Faint}, colocationNothing: {summary, Faint},
	}[verdict]
	line := colocationLine("one node", "", "", word)
	for _, text := range t.Obstacles {
		line.Children = append(line.Children, colocationLine("obstacle", "", "", Cell{Text: text}))
	}
	for _, s := range t.Selectors {
		line.Children = append(line.Children, colocationLine("set of "+v.near(s.Workload), "", "", Cell{Text: evidence(s.Field, s.Value)}))
	}
	for i := range t.Settable {
		s := &t.Settable[i]
		line.Children = append(line.Children, colocationLine("configurable in "+v.near(s.Resource), "", "", colocationSettable(s)))
	}
	return line
}

// colocationSettable names the first few fields: definitions with a template for each part
// have dozens.
func colocationSettable(s *colocation.Settable) Cell {
	const maxShown = 6
	switch {
	case !s.Read:
		return Cell{"? its CRD was not read", Faint}
	case len(s.Paths) > maxShown:
		return Cell{Text: strings.Join(s.Paths[:maxShown-1], ", ") + fmt.Sprintf(" and %d more (-o json has all)", len(s.Paths)-maxShown+1)}
	case len(s.Paths) > 0:
		return Cell{Text: strings.Join(s.Paths, ", ")}
	case s.Open != "":
		return Cell{"? " + s.Open + " accepts any field, so it may be set there", Faint}
	}
	return Cell{"no field of it controls where its pods run", Warn}
}

// firstFew names the first few of what may be many.
func firstFew(names []string) string {
	const maxShown = 5
	if len(names) <= maxShown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxShown-1], ", ") + fmt.Sprintf(" and %d more", len(names)-maxShown+1)
}

// placedPods are the pods of a workload of a stack on a node.
type placedPods struct {
	stack    object.Ref
	node     *colocation.Node
	workload colocation.WorkloadPods
}

// table has a row for each workload on each node, and one for each pod that waits for a node.
func (v *colocationView) table(found []*colocation.Placement) *Table {
	var rows []placedPods
	for _, c := range found {
		for i := range c.Nodes {
			for _, w := range c.Nodes[i].Workloads {
				rows = append(rows, placedPods{c.Stack, &c.Nodes[i], w})
			}
		}
		for _, p := range c.Pending {
			rows = append(rows, placedPods{c.Stack, &colocation.Node{Name: "-"}, colocation.WorkloadPods{Ref: p, Pods: 1}})
		}
	}
	return ColumnsOf[placedPods]{
		{Column: Column{Name: "STACK", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r placedPods) string { return v.near(r.stack) })},
		{Column: Column{Name: "NODE"}, Value: AsText(func(r placedPods) string { return r.node.Name })},
		{Column: Column{Name: "ZONE"}, Value: AsText(func(r placedPods) string { return r.node.Zone })},
		{Column: Column{Name: "WORKLOAD", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r placedPods) string { return v.near(r.workload.Ref) })},
		{Column: Column{Name: "PODS", Right: true}, Value: AsText(func(r placedPods) string { return strconv.Itoa(r.workload.Pods) })},
	}.Table(rows)
}
