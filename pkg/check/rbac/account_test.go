package rbac

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const accountApp = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {SPEC containers: [{name: c, image: "app:1"}]}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
ACCOUNT
`

func TestAccountsOfPods(t *testing.T) {
	const binding = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bind, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: SUBJECT}]
`
	bound := func(subject string) string { return strings.Replace(binding, "SUBJECT", subject, 1) }
	for name, c := range map[string]struct {
		spec, account, more string
		unread              []string
		want                string
	}{
		"its own":                  {spec: "serviceAccountName: app,", want: "fine"},
		"default":                  {want: "info"},
		"default by name":          {spec: "serviceAccountName: default,", want: "info"},
		"default with rights":      {more: bound("ServiceAccount, name: default, namespace: shop"), want: "warning"},
		"rights of everybody":      {more: bound(`Group, name: "system:serviceaccounts"`), want: "info"},
		"rights of another":        {more: bound("ServiceAccount, name: default, namespace: other"), want: "info"},
		"no token for the pod":     {spec: "automountServiceAccountToken: false,", want: "fine"},
		"no token for the account": {account: "automountServiceAccountToken: false", want: "fine"},
		"but for the pod":          {spec: "automountServiceAccountToken: true,", account: "automountServiceAccountToken: false", want: "info"},
		"token by hand":            {spec: "automountServiceAccountToken: false, volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: token}}]}}],", want: "info"},
		"token for somebody else":  {spec: "automountServiceAccountToken: false, volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: token, audience: vault}}]}}],", want: "fine"},
		"accounts unread":          {unread: []string{"ServiceAccount"}, want: "open"},
		"accounts unread, it says": {spec: "automountServiceAccountToken: false,", unread: []string{"ServiceAccount"}, want: "fine"},
		"accounts unread, not its": {spec: "serviceAccountName: app,", unread: []string{"ServiceAccount"}, want: "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.NewReplacer("SPEC", c.spec, "ACCOUNT", c.account).Replace(accountApp)+c.more, c.unread...)
			r := checktest.Only(t, Rules(), "pod-service-account", w.Stack("Deployment.apps/shop/app").Check)
			got := "fine"
			switch {
			case len(r.Findings) > 0:
				got = r.Findings[0].Severity.String()
			case len(r.Unknowns) > 0:
				got = "open"
			}
			if got != c.want || len(r.Findings)+len(r.Unknowns)+len(r.Passed) != 1 {
				t.Errorf("%s (wrong %v, open %v, right %v), want %s", got, r.Findings, r.Unknowns, r.Passed, c.want)
			}
		})
	}
}

func TestAccountsOfOperators(t *testing.T) {
	const world = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: ops, labels: {app.kubernetes.io/instance: op}}
spec:
  selector: {matchLabels: {app: operator}}
  template: {metadata: {labels: {app: operator}}, spec: {SPEC containers: [{name: c, image: "op:1"}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: BOUND, namespace: ops}]
`
	other := func(kind, spec, labels string) string {
		group := "apps/v1"
		if kind == "Job" {
			group = "batch/v1"
		}
		return "---\napiVersion: " + group + "\nkind: " + kind + "\nmetadata: {name: other, namespace: ops, labels: {" + labels + "}}\nspec: {selector: {matchLabels: {app: other}}, template: {metadata: {labels: {app: other}}, spec: {" + spec + " containers: [{name: c, image: \"x:1\"}]}}}\n"
	}
	const own = "serviceAccountName: operator,"
	for name, c := range map[string]struct{ spec, bound, more, want string }{
		"its own":                    {spec: own, want: "fine"},
		"default":                    {bound: "nobody", want: "warning"},
		"default may nothing either": {bound: "operator", want: "warning"},
		"default with rights":        {bound: "default", want: "error"},
		"shared":                     {spec: own, more: other("Deployment", own, ""), want: "warning"},
		"shared within its release":  {spec: own, more: other("Deployment", own, "app.kubernetes.io/instance: op"), want: "fine"},
		"shared with a hook":         {spec: own, more: other("Job", own, ""), want: "fine"},
		"beside another":             {spec: own, more: other("Deployment", "serviceAccountName: x,", ""), want: "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.NewReplacer("SPEC", c.spec, "BOUND", c.bound).Replace(world)+c.more)
			wl, ok := w.Workload(w.Stack("Deployment.apps/ops/operator").Ref)
			if !ok {
				t.Fatal("no workload")
			}
			o := &check.Operator{World: w.ClusterState, Name: "op", Workloads: []*check.Workload{wl}}
			r := checktest.Only(t, Rules(), "operator-service-account", o.Check)
			got := "fine"
			if len(r.Findings) > 0 {
				got = r.Findings[0].Severity.String()
			}
			if got != c.want || len(r.Findings)+len(r.Unknowns)+len(r.Passed) != 1 {
				t.Errorf("%s (%+v), want %s", got, r.Findings, c.want)
			}
		})
	}
	o := &check.Operator{World: checktest.Read(t, operator.Find, strings.NewReplacer("SPEC", "", "ACCOUNT", "").Replace(accountApp)).ClusterState, Name: "gone", Unknown: "nobody knows"}
	if r := checktest.Only(t, Rules(), "operator-service-account", o.Check); len(r.Unknowns) != 1 || r.Unknowns[0].Reason != "nobody knows" {
		t.Errorf("an operator without workloads: %+v", r)
	}
}

// TestStaticPods: the kubelet gives them no token, whatever their account.
func TestStaticPods(t *testing.T) {
	const world = `
apiVersion: v1
kind: Pod
metadata: {name: etcd-one, namespace: kube-system, annotations: {NOTE: "1"}}
spec: {hostNetwork: true, containers: [{name: c, image: "etcd:1"}]}
status: {phase: Running}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: default, namespace: kube-system}]
`
	for note, wrong := range map[string]int{"kubernetes.io/config.mirror": 0, "example.com/note": 1} {
		w := checktest.Read(t, operator.Find, strings.Replace(world, "NOTE", note, 1))
		for _, id := range []string{"pod-service-account", "pod-cluster-admin"} {
			if r := checktest.Only(t, Rules(), id, w.Stack("Pod/kube-system/etcd-one").Check); len(r.Findings) != wrong || len(r.Passed) != 1-wrong {
				t.Errorf("%s, %s: wrong %v, right %v", note, id, r.Findings, r.Passed)
			}
		}
	}
}

// TestPatchOfAccounts is what kubectl patch takes, at the place of each kind.
func TestPatchOfAccounts(t *testing.T) {
	for kind, want := range map[string]string{
		"Deployment": `{"spec":{"template":{"spec":{"automountServiceAccountToken":false}}}}`,
		"CronJob":    `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"automountServiceAccountToken":false}}}}}}`,
	} {
		got, err := yaml.YAMLToJSON([]byte(check.PodPatch(&check.Workload{Ref: object.Ref{Kind: kind}, Template: &corev1.PodTemplateSpec{}}, "automountServiceAccountToken: false")))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", kind, got, err)
		}
	}
}
