package relation

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// deviceRules reads who requests devices, and which slices have them. A slice is identified by its
// driver and pool, never by its name.
func deviceRules() []Rule {
	return []Rule{
		{Name: "resource-claim-class", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "DeviceClass", Field: "spec.devices.requests[]", Links: on(resourceClaimClasses)},
		{Name: "resource-claim-template-class", From: from(resourceClaimTemplate), Relation: Needs, Via: Spec, To: "DeviceClass", Field: "spec.spec.devices.requests[]", Links: on(resourceClaimTemplateClasses)},
		{Name: "resource-claim-consumer", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "(consumer)", Backward: true, Field: "status.reservedFor[]", Links: on(resourceClaimConsumers)},
		{Name: "resource-claim-slice", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "ResourceSlice", Field: "status.allocation.devices.results[]", Links: on(resourceClaimSlices)},
		{Name: "resource-claim-node", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "Node", Field: "status.allocation.nodeSelector", Links: on(resourceClaimNodes)},
		{Name: "resource-slice-node", From: from(resourceSlice), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeName", Links: on(resourceSliceNodes), Keys: resourceSlicePool},
		{Name: "device-taint-slice", From: from(taintRule), Relation: Serves, Via: Spec, To: "ResourceSlice", Field: "spec.deviceSelector", Untyped: true, Links: deviceTaintSlices},
		{Name: "pool-status-slice", From: from(poolStatus), Relation: Serves, Via: Spec, To: "ResourceSlice", Field: "spec.driver", Untyped: true, Links: poolStatusSlices},
	}
}

func resourceClaimClasses(c *resourcev1.ResourceClaim, _ object.Ref, emit EmitFunc) {
	deviceClasses(c.Spec.Devices.Requests, "spec.devices.requests[", emit)
}

func resourceClaimTemplateClasses(t *resourcev1.ResourceClaimTemplate, _ object.Ref, emit EmitFunc) {
	deviceClasses(t.Spec.Spec.Devices.Requests, "spec.spec.devices.requests[", emit)
}

// deviceClasses: one of a list of alternatives is enough.
func deviceClasses(requests []resourcev1.DeviceRequest, path string, emit EmitFunc) {
	for i := range requests {
		if e := requests[i].Exactly; e != nil {
			named(emit, deviceClass, "", e.DeviceClassName, at(path, i, "].exactly.deviceClassName"))
		}
		choice := requests[i].FirstAvailable
		for j := range choice {
			if name := choice[j].DeviceClassName; name != "" {
				l := to(deviceClass, "", name, at(at(path, i, "].firstAvailable["), j, "].deviceClassName"))
				l.Optional = len(choice) > 1
				emit(l)
			}
		}
	}
}

// resourceClaimConsumers: a consumer that a claim is reserved for needs it, and is named by its
// resource. The UID must match, since a new pod may reuse the name.
func resourceClaimConsumers(c *resourcev1.ResourceClaim, self object.Ref, emit EmitFunc) {
	for i := range c.Status.ReservedFor {
		if r := &c.Status.ReservedFor[i]; r.Resource != "" && r.Name != "" {
			l := to(kind(r.APIGroup, r.Resource), self.Namespace, r.Name, at("status.reservedFor[", i, "].name"))
			l.Target.IsResource, l.Target.UID, l.Backward = true, r.UID, true
			emit(l)
		}
	}
}

// resourceSlicePool: devices are allocated from a pool of a driver, which may consist of several
// slices.
func resourceSlicePool(o object.Object, key func(string)) {
	if s, ok := o.Body.(*resourcev1.ResourceSlice); ok {
		key(poolKey(s.Spec.Driver, ""))
		key(poolKey(s.Spec.Driver, s.Spec.Pool.Name))
	}
}

// poolKey returns the key of the slices of a pool, or of all slices of a driver if pool is empty.
func poolKey(driver, pool string) string { return driver + "/" + pool }

// slicesOf returns a link to the slices of a pool, with the field and value that name it.
func slicesOf(driver, pool, field, value string) Link {
	return Link{Target: Target{Kind: resourceSlice, Selector: &Selector{Key: poolKey(driver, pool)}}, Field: field, Value: value}
}

func resourceClaimSlices(c *resourcev1.ResourceClaim, _ object.Ref, emit EmitFunc) {
	if c.Status.Allocation == nil {
		return
	}
	for i := range c.Status.Allocation.Devices.Results {
		if r := &c.Status.Allocation.Devices.Results[i]; r.Driver != "" && r.Pool != "" {
			emit(slicesOf(r.Driver, r.Pool, at("status.allocation.devices.results[", i, "].pool"), r.Pool))
		}
	}
}

func resourceClaimNodes(c *resourcev1.ResourceClaim, _ object.Ref, emit EmitFunc) {
	if c.Status.Allocation != nil {
		namedNodes(c.Status.Allocation.NodeSelector, "status.allocation.nodeSelector", emit)
	}
}

// resourceSliceNodes: a slice names one node, selects nodes, or leaves it to its devices, several
// of which may name the same node.
func resourceSliceNodes(s *resourcev1.ResourceSlice, _ object.Ref, emit EmitFunc) {
	named(emit, node, "", value(s.Spec.NodeName), "spec.nodeName")
	namedNodes(s.Spec.NodeSelector, "spec.nodeSelector", emit)
	seen := map[string]bool{}
	emitOnce := func(l Link) {
		if !seen[l.Target.Name] {
			seen[l.Target.Name] = true
			emit(l)
		}
	}
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		named(emitOnce, node, "", value(d.NodeName), at("spec.devices[", i, "].nodeName"))
		namedNodes(d.NodeSelector, at("spec.devices[", i, "].nodeSelector"), emitOnce)
	}
}

// deviceTaintSlices: a rule without a driver selects devices by name alone, in any slice.
func deviceTaintSlices(o object.Object, emit EmitFunc) {
	poolSlices(part(o.Fields(), "spec", "deviceSelector"), "pool", "spec.deviceSelector.", emit)
}

func poolStatusSlices(o object.Object, emit EmitFunc) {
	poolSlices(part(o.Fields(), "spec"), "poolName", "spec.", emit)
}

func poolSlices(in any, poolField, path string, emit EmitFunc) {
	driver, _ := part(in, "driver").(string)
	pool, _ := part(in, poolField).(string)
	switch {
	case driver != "" && pool != "":
		emit(slicesOf(driver, pool, path+poolField, pool))
	case driver != "":
		emit(slicesOf(driver, "", path+"driver", driver))
	}
}
