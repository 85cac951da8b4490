package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// world is an operator of certificates and an application in one namespace, that run
// as accounts of their own, and a role for both of them.
func world(t *testing.T, rule, in string) *checktest.World {
	t.Helper()
	binding := "kind: ClusterRoleBinding\nmetadata: {name: bind}"
	if in != "" {
		binding = "kind: RoleBinding\nmetadata: {name: bind, namespace: " + in + "}"
	}
	return checktest.Read(t, operator.Find, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certs.example.org}
spec: {group: example.org, scope: Namespaced, names: {plural: certs, singular: cert, kind: Cert}, versions: [{name: v1, served: true, storage: true}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: ops}
spec:
  selector: {matchLabels: {app: operator}}
  template: {metadata: {labels: {app: operator}}, spec: {serviceAccountName: operator, containers: [{name: c, image: "certs-operator:1"}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: ops}
spec:
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {serviceAccountName: app, containers: [{name: c, image: "app:1"}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: found-by}
rules: [{apiGroups: [example.org], resources: [certs/status], verbs: [update, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: found-by}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: found-by}
subjects: [{kind: ServiceAccount, name: operator, namespace: ops}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: asked}
rules: [`+rule+`]
---
apiVersion: rbac.authorization.k8s.io/v1
`+binding+`
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: asked}
subjects: [{kind: ServiceAccount, name: operator, namespace: ops}, {kind: ServiceAccount, name: app, namespace: ops}]
`)
}

// said is what the rules about rights find, as "secrets warning verbs".
func said(s *check.Subject) string {
	var out []string
	for _, r := range s.Results {
		_, topic, _ := strings.Cut(r.Rule.ID, "-")
		if !slices.ContainsFunc(permissionTopics, func(t permissionTopic) bool { return t.id == topic }) {
			continue
		}
		for _, f := range r.Findings {
			field := f.Field
			if _, last, ok := strings.Cut(field, "."); ok && strings.HasPrefix(field, "rules[") {
				field = last
			}
			out = append(out, fmt.Sprintf("%s %s %s", topic, f.Severity, field))
		}
	}
	return strings.Join(out, "; ")
}

func operatorNamed(w *checktest.World, name string) *check.Operator {
	w.T.Helper()
	for _, o := range w.Operators() {
		if o.Name == name {
			return o
		}
	}
	w.T.Fatalf("no operator %s", name)
	return nil
}

// TestRights holds one rule of a role against all topics: as it is for an operator and for
// an application, bound in the whole cluster, in their namespace, and in another.
func TestRights(t *testing.T) {
	type want struct{ cluster, home, abroad string }
	same := func(s string) want { return want{s, s, s} }
	for name, c := range map[string]struct {
		rule           string
		operator, pods want
	}{
		"everything": {
			`{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`,
			want{"cluster-admin error verbs", "cluster-admin warning verbs", "cluster-admin warning verbs"},
			want{"cluster-admin error verbs", "cluster-admin warning verbs", "cluster-admin warning verbs"},
		},
		"everything but what has no name": {
			`{apiGroups: ["*"], resources: ["*"], verbs: [get, create]}`,
			want{"cluster-admin error verbs", "cluster-admin warning verbs", "cluster-admin warning verbs"},
			want{"cluster-admin error verbs", "cluster-admin warning verbs", "cluster-admin warning verbs"},
		},
		"reading everything": {
			`{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}`,
			want{"wildcards warning resources; secrets warning resources; exec warning resources", "wildcards info resources", "wildcards info resources; secrets info resources"},
			want{"wildcards warning resources; secrets error resources; exec warning resources", "wildcards info resources; secrets info resources", "wildcards info resources; secrets warning resources"},
		},
		"its own kinds": {
			`{apiGroups: [example.org], resources: ["*"], verbs: ["*"]}`,
			same("wildcards info verbs"),
			want{"wildcards warning verbs", "wildcards info verbs", "wildcards info verbs"},
		},
		"all verbs of others": {
			`{apiGroups: [apps], resources: [statefulsets], verbs: ["*"]}`,
			want{"wildcards warning verbs", "wildcards info verbs", "wildcards info verbs"},
			want{"wildcards warning verbs", "wildcards info verbs", "wildcards info verbs"},
		},
		"scaling everything": {
			`{apiGroups: ["*"], resources: ["*/scale"], verbs: [get, update]}`,
			want{"wildcards warning apiGroups", "wildcards info apiGroups", "wildcards info apiGroups"},
			want{"wildcards warning apiGroups", "wildcards info apiGroups", "wildcards info apiGroups"},
		},
		"reading a group": {
			`{apiGroups: [apps], resources: ["*"], verbs: [get, list, watch]}`,
			same("wildcards info resources"), same("wildcards info resources"),
		},
		"all of the core group": {
			`{apiGroups: [""], resources: ["*"], verbs: ["*"]}`,
			want{
				"wildcards warning verbs; secrets warning resources; escalation error verbs; exec warning resources",
				"wildcards info verbs; escalation warning verbs; exec info resources",
				"wildcards info verbs; secrets info resources; escalation warning verbs; exec info resources",
			},
			want{
				"wildcards warning verbs; secrets error resources; escalation error verbs; exec warning resources",
				"wildcards info verbs; secrets info resources; escalation warning verbs; exec info resources",
				"wildcards info verbs; secrets warning resources; escalation warning verbs; exec info resources",
			},
		},
		"secrets": {
			`{apiGroups: [""], resources: [pods, secrets], verbs: [list, watch]}`,
			want{"secrets warning resources", "", "secrets info resources"},
			want{"secrets error resources", "secrets info resources", "secrets warning resources"},
		},
		"a secret by name":     {`{apiGroups: [""], resources: [secrets], verbs: [get], resourceNames: [ca]}`, same(""), same("")},
		"making secrets":       {`{apiGroups: [""], resources: [secrets], verbs: [create, delete]}`, same(""), same("")},
		"secrets of others":    {`{apiGroups: [example.org], resources: [secrets], verbs: [get]}`, same(""), same("")},
		"escalate":             {`{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}`, want{"escalation error verbs", "", ""}, want{"escalation error verbs", "", ""}},
		"escalate in roles":    {`{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}`, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}},
		"bind":                 {`{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}`, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}},
		"bind by name":         {`{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [shop]}`, same(""), same("")},
		"impersonate":          {`{apiGroups: [""], resources: [users, groups], verbs: [impersonate]}`, want{"escalation error verbs", "", ""}, want{"escalation error verbs", "", ""}},
		"tokens":               {`{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}`, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}, want{"escalation error verbs", "escalation warning verbs", "escalation warning verbs"}},
		"a token by name":      {`{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create], resourceNames: [shop]}`, same(""), same("")},
		"accounts, no tokens":  {`{apiGroups: [""], resources: [serviceaccounts], verbs: [create]}`, same(""), same("")},
		"signing for all":      {`{apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve], resourceNames: ["kubernetes.io/kube-apiserver-client"]}`, want{"escalation error verbs", "", ""}, want{"escalation error verbs", "", ""}},
		"signing for its own":  {`{apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve], resourceNames: ["issuers.cert-manager.io/*"]}`, same(""), same("")},
		"exec":                 {`{apiGroups: [""], resources: [pods/exec], verbs: [create]}`, want{"exec warning resources", "exec info resources", "exec info resources"}, want{"exec warning resources", "exec info resources", "exec info resources"}},
		"exec as nobody does":  {`{apiGroups: [""], resources: ["pods/*"], verbs: [create]}`, same(""), same("")},
		"kubelets":             {`{apiGroups: [""], resources: [nodes/proxy], verbs: [get]}`, want{"exec warning resources", "", ""}, want{"exec warning resources", "", ""}},
		"metrics of kubelets":  {`{apiGroups: [""], resources: [nodes/metrics], verbs: [get]}`, same(""), same("")},
		"webhooks":             {`{apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [get, patch]}`, want{"admission warning resources", "", ""}, want{"admission warning resources", "", ""}},
		"a webhook by name":    {`{apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [get, patch], resourceNames: [own]}`, same(""), same("")},
		"definitions":          {`{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [create]}`, want{"admission info resources", "", ""}, want{"admission info resources", "", ""}},
		"roles":                {`{apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [create]}`, same("roles info resources"), same("roles warning resources")},
		"roles of the cluster": {`{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [create]}`, want{"roles info resources", "", ""}, want{"roles warning resources", "", ""}},
		"reading roles":        {`{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [get, list]}`, same(""), same("")},
		"ordinary work":        {`{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, update, patch, delete]}`, same(""), same("")},
		"paths":                {`{nonResourceURLs: ["*"], verbs: [get]}`, same(""), same("")},
	} {
		t.Run(name, func(t *testing.T) {
			for in, wants := range map[string][2]string{
				"":      {c.operator.cluster, c.pods.cluster},
				"ops":   {c.operator.home, c.pods.home},
				"other": {c.operator.abroad, c.pods.abroad},
			} {
				w := world(t, c.rule, in)
				if got := said(operatorNamed(w, "operator").Check(Rules())); got != wants[0] {
					t.Errorf("operator, in %q: %s, want %s", in, cmp.Or(got, "nothing"), wants[0])
				}
				if got := said(w.Stack("Deployment.apps/ops/app").Check(Rules())); got != wants[1] {
					t.Errorf("application, in %q: %s, want %s", in, cmp.Or(got, "nothing"), wants[1])
				}
			}
		})
	}
}

// TestRightsOfOperatorsAreToldOnce: the stack of an operator's own Deployment says nothing
// of its rights.
func TestRightsOfOperatorsAreToldOnce(t *testing.T) {
	w := world(t, `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`, "")
	if got := said(w.Stack("Deployment.apps/ops/operator").Check(Rules())); got != "" {
		t.Errorf("its stack says %s", got)
	}
}

// TestEvidenceOfRights looks at one finding whole.
func TestEvidenceOfRights(t *testing.T) {
	w := world(t, `{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [apps], resources: [statefulsets], verbs: ["*"]}`, "")
	r := checktest.Only(t, Rules(), "operator-wildcards", operatorNamed(w, "operator").Check)
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	f := r.Findings[0]
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "asked"}
	if f.Object != role || f.Field != "rules[1].verbs" || f.Value != "*" {
		t.Errorf("%s %s = %q", f.Object, f.Field, f.Value)
	}
	if want := "service account ops/operator may do anything to statefulsets of apps in the whole cluster"; f.Message != want {
		t.Errorf("message %q, want %q", f.Message, want)
	}
	want := []string{"ClusterRoleBinding.rbac.authorization.k8s.io/bind", "ServiceAccount/ops/operator"}
	for i, ref := range f.Related {
		if i >= len(want) || ref.String() != want[i] {
			t.Errorf("related %v, want %v", f.Related, want)
			break
		}
	}
}

// TestDefaultRolesAreToldByTheirBinding: nobody mends edit, and its many rules are one
// mistake.
func TestDefaultRolesAreToldByTheirBinding(t *testing.T) {
	w := checktest.Read(t, operator.Find, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: edit, labels: {kubernetes.io/bootstrapping: rbac-defaults}}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [secrets, pods], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: editors}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {serviceAccountName: app, containers: [{name: c, image: "app:1"}]}}
`)
	r := checktest.Only(t, Rules(), "pod-secrets", w.Stack("Deployment.apps/shop/app").Check)
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings, want one", len(r.Findings))
	}
	if f := r.Findings[0]; f.Object.Kind != "ClusterRoleBinding" || f.Field != "roleRef.name" || f.Value != "edit" || f.Severity != check.Error {
		t.Errorf("%s %s = %q, %s", f.Object, f.Field, f.Value, f.Severity)
	}
}

// TestUnreadRightsAreNotFine: what was seen is found, and the account is not right.
func TestUnreadRightsAreNotFine(t *testing.T) {
	const text = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {AUTO serviceAccountName: app, containers: [{name: c, image: "app:1"}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admins}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
`
	w := checktest.Read(t, operator.Find, strings.Replace(text, "AUTO", "", 1), "RoleBinding")
	for id, wrong := range map[string]int{"pod-cluster-admin": 1, "pod-secrets": 0} {
		r := checktest.Only(t, Rules(), id, w.Stack("Deployment.apps/shop/app").Check)
		if len(r.Findings) != wrong || len(r.Unknowns) != 1 || len(r.Passed) != 0 {
			t.Errorf("%s: %d wrong, %d open, %d right", id, len(r.Findings), len(r.Unknowns), len(r.Passed))
		}
	}
	// Without a token, the pods can do nothing of it.
	w = checktest.Read(t, operator.Find, strings.Replace(text, "AUTO", "automountServiceAccountToken: false,", 1), "RoleBinding")
	if r := checktest.Only(t, Rules(), "pod-cluster-admin", w.Stack("Deployment.apps/shop/app").Check); len(r.Findings)+len(r.Unknowns) != 0 || len(r.Passed) != 1 {
		t.Errorf("no token: %d wrong, %d open, %d right", len(r.Findings), len(r.Unknowns), len(r.Passed))
	}
}

// TestWaysOut: where the cluster says what "*" stands for, or where the objects are, the
// remedy names it.
func TestWaysOut(t *testing.T) {
	for rule, want := range map[string]string{
		`{apiGroups: [example.org], resources: ["*"], verbs: [get]}`:                          "Name the resources (certs).",
		`{apiGroups: ["*"], resources: [deployments], verbs: [patch]}`:                        "Name the groups (apps",
		`{apiGroups: [apps], resources: [deployments], verbs: ["*"]}`:                         "Name the verbs",
		`{apiGroups: [""], resources: [secrets], verbs: [list]}`:                              "Its custom resources are in blue and red:",
		`{apiGroups: [gone.example.org], resources: ["*"], verbs: [get], resourceNames: [a]}`: "Name the resources.",
	} {
		w := world(t, rule, "")
		var all []check.Finding
		h := operatorSubject(operatorNamed(w, "operator"))
		h.instances = []string{"blue", "red"}
		for _, topic := range permissionTopics {
			r := &check.Result{Rule: &check.Rule{Severity: check.Info}}
			topic.ask(h, r)
			all = append(all, r.Findings...)
		}
		if len(all) != 1 || !strings.Contains(all[0].Remedy, want) {
			t.Errorf("%s: %+v, want %q", rule, all, want)
		}
	}
}

// TestRightsOfEverybody: who has a right as a member of a group is told so, and a role that
// is aggregated into a default one is not to blame for being bound.
func TestRightsOfEverybody(t *testing.T) {
	w := checktest.Read(t, operator.Find, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {serviceAccountName: app, containers: [{name: c, image: "app:1"}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: admin, labels: {kubernetes.io/bootstrapping: rbac-defaults}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shells, labels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}
rules: [{apiGroups: [""], resources: [pods/exec], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: Group, name: "system:serviceaccounts:shop"}]
`)
	r := checktest.Only(t, Rules(), "pod-exec", w.Stack("Deployment.apps/shop/app").Check)
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	f := r.Findings[0]
	if f.Object.String() != "ClusterRoleBinding.rbac.authorization.k8s.io/everybody" || f.Value != "admin" || !strings.Contains(f.Message, "as every member of system:serviceaccounts:shop") {
		t.Errorf("%s = %q: %s", f.Object, f.Value, f.Message)
	}
}
