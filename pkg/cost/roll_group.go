package cost

import (
	"cmp"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// byGroup makes the rows of a report by anything but stacks. The reading goes first:
// it knows the nodes and the labels of pods, and who mounts a claim.
func (b *roller) byGroup() {
	b.remember()
	at := make(map[object.Ref]int32, len(b.reading.Pods)+len(b.reading.Claims))
	pods := make(map[object.Ref]*metrics.Pod, len(b.reading.Pods))
	for i := range b.reading.Pods {
		pod := &b.reading.Pods[i]
		row := b.row(b.groupOf(pod.Ref, pod), LevelPod, pod.Ref)
		b.addPod(row, pod, pod)
		at[pod.Ref], pods[pod.Ref] = row, pod
	}
	for i := range b.reading.Claims {
		claim := &b.reading.Claims[i]
		row := b.row(b.groupOfClaim(claim, pods), LevelPod, claim.Ref)
		b.addClaim(row, claim)
		at[claim.Ref] = row
	}
	for i := range b.ledger.Charges {
		c := &b.ledger.Charges[i]
		b.charge(b.chargedGroup(c, at), c)
	}
}

// chargedGroup returns the row of a charge.
func (b *roller) chargedGroup(c *Charge, at map[object.Ref]int32) int32 {
	if c.Kind == Used || c.Kind == Unmounted {
		if b.grouping.By == ByNode && isPod(c.Item) {
			// A name that was used again may be on two nodes.
			return b.row(b.group(c.Node), LevelPod, c.Item)
		}
		row, ok := at[c.Item]
		if !ok {
			row = b.row(b.groupOf(c.Item, nil), LevelPod, c.Item)
			at[c.Item] = row
		}
		return row
	}
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
func (b *roller) groupOf(item object.Ref, pod *metrics.Pod) int32 {
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
	if value == "" && pod != nil && b.grouping.By == ByLabel {
		// Of a pod that is gone only the reading knows the labels.
		value = pod.Labels[b.grouping.Key]
	}
	return b.group(value)
}

// groupOfClaim returns the group of a claim. A claim that has no owner, as those of a
// StatefulSet, falls to the custom resource or workload of the first pod that mounts
// it.
func (b *roller) groupOfClaim(claim *metrics.Claim, pods map[object.Ref]*metrics.Pod) int32 {
	if b.grouping.By == ByResource && len(b.placement.Of[claim.Ref].Path) == 0 {
		for _, mount := range claim.Mounts {
			if pod := pods[mount.Pod]; pod != nil {
				return b.groupOf(pod.Ref, pod)
			}
		}
	}
	return b.groupOf(claim.Ref, nil)
}

// resource returns the topmost custom resource on a path, or else the topmost
// workload, or else the thing itself.
func (b *roller) resource(item object.Ref, path []object.Ref) object.Ref {
	topmost := item
	for i := len(path) - 1; i >= 0; i-- {
		if !isPod(path[i]) {
			topmost = path[i]
		}
	}
	for _, owner := range path {
		if b.level(owner) == LevelResource {
			return owner
		}
	}
	return topmost
}

// group returns the group of a value.
func (b *roller) group(value string) int32 {
	if value == "" {
		value = noValue
	}
	return b.named(top, LevelGroup, value)
}
