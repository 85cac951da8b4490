package cost

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// byGroup makes the rows of a report by anything but stacks. The reading goes first:
// it knows the nodes and the labels of pods, and who mounts a claim.
func (b *reportBuilder) byGroup() {
	b.remember()
	at := make(map[objectKey]int32, len(b.reading.Pods)+len(b.reading.Claims))
	pods := make(map[object.Ref]*metrics.Pod, len(b.reading.Pods))
	for i := range b.reading.Pods {
		pod := &b.reading.Pods[i]
		row := b.row(b.groupOf(pod.Ref, pod), LevelPod, pod.Ref)
		b.addPod(row, pod, pod)
		at[objectKey{pod.Ref, string(pod.UID)}] = row
		if known := pods[pod.Ref]; known == nil || pod.UID < known.UID {
			pods[pod.Ref] = pod
		}
	}
	for i := range b.reading.Claims {
		claim := &b.reading.Claims[i]
		row := b.row(b.groupOfClaim(claim, pods), LevelPod, claim.Ref)
		b.addClaim(row, claim)
		at[objectKey{claim.Ref, string(claim.UID)}] = row
	}
	b.volumes()
	for i := range b.ledger.Charges {
		c := &b.ledger.Charges[i]
		if c.Kind == Unclaimed {
			b.charge(b.unclaimed(c.Item), c)
			continue
		}
		if c.Kind == Idle || c.Kind == Shared || c.Kind == Overhead {
			b.charge(b.restOfGroup(c), c)
			continue
		}
		row, ok := at[objectKey{c.Item, c.UID}]
		if !ok {
			row = b.row(b.groupOf(c.Item, pods[c.Item]), LevelPod, c.Item)
		}
		b.charge(row, c)
	}
}

// restOfGroup returns the row of a charge that belongs to no object of its group.
func (b *reportBuilder) restOfGroup(c *Charge) int32 {
	someone := c.Stack != object.Ref{}
	switch {
	case b.grouping.By == ByNode && c.Node != "":
		return b.named(b.group(c.Node), LevelRest, string(c.Kind))
	case b.grouping.By == ByNamespace && (someone || c.Namespace != ""):
		return b.named(b.group(cmp.Or(c.Namespace, c.Stack.Namespace)), LevelRest, string(c.Kind))
	case b.grouping.By != ByNode && someone:
		return b.named(b.groupOf(c.Stack, nil), LevelRest, string(c.Kind))
	case c.Kind == Idle:
		return b.idle(c)
	case c.Kind == Shared:
		return b.shared(sharedNamespace(c))
	}
	return b.named(top, LevelRest, string(c.Kind))
}

// groupOf returns the group of a thing; pod is what is read of it, or nil.
func (b *reportBuilder) groupOf(item object.Ref, pod *metrics.Pod) int32 {
	place := b.placement.Of[item]
	switch b.grouping.By {
	case ByNamespace:
		return b.group(item.Namespace)
	case ByNode:
		if pod == nil {
			return b.group("")
		}
		return b.group(pod.Node)
	case ByResource:
		return b.row(top, LevelGroup, b.resource(item, b.path(item, place)))
	}
	value := ""
	if b.grouping.Value != nil {
		value = b.grouping.Value(item, place)
	}
	ofLabel := b.grouping.By == ByLabel || b.grouping.By == ByNamespaceLabel
	if value == "" && pod != nil && ofLabel {
		// Of a pod that is gone only the reading knows the labels.
		value, _ = metrics.Label(pod.Labels, b.grouping.Key)
	}
	if value == "" && b.grouping.OfNamespace != nil {
		value = b.grouping.OfNamespace(item.Namespace)
	}
	return b.group(value)
}

// groupOfClaim returns the group of a claim. A claim that has no owner, as those of a
// StatefulSet, falls to the custom resource or workload of the pod that mounts it: the
// first by name.
func (b *reportBuilder) groupOfClaim(claim *metrics.Claim, pods map[object.Ref]*metrics.Pod) int32 {
	if b.grouping.By != ByResource || len(b.placement.Of[claim.Ref].Path) > 0 {
		return b.groupOf(claim.Ref, nil)
	}
	var first *metrics.Pod
	for _, mount := range claim.Mounts {
		pod := pods[mount.Pod]
		if pod != nil && (first == nil || object.Compare(pod.Ref, first.Ref) < 0) {
			first = pod
		}
	}
	if first == nil {
		return b.groupOf(claim.Ref, nil)
	}
	return b.groupOf(first.Ref, first)
}

// resource returns the topmost custom resource on a path, or else the topmost
// workload, or else the thing itself.
func (b *reportBuilder) resource(item object.Ref, path []object.Ref) object.Ref {
	topmost := item
	if i := slices.IndexFunc(path, func(r object.Ref) bool { return !isPod(r) }); i >= 0 {
		topmost = path[i]
	}
	for _, owner := range path {
		if b.level(owner) == LevelResource {
			return owner
		}
	}
	return topmost
}

// group returns the group of a value.
func (b *reportBuilder) group(value string) int32 {
	if value == "" {
		value = noValue
	}
	return b.named(top, LevelGroup, value)
}
