package operator

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func installed(o *check.Operator, r *check.Result) {
	if len(o.Workloads) == 0 {
		r.AddUnknown(o.Ref(), "the workload that runs it is unknown: "+o.Unknown)
		return
	}
	main := o.Workloads[0]
	var copies []object.Ref
	for _, wl := range o.Workloads {
		if wl.Ref.Kind == "Pod" {
			r.AddFinding(check.Finding{
				Object: wl.Ref, Field: "metadata.ownerReferences",
				Message: "a bare pod runs the operator: nothing recreates it if its node is lost",
				Remedy:  "run it by a Deployment",
			})
			continue
		}
		r.Pass(wl.Ref)
		if wl.Ref != main.Ref && wl.Ref.Namespace != main.Ref.Namespace && sameImage(main, wl) && o.World.Top(wl.Ref) == wl.Ref {
			copies = append(copies, wl.Ref)
		}
	}
	if len(copies) > 0 {
		r.AddFinding(check.Finding{
			Severity: check.Info, Object: main.Ref, Field: "metadata.namespace", Value: main.Ref.Namespace, Related: copies,
			Message: fmt.Sprintf("the same operator is installed %s more, in %s, and all act on the same CRDs; unless each is restricted to namespaces of its own, they revert each other's changes", object.Count(len(copies), "time"), copies[0].Namespace),
		})
	}
}

func sameImage(a, b *check.Workload) bool {
	other := b.Images()
	return slices.ContainsFunc(a.Images(), func(i check.Image) bool {
		return slices.ContainsFunc(other, func(o check.Image) bool { return o.Repository == i.Repository })
	})
}
