package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// deviceFacts are the devices that a ResourceClaim has, each by its class, and the pods that it is
// reserved for.
type deviceFacts struct {
	devices []Resource
	pods    []Mount // without hours
}

// addDevices keeps the allocated devices of a claim by the extended resources of their
// classes (KEP-5004): deviceclass.resource.kubernetes.io/CLASS. It omits those that only watch a
// device, and claims that the scheduler makes for extended resources, which containers request.
func (c *Collector) addDevices(ref object.Ref, claim *resourcev1.ResourceClaim) {
	f := &deviceFacts{}
	if a := claim.Status.Allocation; a != nil && claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "" {
		for i := range a.Devices.Results {
			r := &a.Devices.Results[i]
			if r.AdminAccess == nil || !*r.AdminAccess {
				f.devices = append(f.devices, Resource(resourcev1.ResourceDeviceClassPrefix+classOf(claim, r.Request)))
			}
		}
		slices.Sort(f.devices)
	}
	for _, consumer := range claim.Status.ReservedFor {
		if consumer.APIGroup == "" && consumer.Resource == "pods" {
			f.pods = append(f.pods, Mount{Pod: object.Ref{Kind: "Pod", Namespace: ref.Namespace, Name: consumer.Name}, UID: consumer.UID})
		}
	}
	slices.SortFunc(f.pods, func(a, b Mount) int { return cmp.Or(object.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID)) })
	put(c, &c.devices, ref, f)
}

// classOf returns the class of a request, or of an alternative of it: REQUEST/ALTERNATIVE.
func classOf(claim *resourcev1.ResourceClaim, request string) string {
	name, alternative, _ := strings.Cut(request, "/")
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		switch {
		case r.Name != name:
		case r.Exactly != nil:
			return r.Exactly.DeviceClassName
		default:
			for j := range r.FirstAvailable {
				if r.FirstAvailable[j].Name == alternative {
					return r.FirstAvailable[j].DeviceClassName
				}
			}
		}
	}
	return "unknown"
}

// devicesOf are the devices that pods hold by claims. Those of a claim that several pods share are
// dealt out to them in turn, so that each device counts once. Pods that have ended hold none.
func (c *Collector) devicesOf() map[types.UID]Amounts {
	held := map[types.UID]Amounts{}
	for _, f := range c.devices {
		pods := slices.DeleteFunc(slices.Clone(f.pods), func(m Mount) bool {
			p := c.pods[m.Pod]
			return p != nil && (p.ended || p.uid != m.UID)
		})
		for i, device := range f.devices {
			if len(pods) == 0 {
				break
			}
			pod := pods[i%len(pods)].UID
			all := held[pod]
			all.Add(device, decimal.New(1, 0))
			held[pod] = all
		}
	}
	return held
}
