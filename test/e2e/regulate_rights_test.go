package e2e

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// writesOf are the writes of a user that were admitted, dry runs and reviews aside, and what
// was forbidden.
func writesOf(t *testing.T, c *cluster.Cluster, user string, since time.Time) (writes, forbidden []string) {
	t.Helper()
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.User != user {
			continue
		}
		text := e.Verb + " " + e.URI
		switch {
		case e.Code == http.StatusForbidden:
			forbidden = append(forbidden, text)
		case slices.Contains([]string{"create", "update", "patch", "delete"}, e.Verb) && e.Object.Group != "authorization.k8s.io" && e.Code < 300:
			writes = append(writes, text)
		}
	}
	return writes, forbidden
}

// Whoever may only read can see a plan, and is told what is missing before anything is
// written.
func TestRegulateWithoutRights(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	reader := "regulate-reader-" + s.ns
	readsAll(t, c, reader)
	kubeconfig, err := c.User(reader)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		return lists(gapsOf(graph(t, kubeconfig, "deployment/web", "-n", s.ns)))
	})
	before := s.images()
	since := time.Now()
	s.regulateAs(kubeconfig, "plan").succeeds(t)
	s.regulateAs(kubeconfig, "stop", "web", "--yes").fails(t)
	// The rights to the journal and the lock alone are not those to the targets.
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "journal"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"*"}},
	}}
	rbac := admin(c).RbacV1()
	if _, err := rbac.Roles(s.ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "journal"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "journal"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: reader}},
	}
	if _, err := rbac.RoleBindings(s.ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.regulateAs(kubeconfig, "stop", "web", "--yes").fails(t, "deployments", "patch")
	writes, _ := writesOf(t, c, reader, since)
	writes = slices.DeleteFunc(writes, func(w string) bool { return strings.Contains(w, "/leases") })
	if len(writes) > 0 {
		t.Errorf("a user without rights wrote: %v", writes)
	}
	if err := s.freeAll(before); err != nil {
		t.Error(err)
	}
}

// With what regulate manifests prints, and no more, regulation runs in the cluster. Nothing
// is forbidden but to list kinds of which no app has anything, which is told.
func TestRegulateInCluster(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	sysop(t, c.Kubeconfig, "system", "adopt", "-f", s.manifest, "--yes").succeeds(t)
	manifests := sysop(t, c.Kubeconfig, "regulate", "manifests", "shop", "-n", s.ns, "--image", "registry.example.com/kubectl-sysop").succeeds(t).stdout
	t.Cleanup(func() { // what is not of the namespace stays, unless it is deleted
		for _, kind := range []string{"clusterrolebindings", "clusterroles"} {
			list, err := s.client.Resource(rbacv1.SchemeGroupVersion.WithResource(kind)).List(context.Background(), metav1.ListOptions{LabelSelector: "sysop.dev/system=shop"})
			if err != nil {
				t.Error(err)
				continue
			}
			for _, o := range list.Items {
				if strings.Contains(manifests, o.GetName()) {
					deleted(t, s.client.Resource(rbacv1.SchemeGroupVersion.WithResource(kind)).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}))
				}
			}
		}
	})
	objects, err := parsed(manifests)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	account := ""
	for _, o := range objects {
		if o.GetKind() == "ServiceAccount" {
			account = o.GetName()
		}
	}
	kubeconfig := tokenOf(t, c, s.ns, account)
	before := s.images()
	since := time.Now()
	watch := startFor(t, 3*limit, kubeconfig, watchArguments(t, objects)...)
	s.broken("CrashLoopBackOff")
	cluster.Eventually(t, limit, s.heldAll)
	s.broken("")
	cluster.Eventually(t, limit, func() error { return s.freeAll(before) })
	if err := watch.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := watch.wait()
	writes, forbidden := writesOf(t, c, "system:serviceaccount:"+s.ns+":"+account, since)
	forbidden = slices.DeleteFunc(forbidden, func(f string) bool { return strings.HasPrefix(f, "list ") || strings.HasPrefix(f, "watch ") })
	if len(forbidden) > 0 || len(writes) == 0 {
		t.Errorf("forbidden: %v, %d writes; stderr:\n%s", forbidden, len(writes), r.stderr)
	}
}

// tokenOf is the kubeconfig of a service account.
func tokenOf(t *testing.T, c *cluster.Cluster, ns, account string) string {
	t.Helper()
	token, err := admin(c).CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := c.Config()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData, CertificateAuthority: cfg.CAFile}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// watchArguments are those of the container; metrics are served at any port.
func watchArguments(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if err != nil || len(containers) != 1 {
			t.Fatalf("containers %v: %v", containers, err)
		}
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		if err != nil || !slices.Contains(args, "watch") {
			t.Fatalf("args %v: %v", args, err)
		}
		for i, a := range args {
			if strings.HasPrefix(a, "--metrics-address") {
				args[i] = "--metrics-address=127.0.0.1:0"
			}
		}
		return args
	}
	t.Fatal("no Deployment among the manifests")
	return nil
}
