package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// store is a catalogue of one operator whose chart has a StatefulSet of two pods, made in order.
func store(t *testing.T, unit string) string {
	t.Helper()
	dir := t.TempDir()
	name := "store-" + unit
	archive := repository.Archive(t, name, map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n",
		"templates/program.yaml": storeChart(name),
	})
	entry := `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: NAME
title: Store
description: Keeps things, for tests.
source: [https://example.com/store]
versions:
- version: 1.0.0
  namespace: NAME
  source:
    chart: {path: NAME.tgz, name: NAME, version: 1.0.0}
`
	for file, text := range map[string]string{name + ".tgz": string(archive), name + ".yaml": strings.ReplaceAll(entry, "NAME", name)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func storeChart(name string) string {
	return strings.ReplaceAll(`apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {clusterIP: None, selector: {app: NAME}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  serviceName: NAME
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata:
      labels: {app: NAME}
      {{- with .Values.fail }}
      annotations: {sysop.dev/fail: {{ . }}}
      {{- end }}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: store, image: 'example.com/store:1.0.0'}]
`, "NAME", name)
}

// An upgrade whose pods crash is undone: the StatefulSet, whose pods come in order, waits for the
// crashing one for ever, so that it is deleted, and said why; the answer says Healthy, and it is.
func TestInstallUndoOrdered(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	i := newInstaller(t, c, unraced(t), "")
	dir := store(t, "ordered")
	args := func(command string, more ...string) []string {
		return append([]string{command, "store-ordered", "--catalog", dir, "--yes"}, more...)
	}
	i.run(args("install")...).succeeds(t)
	r := i.run(args("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", brief(20*time.Second))...)
	i.failed(r, "all changes were undone, and what was restored is Healthy", "Pod/store-ordered/store-ordered-1 is deleted: it is of the revision that was undone")
	readyPods(t, c, "store-ordered", 2)
}

// Who may not delete pods is told what is not Healthy and which command helps, and not that all
// was undone; the command helps.
func TestInstallUndoOrderedForbidden(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	i := newInstaller(t, c, unraced(t), "")
	dir := store(t, "stuck")
	args := func(command string, more ...string) []string {
		return append([]string{command, "store-stuck", "--catalog", dir, "--yes"}, more...)
	}
	i.run(args("install")...).succeeds(t)
	i.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool {
		return q.Method == http.MethodDelete && strings.Contains(q.URL.Path, "/namespaces/store-stuck/pods/")
	}})
	r := i.run(args("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", brief(8*time.Second))...)
	i.failed(r, "what was restored is not Healthy", "kubectl delete pod store-stuck-1 -n store-stuck")
	if strings.Contains(r.stderr, "all changes were undone") {
		t.Errorf("it says that all was undone:\n%s", r.stderr)
	}
	if err := admin(c).CoreV1().Pods("store-stuck").Delete(t.Context(), "store-stuck-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	readyPods(t, c, "store-stuck", 2)
}

// readyPods waits until that many pods of a namespace are Ready.
func readyPods(t *testing.T, c *cluster.Cluster, namespace string, want int) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		pods, err := admin(c).CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for i := range pods.Items {
			for _, cond := range pods.Items[i].Status.Conditions {
				if cond.Type == "Ready" && cond.Status == "True" {
					ready++
				}
			}
		}
		if ready != want || len(pods.Items) != want {
			return fmt.Errorf("%d of %d pods are Ready, want %d", ready, len(pods.Items), want)
		}
		return nil
	})
}

// The printed roles are enough for the cure. Who has all of them but the right to delete the pods
// is told what will not be done, and is not refused for it.
func TestInstallUndoOrderedRights(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	kubeconfig, err := c.User("storekeeper")
	if err != nil {
		t.Fatal(err)
	}
	dir := store(t, "rights")
	args := func(command string, more ...string) []string {
		return append([]string{command, "store-rights", "--catalog", dir}, more...)
	}
	boss := newInstaller(t, c, unraced(t), "")
	boss.run(args("install", "--yes")...).succeeds(t)
	printed := func() []*unstructured.Unstructured { // they name the records of the next revisions
		roles, err := apply.Parse([]byte(boss.run(args("upgrade", "--set", "fail=CrashLoopBackOff", "--print-rbac")...).succeeds(t).stdout))
		if err != nil || len(roles) == 0 {
			t.Fatalf("%d roles: %v", len(roles), err)
		}
		return roles
	}
	i := newInstaller(t, c, unraced(t), kubeconfig)
	upgrade := args("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", brief(10*time.Second), "--yes")
	note := "you may not delete pods in store-rights: "

	grant(t, c, "storekeeper", withoutPods(t, printed()))
	r := i.run(upgrade...)
	i.failed(r, note, "what was restored is not Healthy", "kubectl delete pod store-rights-1 -n store-rights")
	if err := admin(c).CoreV1().Pods("store-rights").Delete(t.Context(), "store-rights-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	readyPods(t, c, "store-rights", 2)

	grant(t, c, "storekeeper", printed())
	r = i.run(upgrade...)
	i.failed(r, "all changes were undone, and what was restored is Healthy")
	if strings.Contains(r.stderr, note) {
		t.Errorf("it may delete them:\n%s", r.stderr)
	}
}

// withoutPods are roles without the rules that let somebody delete pods.
func withoutPods(t *testing.T, roles []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	left := 0
	for _, role := range roles {
		role = role.DeepCopy()
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		kept := slices.DeleteFunc(rules, func(rule any) bool {
			resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
			verbs, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "verbs")
			names, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resourceNames")
			gone := slices.Equal(resources, []string{"pods"}) && slices.Equal(verbs, []string{"delete"}) && slices.Equal(names, []string{"store-rights-0", "store-rights-1"})
			if gone {
				left++
			}
			return gone
		})
		if len(kept) > 0 {
			_ = unstructured.SetNestedSlice(role.Object, kept, "rules")
		}
		out = append(out, role)
	}
	if left != 1 {
		t.Fatalf("%d rules let somebody delete the pods of the StatefulSet by name", left)
	}
	return out
}

// grant gives roles to a user, in place of what they were before.
func grant(t *testing.T, c *cluster.Cluster, user string, roles []*unstructured.Unstructured) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(c.Config())
	for _, role := range roles {
		gvr := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: strings.ToLower(role.GetKind()) + "s"}
		var at dynamic.ResourceInterface = client.Resource(gvr)
		if role.GetNamespace() != "" {
			at = client.Resource(gvr).Namespace(role.GetNamespace())
		}
		if _, err := at.Apply(t.Context(), role.GetName(), role, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
			t.Fatal(err)
		}
		binding := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": role.GetKind() + "Binding",
			"metadata": map[string]any{"name": role.GetName()},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": role.GetKind(), "name": role.GetName()},
			"subjects": []any{map[string]any{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}},
		}}
		binding.SetNamespace(role.GetNamespace())
		if _, err := c.Apply(t.Context(), []*unstructured.Unstructured{binding}); err != nil {
			t.Fatal(err)
		}
	}
}
