package graph_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	bindingOfLimits = `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: limits}, spec: {policyName: limits, validationActions: [Deny], paramRef: {name: small, namespace: guard, parameterNotFoundAction: Deny}}}
---
`
	policyOfLimits = `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: limits}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}}
---
`
	otherConfigMap = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: guard}}
---
`
)

// A link whose kind another object gives is resolved with that object, in whatever order both
// arrive, and is a reference like any other.
func TestKindStatedByAnother(t *testing.T) {
	small := object.Ref{Kind: "ConfigMap", Namespace: "guard", Name: "small"}
	for name, c := range map[string]struct {
		dump  string
		known bool
		state graph.State
	}{
		"policy last":      {bindingOfLimits + otherConfigMap + policyOfLimits, true, graph.Missing},
		"policy first":     {policyOfLimits + otherConfigMap + bindingOfLimits, true, graph.Missing},
		"params not read":  {bindingOfLimits + policyOfLimits, true, graph.Unread},
		"policy not there": {bindingOfLimits + otherConfigMap, false, 0},
	} {
		g := graphOfText(t, c.dump)
		binding := idOf(t, g, "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io/limits")
		id, ok := g.Find(small)
		if ok != c.known || ok && g.State(id) != c.state {
			t.Errorf("%s: known %v, want %v: %q", name, ok, c.known, out(g, binding))
			continue
		}
		dropped := 0
		for _, p := range g.Stack([]graph.ID{binding}, graph.StackOptions{}).Diagnose() {
			if p.Reason == graph.ReferenceMissing && p.Related == small && p.Severity == graph.Error {
				dropped++
			}
		}
		if want := c.known && c.state == graph.Missing; (dropped == 1) != want {
			t.Errorf("%s: told as missing %d times, want %v", name, dropped, want)
		}
	}
}
