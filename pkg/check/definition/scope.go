package definition

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// scopeOfDefinition checks the scope by the owned objects: a cluster-scoped kind is right for
// configuration.
func scopeOfDefinition(d *check.Definition, r *check.Result) {
	if d.CRD.Spec.Scope != apiextensionsv1.ClusterScoped {
		r.Pass(d.Ref)
		return
	}
	owned := d.Workloads()
	if len(owned) == 0 {
		if len(d.Instances) > 0 {
			r.Pass(d.Ref)
		}
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.scope", Value: string(d.CRD.Spec.Scope), Related: []object.Ref{owned[0].Ref},
		Message: fmt.Sprintf("%s has no namespace, and its objects own pods in one (%s)", d.Kind.Kind, check.Describe(owned[0].Ref)),
	})
}
