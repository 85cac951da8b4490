package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const connectedSystem = `
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NAMESPACE}
spec:
  apps:
  - name: db
    resources:
    - apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: db}
      spec:
        serviceName: ""
        selector: {matchLabels: {app: db}}
        template:
          metadata: {labels: {app: db}}
          spec: {containers: [{name: mysql, image: "registry.example.com/mysql:8", ports: [{name: mysql, containerPort: 3306}]}]}
  - name: web
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "registry.example.com/web:1"}]}
  connections:
  - from: {app: db, port: mysql}
    to: {app: web, env: DB_HOST}
  labels: {team: TEAM}
`

const connectedDeny = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: NAMESPACE}
spec: {podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]}
`

// connected is a System of a database and a program that uses it by a port.
type connected struct {
	*installer
	ns, file string
}

func (s *connected) write(team string) {
	s.t.Helper()
	if err := os.WriteFile(s.file, []byte(strings.NewReplacer("NAMESPACE", s.ns, "TEAM", team).Replace(connectedSystem)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *connected) deployment() *appsv1.Deployment {
	s.t.Helper()
	d, err := admin(s.c).AppsV1().Deployments(s.ns).Get(s.t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// labels checks the labels of all objects and pod templates, and that selectors are those of the manifest.
func (s *connected) labels(team string) {
	s.t.Helper()
	ctx, d := s.t.Context(), s.deployment()
	set, err := admin(s.c).AppsV1().StatefulSets(s.ns).Get(ctx, "db", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	service, err := admin(s.c).CoreV1().Services(s.ns).Get(ctx, "db-mysql", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	policy := s.policy()
	for what, c := range map[string]struct {
		app    string
		labels map[string]string
	}{
		"Deployment": {"web", d.Labels}, "its pods": {"web", d.Spec.Template.Labels}, "StatefulSet": {"db", set.Labels}, "the pods of the StatefulSet": {"db", set.Spec.Template.Labels},
		"Service": {"db", service.Labels}, "NetworkPolicy": {"db", policy.Labels},
	} {
		for key, want := range map[string]string{
			"team": team, "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/instance": "shop-" + c.app, "app.kubernetes.io/component": c.app, "app.kubernetes.io/managed-by": "Helm",
		} {
			if c.labels[key] != want {
				s.t.Errorf("%s has %s=%q, want %q", what, key, c.labels[key], want)
			}
		}
	}
	if !maps.Equal(d.Spec.Selector.MatchLabels, map[string]string{"app": "web"}) || !maps.Equal(set.Spec.Selector.MatchLabels, map[string]string{"app": "db"}) || !maps.Equal(service.Spec.Selector, map[string]string{"app": "db"}) {
		s.t.Errorf("selectors changed: %v, %v, %v", d.Spec.Selector, set.Spec.Selector, service.Spec.Selector)
	}
	if service.Spec.ClusterIP != "None" || len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 3306 || service.Spec.Ports[0].TargetPort.StrVal != "mysql" {
		s.t.Errorf("the Service is %+v", service.Spec)
	}
}

func (s *connected) policy() *networkingv1.NetworkPolicy {
	s.t.Helper()
	p, err := admin(s.c).NetworkingV1().NetworkPolicies(s.ns).Get(s.t.Context(), "db-mysql-from-web", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// A program gets the Service of a database that had none, and is let in through a policy that lets
// nobody in. Labels are on all objects, drift of them is shown and corrected, and nothing stays.
func TestInstallConnected(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := &connected{installer: newInstaller(t, c, unraced(t), ""), ns: c.Namespace(t)}
	s.file = filepath.Join(s.home, "shop.yaml")
	s.write("shop")
	applyText(t, c, strings.ReplaceAll(connectedDeny, "NAMESPACE", s.ns))
	mine := func(o *unstructured.Unstructured) bool {
		return o.GetNamespace() == s.ns && !strings.HasPrefix(o.GetName(), "sysop-install-") && o.GetKind() != "Event"
	}
	before := snapshotOf(t, c, mine)
	with := func(command string, more ...string) result {
		t.Helper()
		return s.run(append([]string{command, "-f", s.file}, more...)...)
	}
	said := func(r result, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(r.stdout+r.stderr, w) {
				t.Errorf("%v does not say %q:\n%s\n%s", r.args, w, r.stdout, r.stderr)
			}
		}
	}

	said(with("install", "--yes").succeeds(t),
		"db: creates Service/"+s.ns+"/db-mysql for port mysql of StatefulSet.apps/"+s.ns+"/db, which no Service serves",
		"db: creates NetworkPolicy.networking.k8s.io/"+s.ns+"/db-mysql-from-web for Deployment.apps/"+s.ns+"/web, which NetworkPolicy/closed keeps from port mysql")
	s.labels("shop")
	if env := s.deployment().Spec.Template.Spec.Containers[0].Env; len(env) != 1 || env[0].Name != "DB_HOST" || env[0].Value != "db-mysql" {
		t.Errorf("the variables are %+v", env)
	}
	if in := s.policy().Spec.Ingress; len(in) != 1 || len(in[0].From) != 1 || !maps.Equal(in[0].From[0].PodSelector.MatchLabels, map[string]string{"app": "web"}) || len(in[0].Ports) != 1 || in[0].Ports[0].Port.IntVal != 3306 {
		t.Errorf("the policy lets in %+v", in)
	}
	s.proxy.Reset()
	said(with("install", "--yes").succeeds(t), "nothing to do")
	if w := s.writes(); len(w) > 0 {
		t.Errorf("a second run writes %v", w)
	}
	if r := with("diff", "--exit-code").succeeds(t); r.stdout != "" {
		t.Errorf("diff finds:\n%s", r.stdout)
	}

	// Somebody removes a label, and it is set again.
	if _, err := admin(c).AppsV1().Deployments(s.ns).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata": {"labels": {"team": null}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	said(with("diff"), "team: shop")
	drift := "web: the label team of Deployment.apps/" + s.ns + "/web is not shop any longer, and is set again"
	said(with("upgrade", "--dry-run=client").succeeds(t), drift)
	said(with("upgrade", "--yes").succeeds(t), drift)
	s.labels("shop")

	// Another value of the label replaces the pods, and no selector changes.
	s.write("store")
	said(with("upgrade", "--yes").succeeds(t), "web: the pods of Deployment.apps/"+s.ns+"/web are replaced, because their template gets new labels: team")
	s.labels("store")

	ask := []string{"check", "--system", s.file, "--category", "security", "--all", "-o", "json"}
	finding := "lets no pod of Deployment " + s.ns + "/web connect to port mysql of StatefulSet " + s.ns + "/db"
	if r := s.run(ask...).succeeds(t); strings.Contains(r.stdout, finding) || !strings.Contains(r.stdout, "stack-connection-allowed") {
		t.Errorf("check says:\n%s", r.stdout)
	}
	if err := admin(c).NetworkingV1().NetworkPolicies(s.ns).Delete(t.Context(), "db-mysql-from-web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	said(s.run(ask...).succeeds(t), finding)

	s.run("uninstall", "shop", "-n", s.ns, "--yes").succeeds(t)
	asBefore(t, c, before, mine)
}
