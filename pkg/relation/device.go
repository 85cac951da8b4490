package relation

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// deviceRules reads who asks for devices, and where these are. The slice that an
// allocated device comes from is no edge: a claim knows its driver and pool, not
// its name.
func deviceRules() []Rule {
	return []Rule{
		{Name: "resource-claim-class", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "DeviceClass", Field: "spec.devices.requests[]", Links: on(resourceClaimClasses)},
		{Name: "resource-claim-template-class", From: from(resourceClaimTemplate), Relation: Needs, Via: Spec, To: "DeviceClass", Field: "spec.spec.devices.requests[]", Links: on(resourceClaimTemplateClasses)},
		{Name: "resource-claim-consumer", From: from(resourceClaim), Relation: Needs, Via: Spec, To: "(consumer)", Backward: true, Field: "status.reservedFor[]", Links: on(resourceClaimConsumers)},
		{Name: "resource-slice-node", From: from(resourceSlice), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeName", Links: on(resourceSliceNodes)},
	}
}

func resourceClaimClasses(c *resourcev1.ResourceClaim, _ object.Ref, emit Emit) {
	deviceClasses(c.Spec.Devices.Requests, "spec.devices.requests[", emit)
}

func resourceClaimTemplateClasses(t *resourcev1.ResourceClaimTemplate, _ object.Ref, emit Emit) {
	deviceClasses(t.Spec.Spec.Devices.Requests, "spec.spec.devices.requests[", emit)
}

// deviceClasses: of a list of alternatives any one will do.
func deviceClasses(requests []resourcev1.DeviceRequest, path string, emit Emit) {
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

// resourceClaimConsumers: who a claim is reserved for needs it, and is named by
// its resource. The UID must agree: pods come back under their old names.
func resourceClaimConsumers(c *resourcev1.ResourceClaim, self object.Ref, emit Emit) {
	for i := range c.Status.ReservedFor {
		if r := &c.Status.ReservedFor[i]; r.Resource != "" && r.Name != "" {
			l := to(kind(r.APIGroup, r.Resource), self.Namespace, r.Name, at("status.reservedFor[", i, "].name"))
			l.Target.IsResource, l.Target.UID, l.Backward = true, r.UID, true
			emit(l)
		}
	}
}

// resourceSliceNodes: the devices of a slice are those of one node, or each says
// its own; several devices may say the same.
func resourceSliceNodes(s *resourcev1.ResourceSlice, _ object.Ref, emit Emit) {
	named(emit, node, "", value(s.Spec.NodeName), "spec.nodeName")
	said := map[string]bool{}
	for i := range s.Spec.Devices {
		if name := value(s.Spec.Devices[i].NodeName); name != "" && !said[name] {
			said[name] = true
			emit(to(node, "", name, at("spec.devices[", i, "].nodeName")))
		}
	}
}
