package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// limited is a user who may read and watch some resources of a namespace, which can be taken away.
type limited struct {
	t          *testing.T
	c          *cluster.Cluster
	name, ns   string
	kubeconfig string
	client     dynamic.Interface
}

// longRun is for a watch from which rights are taken: what may not be read is not asked for again for
// the better part of a minute.
var longRun = timeout.Scaled(4 * time.Minute)

// stackResources are those of the stack of a Deployment.
var stackResources = []string{"apps/deployments", "apps/replicasets", "/pods"}

func newLimited(t *testing.T, c *cluster.Cluster, ns string) *limited {
	t.Helper()
	l := &limited{t: t, c: c, name: "limited-in-" + ns, ns: ns}
	l.kubeconfig = user(t, c, l.name, ns, slices.Concat(stackResources, []string{"/secrets", "/configmaps"})...)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	l.client = dynamic.NewForConfigOrDie(config)
	l.without()
	return l
}

// without gives all the rights but those to some resources, and returns when that is so.
func (l *limited) without(taken ...string) {
	l.t.Helper()
	roles := admin(l.c).RbacV1().Roles(l.ns)
	role, err := roles.Get(l.t.Context(), l.name, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	role.Rules = nil
	for _, r := range slices.Concat(stackResources, []string{"/secrets", "/configmaps", "/services", "/persistentvolumeclaims"}) {
		group, resource, _ := strings.Cut(r, "/")
		if !slices.Contains(taken, r) {
			role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "list", "watch"}})
		}
	}
	if _, err := roles.Update(l.t.Context(), role, metav1.UpdateOptions{}); err != nil {
		l.t.Fatal(err)
	}
	cluster.Eventually(l.t, limit, func() error { // the authorizer takes a moment
		for _, r := range stackResources {
			group, resource, _ := strings.Cut(r, "/")
			_, err := l.client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).Namespace(l.ns).List(l.t.Context(), metav1.ListOptions{})
			if want := slices.Contains(taken, r); apierrors.IsForbidden(err) != want || err != nil && !want {
				return fmt.Errorf("%s: taken %t: %w", r, want, err)
			}
		}
		return nil
	})
}

// Rights that are taken away during a watch, of a root or of a namespace, make what may not be read
// unread: nothing is gone, and no other stack is found. What may be read again is judged again.
func TestHealthRightsTakenAway(t *testing.T) {
	t.Parallel()
	for _, taken := range [][]string{{"apps/replicasets", "/pods"}, {"apps/deployments"}, stackResources} {
		t.Run(strings.ReplaceAll(strings.Join(taken, " "), "/", "."), func(t *testing.T) {
			t.Parallel() // what may not be read is asked for again after a minute
			rightsTakenAway(t, taken)
		})
	}
}

func rightsTakenAway(t *testing.T, taken []string) {
	c := shared.Cluster(t)
	ns := web(t, c)
	l := newLimited(t, c, ns)
	stack := "Deployment.apps/" + ns + "/web"
	w := newWire(t, l.kubeconfig)
	watches := []*watched{
		{startFor(t, longRun, w.kubeconfig, "health", "--watch", "-o", "json", "deployment/web", "-n", ns), t, 0},
		{startFor(t, longRun, w.kubeconfig, "health", "--watch", "-o", "json", "-n", ns), t, 0},
	}
	text := startFor(t, longRun, w.kubeconfig, "health", "--watch", "-n", ns)
	all := func(to, reason string, of ...string) {
		t.Helper()
		for _, watch := range watches {
			watch.saysAll(to, reason, of...)
		}
	}
	all("Healthy", "", "")
	objects := map[string]string{"apps/deployments": stack, "apps/replicasets": "ReplicaSet.apps/" + ns + "/web-*", "/pods": "Pod/" + ns + "/web-*"}
	var of []string
	for _, resource := range taken {
		of = append(of, objects[resource])
	}
	if slices.Contains(taken, "apps/deployments") { // Else what the Deployment says stands.
		of = append(of, "")
	}
	l.without(taken...)
	w.cut() // An API server does not look again who may watch what is watched.
	all("Unknown", "NotRead", of...)
	l.without()
	all("Healthy", "", of...)
	for _, watch := range watches {
		for _, change := range watch.changes() {
			switch {
			case change.To == "":
				t.Errorf("%v: something is gone: %+v", watch.cmd.Args[2:], change)
			case change.Stack != "" && change.Stack != stack:
				t.Errorf("%v: a stack that there is not: %+v", watch.cmd.Args[2:], change)
			case change.To == "Unknown" && (change.Reason != "NotRead" || !strings.HasSuffix(change.Message, "unread (Forbidden)")):
				t.Errorf("%v: it does not say why: %+v", watch.cmd.Args[2:], change)
			}
		}
		watch.interrupted()
	}
	shows(text, "unread (Forbidden)", &text.stdout)
	if strings.Contains(text.stdout.String(), "gone") {
		t.Errorf("something is gone:\n%s", &text.stdout)
	}
	text.interrupted()
}

// saysAll waits for a change of each of several, in any order.
func (w *watched) saysAll(to, reason string, of ...string) {
	w.t.Helper()
	begin, end := w.seen, w.seen
	for _, pattern := range of {
		w.seen = begin
		w.says(pattern, to, reason)
		end = max(end, w.seen)
	}
	w.seen = end
}

// ownKinds are definitions of kinds in the group of a namespace, which has an object of each.
func ownKinds(ns string, kinds ...string) string {
	var b strings.Builder
	for _, kind := range kinds {
		b.WriteString(strings.NewReplacer("GROUP", ns+".example.org", "PLURAL", strings.ToLower(kind)+"s", "KIND", kind, "SINGULAR", strings.ToLower(kind)).Replace(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`))
	}
	return b.String()
}

// ownObject is an object of a kind of ownKinds.
func ownObject(ns, kind, name, rest string) string {
	return fmt.Sprintf("---\napiVersion: %[1]s.example.org/v1\nkind: %[2]s\nmetadata: {name: %[3]s, namespace: %[1]s}\n%[4]s\n", ns, kind, name, rest)
}

const notReady = "status: {conditions: [{type: Ready, status: 'False', reason: Broken, message: it failed}]}"

// After definitions are deleted what was of them is gone, for watches of a namespace, of a root and
// of everything, and nobody is told that they are not served; if they come back, they are read.
func TestHealthDefinitionsDeleted(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	definitions, err := apply.Parse([]byte(ownKinds(ns, "Kiln")))
	if err != nil {
		t.Fatal(err)
	}
	remove := func(ctx context.Context) error {
		return definitionsOf(c).Delete(ctx, definitions[0].GetName(), metav1.DeleteOptions{})
	}
	t.Cleanup(func() { deleted(t, remove(context.Background())) })
	serve := func() {
		t.Helper()
		if _, err := c.Apply(t.Context(), definitions); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, limit, func() error { return served(c, definitions, true) })
		applyText(t, c, ownObject(ns, "Kiln", "hot", notReady))
	}
	serve()
	w := newWire(t, c.Kubeconfig)
	watches := []*watched{
		watchHealth(t, w.kubeconfig, "-n", ns),
		watchHealth(t, w.kubeconfig, "kiln/hot", "deployment/web", "-n", ns),
		watchHealth(t, w.kubeconfig, "-A"),
	}
	kiln := "Kiln." + ns + ".example.org/" + ns + "/hot"
	for _, watch := range watches {
		watch.says(kiln, "Degraded", "")
	}
	if err := remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, watch := range watches {
		watch.says(kiln, "", "")
	}
	cluster.Eventually(t, limit, func() error { return served(c, definitions, false) })
	w.cut() // All is watched anew.
	patched(t, c, deployments, ns, "web", failing)
	for _, watch := range watches {
		watch.says("Pod/"+ns+"/web-*", "Degraded", "")
		for line := range strings.SplitSeq(watch.stderr.String(), "\n") {
			if strings.Contains(line, "kilns."+ns) && strings.Contains(line, "not read") {
				t.Errorf("%v: %s", watch.cmd.Args[2:], line)
			}
		}
	}
	after := healthOf(t, c.Kubeconfig, "-n", ns)
	for _, g := range after.Gaps {
		if strings.Contains(g.Resource, "kilns") {
			t.Errorf("a gap of what is gone: %+v", g)
		}
	}
	serve()
	for _, watch := range watches {
		watch.says(kiln, "Degraded", "")
	}
	for _, watch := range watches {
		watch.interrupted()
	}
}

// definedIn is the resource of a kind of ownKinds.
func definedIn(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}
