package cost

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// UnclaimedVolumes is the name of the row of volumes that no claim has.
const UnclaimedVolumes = "unclaimed volumes"

// The names of rest rows, in the order in which they follow the other rows.
const (
	restUnattributed = "unattributed"
	restUnmounted    = "unmounted"
	restIdle         = "idle"
	restShared       = "shared"
	restOverhead     = "overhead"
)

// noValue is the group of what has no value.
const noValue = "(none)"

// top is the parent of the first rows.
const top = -1

// reportBuilder builds the rows of a report. Rows are numbered as they are made, a parent
// before what is below it, so that one pass from the last to the first sums them up.
type reportBuilder struct {
	*grouper
	reading *metrics.UsageReport
	ledger  *Ledger
	// base is the row that all stacks are below, top for none.
	base int32

	rows   []*Row
	parent []int32
	index  map[rowKey]int32
	spare  []Row // rows are made many at a time
	last   rowPath
	totals totals
	// parts say how the amounts of claims, and of pods that stacks share, are split.
	parts map[objectKey][]part
	// apart are the claims that several stacks need and none pays for.
	apart map[object.Ref]bool
}

// rowKey finds a row below another. Groups and rests have no kind in ref, and their
// level for its group.
type rowKey struct {
	parent int32
	ref    object.Ref
}

// objectKey is an object and its UID: names are used again.
type objectKey struct {
	ref object.Ref
	uid string
}

// rowPath is the row at the end of a path.
type rowPath struct {
	stack object.Ref
	path  []object.Ref
	rest  string
	row   int32
	known bool
}

func newReportBuilder(r *metrics.UsageReport, p *metrics.Attribution, l *Ledger, g Grouping) *reportBuilder {
	groups := newPlacer
	if !g.byStack() {
		groups = newGrouper
	}
	size := len(p.Stacks) + len(r.Pods) + len(r.Claims)
	return &reportBuilder{
		grouper: groups(r, p, g), reading: r, ledger: l, base: top,
		rows:   make([]*Row, 0, size),
		parent: make([]int32, 0, size),
		index:  make(map[rowKey]int32, size),
		parts:  map[objectKey][]part{},
		apart:  map[object.Ref]bool{},
	}
}

// row returns the row of an object below a parent, and creates it if necessary.
func (b *reportBuilder) row(parent int32, level Level, ref object.Ref) int32 {
	key := rowKey{parent, ref}
	if at, ok := b.index[key]; ok {
		return at
	}
	row := b.add(key)
	row.Level, row.Ref = level, ref
	switch {
	case level == LevelStack:
		row.Stack = ref
	case parent != top:
		row.Stack = b.rows[parent].Stack
	}
	return int32(len(b.rows) - 1)
}

// named returns a group or a rest row.
func (b *reportBuilder) named(parent int32, level Level, name string) int32 {
	key := rowKey{parent, object.Ref{Group: string(level), Name: name}}
	if at, ok := b.index[key]; ok {
		return at
	}
	row := b.add(key)
	row.Level, row.Name = level, name
	if parent != top {
		row.Stack = b.rows[parent].Stack
	}
	return int32(len(b.rows) - 1)
}

func (b *reportBuilder) add(key rowKey) *Row {
	if len(b.spare) == 0 {
		b.spare = make([]Row, 256)
	}
	row := &b.spare[0]
	b.spare = b.spare[1:]
	b.index[key] = int32(len(b.rows))
	b.rows = append(b.rows, row)
	b.parent = append(b.parent, key.parent)
	return row
}

// rowUnder returns the row of the last owner of a path below a row. Pods are left out: a
// pod is a row that costs, and what it owns stands beside it.
func (b *reportBuilder) rowUnder(at int32, path []object.Ref) int32 {
	for _, owner := range path {
		if !isPod(owner) {
			at = b.row(at, b.level(owner), owner)
		}
	}
	return at
}

// level tells custom resources from workloads.
func (g *grouper) level(ref object.Ref) Level {
	custom := g.grouping.Custom
	if custom == nil {
		custom = func(r object.Ref) bool {
			return strings.Contains(r.Group, ".") && !strings.HasSuffix(r.Group, ".k8s.io")
		}
	}
	if custom(ref) {
		return LevelResource
	}
	return LevelWorkload
}

// shared returns the row of a namespace that all stacks pay for, and none does.
func (b *reportBuilder) shared(at int32, namespace string) int32 {
	return b.named(b.named(at, LevelRest, restShared), LevelRest, namespace)
}

// idle returns the row of the idle capacity of a node.
func (b *reportBuilder) idle(at int32, c *Charge) int32 {
	name := c.Node
	if name == "" {
		name = c.Item.Name
	}
	return b.named(b.named(at, LevelRest, restIdle), LevelRest, name)
}

// charge books a charge on a row.
func (b *reportBuilder) charge(at int32, c *Charge) {
	b.rows[at].Costs.Add(paidFor(c), c.Cost)
}

// paidFor is the key of a charge in Row.Costs.
func paidFor(c *Charge) metrics.Resource {
	switch c.Kind {
	case Idle, Shared, Overhead:
		return metrics.Resource(c.Kind)
	case Used, Unmounted:
	}
	switch c.Resource {
	case metrics.Received, metrics.Sent:
		return "network"
	case metrics.Storage:
		return metrics.Storage
	}
	if c.Item.Kind == "Service" && c.Item.Group == "" {
		return LoadBalancer
	}
	return c.Resource
}

// pathOf turns owners, nearest first, into a path. A ReplicaSet is on it only at the
// top.
func pathOf(owners []object.Ref) []object.Ref {
	path := slices.Clone(owners)
	slices.Reverse(path)
	names := path[:1]
	for _, owner := range path[1:] {
		if owner.Kind != "ReplicaSet" {
			names = append(names, owner)
		}
	}
	return names
}

// isPod tells pods from other things.
func isPod(ref object.Ref) bool { return ref.Kind == "Pod" && ref.Group == "" }

// isClaim tells claims from other things.
func isClaim(ref object.Ref) bool { return ref.Kind == "PersistentVolumeClaim" && ref.Group == "" }
