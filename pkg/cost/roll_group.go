package cost

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// byGroup makes the rows of a report by anything but stacks. The reading goes first:
// it knows the nodes and the labels of pods, and who mounts a claim.
func (b *reportBuilder) byGroup() {
	b.startCluster()
	at := make(map[objectKey]int32, len(b.reading.Pods)+len(b.reading.Claims))
	for i := range b.reading.Pods {
		pod := &b.reading.Pods[i]
		key := objectKey{pod.Ref, string(pod.UID)}
		at[key] = b.row(b.groupOf(key), LevelPod, pod.Ref)
		b.addPod(at[key], pod, pod)
	}
	for i := range b.reading.Claims {
		claim := &b.reading.Claims[i]
		key := objectKey{claim.Ref, string(claim.UID)}
		at[key] = b.row(b.groupOf(key), LevelPod, claim.Ref)
		b.addClaim(at[key], claim)
	}
	b.volumes()
	for i := range b.ledger.Charges {
		c := &b.ledger.Charges[i]
		switch c.Kind {
		case Unclaimed:
			b.charge(b.unclaimed(c.Item), c)
		case Idle, Shared, Overhead:
			b.charge(b.restOfGroup(c), c)
		default:
			key := objectKey{c.Item, c.UID}
			row, ok := at[key]
			if !ok {
				row = b.row(b.groupOf(key), LevelPod, c.Item)
			}
			b.charge(row, c)
		}
	}
}

// startCluster makes the row of the cluster, where that is the first key.
func (b *reportBuilder) startCluster() {
	if k := b.grouping.Keys[0]; k.By == ByCluster {
		b.base = b.group(top, k, groupValue{text: b.grouping.Cluster})
	}
}

// groupOf returns the innermost group of a thing.
func (b *reportBuilder) groupOf(thing objectKey) int32 {
	at := int32(top)
	for _, k := range b.grouping.Keys {
		at = b.group(at, k, b.valueOf(k, thing))
	}
	return at
}

// restOfGroup returns the row of a charge that belongs to no object of its group: below the groups
// that it has values of, from the outermost.
func (b *reportBuilder) restOfGroup(c *Charge) int32 {
	at, keys := int32(top), b.grouping.Keys
	for i, k := range keys {
		value, known := b.valueOfRest(k, c)
		if known {
			at = b.group(at, k, value)
		}
		if !known || k.By == ByCluster && i == len(keys)-1 {
			return b.restBelow(at, c)
		}
	}
	return b.named(at, LevelRest, string(c.Kind))
}

// restBelow returns the row of a charge of which no further group is known.
func (b *reportBuilder) restBelow(at int32, c *Charge) int32 {
	switch c.Kind {
	case Idle:
		return b.idle(at, c)
	case Shared:
		return b.shared(at, sharedNamespace(c))
	}
	return b.named(at, LevelRest, string(c.Kind))
}

// group returns the group of a value below another.
func (b *reportBuilder) group(at int32, k Key, v groupValue) int32 {
	if v.ref != (object.Ref{}) {
		at = b.row(at, LevelGroup, v.ref)
	} else {
		if v.text == "" {
			v.text = noValue
		}
		at = b.named(at, LevelGroup, v.text)
	}
	b.rows[at].Key = k.String()
	return at
}

// groupValue is the value of a key: text, or an object.
type groupValue struct {
	text string
	ref  object.Ref
}

// String writes a value, empty for none.
func (v groupValue) String() string {
	if v.ref != (object.Ref{}) {
		return v.ref.String()
	}
	return v.text
}

// grouper finds the values of keys for the things of a reading, and for what is charged besides.
type grouper struct {
	placement *metrics.Attribution
	grouping  Grouping
	// pods and claims are those of the reading; for a reference alone, the first by UID.
	pods   map[objectKey]*metrics.Pod
	claims map[objectKey]*metrics.Claim
	// owners are the paths of pods that are gone, and placed nowhere.
	owners map[object.Ref][]object.Ref
}

// newPlacer returns a grouper that places things in stacks, and knows no other values.
func newPlacer(r *metrics.UsageReport, p *metrics.Attribution, g Grouping) *grouper {
	groups := &grouper{placement: p, grouping: g, owners: map[object.Ref][]object.Ref{}}
	for i := range r.Pods {
		if pod := &r.Pods[i]; len(pod.Owners) > 0 && len(p.Of[pod.Ref].Path) == 0 {
			groups.owners[pod.Ref] = pathOf(pod.Owners)
		}
	}
	return groups
}

func newGrouper(r *metrics.UsageReport, p *metrics.Attribution, g Grouping) *grouper {
	groups := newPlacer(r, p, g)
	groups.pods, groups.claims = make(map[objectKey]*metrics.Pod, 2*len(r.Pods)), make(map[objectKey]*metrics.Claim, 2*len(r.Claims))
	for i := range r.Pods {
		pod := &r.Pods[i]
		groups.pods[objectKey{pod.Ref, string(pod.UID)}] = pod
		if known := groups.pods[objectKey{ref: pod.Ref}]; known == nil || pod.UID < known.UID {
			groups.pods[objectKey{ref: pod.Ref}] = pod
		}
	}
	for i := range r.Claims {
		claim := &r.Claims[i]
		groups.claims[objectKey{claim.Ref, string(claim.UID)}], groups.claims[objectKey{ref: claim.Ref}] = claim, claim
	}
	return groups
}

// Values returns what finds the value of a key for a thing of a reading; empty for none.
func (g Grouping) Values(r *metrics.UsageReport, p *metrics.Attribution) func(k Key, thing object.Ref) string {
	groups := newGrouper(r, p, g)
	return func(k Key, thing object.Ref) string { return groups.valueOf(k, objectKey{ref: thing}).String() }
}

// valueOf returns the value of a key for a pod, a claim or another thing that costs.
func (g *grouper) valueOf(k Key, thing objectKey) groupValue {
	pod := g.pods[thing]
	if pod == nil {
		pod = g.pods[objectKey{ref: thing.ref}]
	}
	item := thing.ref
	place := g.placement.Of[item]
	switch k.By {
	case ByCluster:
		return groupValue{text: g.grouping.Cluster}
	case ByNamespace:
		return groupValue{text: item.Namespace}
	case ByPod:
		if isPod(item) {
			return groupValue{text: item.Name}
		}
		return groupValue{}
	case ByNode:
		if pod == nil {
			return groupValue{}
		}
		return groupValue{text: pod.Node}
	case ByResource:
		return groupValue{ref: g.resource(g.mounter(thing))}
	case ByControllerKind, ByControllerName:
		return g.controller(k, thing)
	}
	value := ""
	if g.grouping.Value != nil {
		value = g.grouping.Value(k, item, place)
	}
	if value == "" && pod != nil && k.IsLabel() {
		// Of a pod that is gone only the reading knows the labels.
		value, _ = metrics.Label(pod.Labels, k.Name)
	}
	return groupValue{text: g.orOfNamespace(value, k, item.Namespace)}
}

// orOfNamespace is a value, or that of the namespace where there is none.
func (g *grouper) orOfNamespace(value string, k Key, namespace string) string {
	if value == "" && k.OfNamespace() && g.grouping.OfNamespace != nil {
		return g.grouping.OfNamespace(k, namespace)
	}
	return value
}

// valueOfRest returns the value of a key for a charge that is for no thing, and whether there is one:
// idle capacity has a node, and what is spread the root of the stack that pays.
func (g *grouper) valueOfRest(k Key, c *Charge) (groupValue, bool) {
	someone := c.Stack != object.Ref{}
	switch {
	case k.By == ByCluster:
		return groupValue{text: g.grouping.Cluster}, true
	case k.By == ByNode:
		return groupValue{text: c.Node}, c.Node != ""
	case k.By == ByNamespace && c.Namespace != "":
		return groupValue{text: c.Namespace}, true
	case k.By == ByPod || !someone || c.Kind == Unclaimed:
		return groupValue{}, false
	}
	return g.valueOf(k, objectKey{ref: c.Stack}), true
}

// controller returns the kind or the name of the nearest workload above a thing.
func (g *grouper) controller(k Key, thing objectKey) groupValue {
	item := g.mounter(thing)
	path := slices.Concat(g.placement.Of[item].Stacks[:min(1, len(g.placement.Of[item].Stacks))], g.path(item, g.placement.Of[item]))
	for _, owner := range slices.Backward(path) {
		if isPod(owner) {
			continue
		}
		if k.By == ByControllerKind {
			return groupValue{text: owner.Kind}
		}
		return groupValue{text: owner.Name}
	}
	return groupValue{}
}

// mounter returns a thing, or the pod that a claim without an owner, as those of a StatefulSet,
// belongs to: the first by name that mounts it.
func (g *grouper) mounter(thing objectKey) object.Ref {
	claim := g.claims[thing]
	if claim == nil {
		claim = g.claims[objectKey{ref: thing.ref}]
	}
	if claim == nil || len(g.placement.Of[thing.ref].Path) > 0 {
		return thing.ref
	}
	first := thing.ref
	for _, mount := range claim.Mounts {
		if g.pods[objectKey{ref: mount.Pod}] != nil && (first == thing.ref || object.Compare(mount.Pod, first) < 0) {
			first = mount.Pod
		}
	}
	return first
}

// resource returns the topmost custom resource above a thing, or else the topmost
// workload, or else the thing itself.
func (g *grouper) resource(item object.Ref) object.Ref {
	path := g.path(item, g.placement.Of[item])
	topmost := item
	if i := slices.IndexFunc(path, func(r object.Ref) bool { return !isPod(r) }); i >= 0 {
		topmost = path[i]
	}
	for _, owner := range path {
		if g.level(owner) == LevelResource {
			return owner
		}
	}
	return topmost
}

// path is the way from the topmost owner to a thing: that of its place, or what a
// history knows.
func (g *grouper) path(item object.Ref, place metrics.Path) []object.Ref {
	if len(place.Path) == 0 && len(place.Stacks) == 0 {
		return g.owners[item]
	}
	return place.Path
}
