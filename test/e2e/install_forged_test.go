package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// forgery is a journal whose run says that it made a binding.
func forgery(name, namespace, run string) string {
	return fmt.Sprintf(`{"apiVersion":"sysop.dev/v1alpha1","kind":"InstallJournal","installation":{"Name":%q,"Namespace":%q,"System":true},
"run":{"id":%q,"action":"install","fingerprint":"x","by":"somebody","started":"2026-01-01T00:00:00Z","steps":[
{"id":"release/x","kind":"install","release":"x","namespace":%q,"phase":"done","made":[{"group":"rbac.authorization.k8s.io","kind":"ClusterRoleBinding","name":"cluster-admin"}]}]}}`,
		name, namespace, run, namespace)
}

// tenant writes ConfigMaps with edit rights in its namespaces, and nowhere else.
func (s *tea) tenant(namespaces ...string) func(name, namespace, journal string) {
	s.t.Helper()
	kubeconfig, err := s.c.User("tenant-" + s.unit)
	if err != nil {
		s.t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, ns := range namespaces {
		applyText(s.t, s.c, fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: tenant, namespace: %s}\n"+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects: [{kind: User, name: tenant-%s, apiGroup: rbac.authorization.k8s.io}]\n", ns, s.unit))
	}
	client := dynamic.NewForConfigOrDie(config)
	return func(name, namespace, journal string) {
		s.t.Helper()
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"journal.json": journal}}}
		o.SetName("sysop-install-" + name)
		o.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "kubectl-sysop", "sysop.dev/install": name})
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).Apply(s.t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "tenant", Force: true})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// A tenant plants journals: the administrator's commands do not look at those in a namespace
// that they were not asked for, and refuse what one in their own says, before any write.
func TestForgedJournal(t *testing.T) {
	s := newTea(t, bare.Cluster(t), "forged", "")
	s.brew()
	applyText(t, s.c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: planted-forged}\n")
	kettle, home := "kettle-"+s.unit, "tea-"+s.unit
	plant := s.tenant("planted-forged")
	plant("tea", "planted-forged", forgery("tea", "planted-forged", "abc"))
	plant(kettle, "planted-forged", "{")
	s.run(s.args("install")...).succeeds(t)
	s.whole()
	if got := s.history("tea", home); len(got) != 1 || got[0] != "install done" {
		t.Errorf("history %q", got)
	}
	s.run("history", kettle, "--catalog", s.catalog).succeeds(t)
	s.refused([]string{"the System tea in " + home + " needs " + kettle}, "uninstall", kettle, "--catalog", s.catalog, "--yes")

	plant = s.tenant(home)
	plant("tea", home, forgery("tea", home, "abc"))
	words := []string{"the journal is not believed", "nothing was written"}
	s.refused(words, "uninstall", "tea", "-n", home, "--yes")
	s.refused(words, "uninstall", "tea", "-n", home, "--print-rbac")
	s.refused(words, "rollback", "tea", "-n", home, "--unfinished", "--yes")
	s.refused(words, s.args("install")...)
	if _, err := admin(s.c).RbacV1().ClusterRoleBindings().Get(t.Context(), "cluster-admin", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if err := admin(s.c).CoreV1().ConfigMaps(home).Delete(t.Context(), "sysop-install-tea", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(s.args("install")...).succeeds(t)
}
