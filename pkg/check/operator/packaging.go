package operator

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func packaged(o *check.Operator, r *check.Result) {
	for _, wl := range o.Workloads {
		if o.World.InstalledBy(wl.Ref) != "" {
			r.Pass(wl.Ref)
			continue
		}
		r.AddFinding(check.Finding{
			Object: wl.Ref, Field: "metadata.labels",
			Message: "nothing on it shows what installed it: no Helm release, OLM package, Argo CD or Flux mark, and no app.kubernetes.io/managed-by",
			Related: o.Definitions,
		})
	}
}

func registers(o *check.Operator, r *check.Result) {
	seen := map[object.Ref]bool{}
	for _, wl := range o.Workloads {
		for _, sa := range wl.Accounts() {
			if seen[sa] {
				continue
			}
			seen[sa] = true
			grants, known := o.World.Grants(sa)
			g, may := check.CreatesDefinitions(grants)
			switch {
			case may:
				r.AddFinding(check.Finding{
					Object: g.Role, Field: fmt.Sprintf("rules[%d]", g.Index), Value: strings.Join(g.Rule.Verbs, ",") + " " + strings.Join(g.Rule.Resources, ","),
					Message: fmt.Sprintf("%s may create CRDs of any kind (service account %s)", check.Describe(wl.Ref), sa.Name),
					Related: []object.Ref{sa, g.Binding},
				})
			case known:
				r.Pass(sa)
			default:
				r.AddUnknown(sa, "roles and their bindings were not all read")
			}
		}
	}
}
