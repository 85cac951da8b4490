package operator

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
)

// TestRightsPortable holds what is said of operators.
func TestRightsPortable(t *testing.T) {
	base := checktest.Definition("widgets.acme.example.org", "Widget", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs)
	for name, c := range map[string]struct{ id, meta, grants, unread, want string }{
		"nothing says":         {id: "operator-packaged", want: "info runner metadata.labels="},
		"Helm":                 {id: "operator-packaged", meta: ", annotations: {meta.helm.sh/release-name: a, meta.helm.sh/release-namespace: b}", want: "fine runner"},
		"OLM":                  {id: "operator-packaged", meta: ", labels: {operators.coreos.com/runner.ops: ''}", want: "fine runner"},
		"Argo CD":              {id: "operator-packaged", meta: ", annotations: {argocd.argoproj.io/tracking-id: 'a:b'}", want: "fine runner"},
		"Flux":                 {id: "operator-packaged", meta: ", labels: {kustomize.toolkit.fluxcd.io/name: apps}", want: "fine runner"},
		"its own labels":       {id: "operator-packaged", meta: ", labels: {app: runner}", want: "info runner metadata.labels="},
		"no right":             {id: "operator-registers-crds", want: "fine runner"},
		"the right":            {id: "operator-registers-crds", grants: checktest.Grant("more", "ops/runner", "apiextensions.k8s.io", "customresourcedefinitions", "create"), want: "info more rules[0]=create customresourcedefinitions"},
		"patch alone":          {id: "operator-registers-crds", grants: checktest.Grant("more", "ops/runner", "apiextensions.k8s.io", "customresourcedefinitions", "patch, update"), want: "fine runner"},
		"roles of namespaces":  {id: "operator-registers-crds", unread: "RoleBinding", want: "open runner"},
		"today's":              {id: "operator-removed-apis", grants: checktest.Grant("more", "ops/runner", "networking.k8s.io", "ingresses", "create"), want: "fine runner"},
		"yesterday's":          {id: "operator-removed-apis", grants: checktest.Grant("more", "ops/runner", "extensions", "ingresses", "create"), want: "warning more rules[0]=ingresses.extensions"},
		"an old cluster":       {id: "operator-removed-apis", grants: checktest.Grant("more", "ops/runner", "extensions", "ingresses", "create") + "\napiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {nodeInfo: {kubeletVersion: v1.21.14}}\n---", want: "fine runner"},
		"both":                 {id: "operator-removed-apis", grants: checktest.Grant("old", "ops/runner", "extensions", "ingresses", "create") + checktest.Grant("new", "ops/runner", "networking.k8s.io", "ingresses", "create"), want: "fine runner"},
		"pod security":         {id: "operator-removed-apis", grants: checktest.Grant("more", "ops/runner", "policy", "podsecuritypolicies", "use"), want: "info more rules[0]=podsecuritypolicies.policy"},
		"everything of it all": {id: "operator-removed-apis", grants: checktest.Grant("more", "ops/runner", "*", "'*'", "'*'"), want: "fine runner"},
		"one Deployment":       {id: "operator-one-deployment", want: "fine runner"},
	} {
		t.Run(name, func(t *testing.T) {
			w := operatorsWorld(t, base+c.grants+checktest.Deployment("ops/runner", "acme/runner:1", "runner", c.meta), c.unread)
			ops := w.Operators()
			if len(ops) != 1 || len(ops[0].Workloads) != 1 {
				t.Fatalf("operators: %d, %s", len(ops), ops[0].Unknown)
			}
			checktest.ExpectResult(t, checktest.Only(t, Rules(), c.id, ops[0].Check), c.want)
		})
	}
}
