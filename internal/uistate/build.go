package uistate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// MaxNodes is how many objects a State holds at most. What is in trouble comes first, then
// the members of stacks.
const MaxNodes = 20_000

// Input is what a State is made from. What is nil is unknown: Parts should say why.
type Input struct {
	// Head is what of the State is known without looking: Title, Mode, Source, At, Parts, ...
	Head       State
	Graph      *graph.Graph
	Assessment *health.Assessment
	Stacks     []Found

	// Report is that of the stacks, with its Ledger, Placement and Reading. Costs are those by
	// something else, in order.
	Report    *cost.Report
	Ledger    *cost.Ledger
	Placement *metrics.Attribution
	Reading   *metrics.UsageReport
	Costs     []Grouping

	// Events are the last warnings about objects.
	Events map[object.Ref][]Event
	// PortsOf are the ports of a Service; may be nil.
	PortsOf func(object.Ref) []corev1.ServicePort
	// CreatedAt is when an object was created; may be nil.
	CreatedAt func(object.Ref) time.Time
	// Here says whether an object is asked about that is in no stack; nil for none of them.
	Here func(graph.ID) bool
	// NoInferred leaves out the edges that are guesses.
	NoInferred bool
	// MaxNodes is how many objects it holds; 0 is MaxNodes.
	MaxNodes int
}

// Found is a stack of a State.
type Found struct {
	Name    object.Ref
	By      string
	Stack   *graph.Stack
	Health  *health.Stack
	Objects int
	// Shared says of a member that other stacks have it as well; nil is that of the Stack.
	Shared func(graph.ID) bool
	// HealthyPods counts its Healthy pods.
	HealthyPods int
	Created     time.Time
	// Cluster says that the stack is part of the cluster itself.
	Cluster bool
}

// Grouping is a report by something else than stacks.
type Grouping struct {
	// By is namespace, or label KEY.
	By     string
	Report *cost.Report
}

// New makes a State. Objects have the numbers of n, which is that of the session.
func New(in Input, n *Numbering) *State {
	b := &stateBuilder{Input: in, n: n, p: in.Head, held: map[graph.ID]bool{}}
	b.p.Head = document.Head{APIVersion: document.APIVersion, Kind: "UIState"}
	if b.MaxNodes == 0 {
		b.MaxNodes = MaxNodes
	}
	b.costs()
	b.choose()
	b.nodes()
	b.p.Stacks = []Stack{}
	for i := range b.Stacks {
		b.p.Stacks = append(b.p.Stacks, b.stack(&b.Stacks[i]))
	}
	b.groupings()
	b.p.Kinds, b.p.Namespaces, b.p.Labels, b.p.Rules = n.kinds.list(), n.namespaces.list(), n.labels.list(), n.rules.list()
	return &b.p
}

// StackOf makes one stack with the numbers of a State that was made with n before. Of
// what has no number there, it has nothing.
func StackOf(in Input, n *Numbering) *Stack {
	b := &stateBuilder{Input: in, n: n, held: map[graph.ID]bool{}}
	for id := range graph.ID(in.Graph.Len()) {
		if _, known := n.nodes.at[in.Graph.Ref(id)]; known {
			b.held[id] = true
		}
	}
	b.costs()
	s := b.stack(&b.Stacks[0])
	return &s
}

// stateBuilder makes one State.
type stateBuilder struct {
	Input
	n    *Numbering
	p    State
	held map[graph.ID]bool
	// money is what is shown of the rows of the report, paid the charges of each stack by what
	// costs.
	money cost.Money
	rows  map[object.Ref]*cost.Row
	paid  map[object.Ref]*payments
	// whole is what all stacks pay of a thing.
	whole map[object.Ref]decimal.Decimal
	pods  map[object.Ref]*metrics.Pod
}

// choose chooses the objects that the State holds.
func (b *stateBuilder) choose() {
	g := b.Graph
	const sick, member, other = 0, 1, 2
	rank := map[graph.ID]int{}
	for i := range b.Stacks {
		for _, id := range b.Stacks[i].Stack.Members() {
			rank[id] = member
		}
	}
	for id := range graph.ID(g.Len()) {
		_, in := rank[id]
		own := b.Assessment.OwnHealth(id)
		ill := own.Status.Worse(health.Progressing) && (g.State(id) != graph.Missing || g.IsMissingDependency(id))
		local := b.Here != nil && g.State(id) == graph.Present && b.Here(id)
		switch {
		case ill && (in || local):
			rank[id] = sick
		case !in && local:
			rank[id] = other
		}
	}
	b.p.Objects = len(rank)
	ids := make([]graph.ID, 0, len(rank))
	for id := range rank {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y graph.ID) int {
		if rank[x] != rank[y] {
			return rank[x] - rank[y]
		}
		return int(x - y)
	})
	for _, id := range ids[:min(b.MaxNodes, len(ids))] {
		b.held[id] = true
	}
}

// nodes makes the nodes, in the order of the graph: numbers that are new are given so, whatever
// else there is.
func (b *stateBuilder) nodes() {
	b.pods = map[object.Ref]*metrics.Pod{}
	if b.Reading != nil {
		for i := range b.Reading.Pods {
			if pod := &b.Reading.Pods[i]; !pod.Gone {
				b.pods[pod.Ref] = pod
			}
		}
	}
	var ids []graph.ID
	for id := range graph.ID(b.Graph.Len()) {
		if b.held[id] {
			ids = append(ids, id)
			b.number(id)
		}
	}
	b.p.Nodes = make([]*Node, len(b.n.nodes.all))
	for _, id := range ids {
		b.p.Nodes[b.number(id)] = b.node(id)
	}
	b.claims()
}

func (b *stateBuilder) number(id graph.ID) int { return b.n.nodes.indexOf(b.Graph.Ref(id)) }

func (b *stateBuilder) node(id graph.ID) *Node {
	ref := b.Graph.Ref(id)
	n := &Node{
		Kind: b.n.kinds.indexOf(Kind{ref.Kind, ref.Group}), Namespace: b.n.namespaces.indexOf(ref.Namespace), Name: ref.Name,
		Boundary: graph.IsBoundary(ref), Edges: b.edges(id),
	}
	if state := b.Graph.State(id); state != graph.Present {
		n.State = state.String()
	}
	own := b.Assessment.OwnHealth(id)
	n.Health, n.Reason, n.Message, n.Since = healthNumber(own.Status), own.Reason, own.Message, unix(own.Since)
	if own.Status == "" || own.Status == health.Healthy && health.Stateless(ref.GroupKind()) {
		n.Reason, n.Message, n.Since = "", "", 0 // That it is there is no news.
	}
	if b.CreatedAt != nil {
		n.Created = unix(b.CreatedAt(ref))
	}
	n.Labels = b.labels(id)
	if pod := b.pods[ref]; pod != nil {
		n.Usage = b.podUsage(pod)
	}
	n.Events = slices.Clone(b.Events[ref])
	return n
}

// edges are those that leave a node to others that are held.
func (b *stateBuilder) edges(id graph.ID) []Edge {
	var out []Edge
	for e := range b.Graph.Out(id) {
		if !b.held[e.To] || b.NoInferred && e.Inferred {
			continue
		}
		edge := Edge{
			To: b.number(e.To), Relation: int(e.Relation), Via: e.Via.String(), Why: whyOf(e), Rule: b.n.rules.indexOf(e.Rule),
			Inferred: e.Inferred, Optional: e.Optional, Follow: follow(e), Port: b.port(id, e),
		}
		if !slices.Contains(out, edge) {
			out = append(out, edge)
		}
	}
	return out
}

// port names the ports of the Service that an edge needs, or by which it serves: the one that the value of
// the evidence names, else the first, and how many more there are.
func (b *stateBuilder) port(from graph.ID, e graph.Edge) string {
	service := b.Graph.Ref(e.To)
	if e.Relation == relation.Serves {
		service = b.Graph.Ref(from)
	}
	if b.PortsOf == nil || e.Relation == relation.Owns || service.GroupKind() != (schema.GroupKind{Kind: "Service"}) {
		return ""
	}
	ports := b.PortsOf(service)
	for _, p := range ports {
		text := fmt.Sprintf(":%d", p.Port)
		for _, after := range strings.Split(e.Why(), text)[1:] {
			if after == "" || after[0] < '0' || after[0] > '9' {
				return portText(p)
			}
		}
	}
	switch len(ports) {
	case 0:
		return ""
	case 1:
		return portText(ports[0])
	}
	return fmt.Sprintf("%s and %d more", portText(ports[0]), len(ports)-1)
}

func portText(p corev1.ServicePort) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d", p.Name, p.Port))
}

// follow is how far a stack follows an edge.
func follow(e graph.Edge) (sum int) {
	for i, yes := range []bool{e.Peer, e.Leaf, e.Manages} {
		if yes {
			sum += 1 << i
		}
	}
	return sum
}

// whyOf is the field and the value that say so, without what is unreadable: the UID of an
// owner, and the end of a long selector.
func whyOf(e graph.Edge) string {
	if e.Via == relation.Owner {
		return e.Field
	}
	const most = 200
	text := e.Why()
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most-1]) + "…"
}

// labels are those that users chose. What a controller writes to tell its own pods apart is
// left out: each of them is of one object alone, or of one revision.
func (b *stateBuilder) labels(id graph.ID) []int {
	labels := b.Graph.Labels(id)
	keys := make([]string, 0, len(labels))
	for key := range labels {
		if !slices.Contains(byControllers, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var out []int
	for _, key := range keys {
		out = append(out, b.n.labels.indexOf(key+"="+labels[key]))
	}
	return out
}

// byControllers are the labels of Kubernetes' own controllers.
var byControllers = []string{
	"pod-template-hash", "controller-revision-hash", "pod-template-generation", "controller-uid", "batch.kubernetes.io/controller-uid",
	"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index",
}

// healthNumber is that of a status, the best first; 0 for none.
func healthNumber(s health.Status) int { return slices.Index(health.Statuses(), s) + 1 }

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
