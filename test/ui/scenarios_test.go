package ui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// TestDemo opens every view on the embedded example, by mouse and by keyboard, wide and narrow,
// light and dark.
func TestDemo(t *testing.T) {
	s := serve(t, os.DevNull, "--from", "demo", "-A")
	scenario(t, "demo", map[string]any{"address": s.URL}, nil)
}

// TestMap looks at the map of the example, and of 120 and 500 stacks.
func TestMap(t *testing.T) {
	world := map[string]any{"address": serve(t, os.DevNull, "--from", "demo", "-A").URL}
	for _, n := range []int{120, 500} {
		dir := filepath.Join(t.TempDir(), "teams")
		if err := teams(dir, n, ""); err != nil {
			t.Fatal(err)
		}
		world[fmt.Sprintf("address%d", n)] = serve(t, os.DevNull, "--from", dir, "-A").URL
	}
	scenario(t, "map", world, nil)
}

// TestNames measures how much is shown of long names, in every view at every width.
func TestNames(t *testing.T) {
	const prefix = "application-of-a-team-with-a-long-name-"
	dir := filepath.Join(t.TempDir(), "names")
	if err := teams(dir, 5, prefix); err != nil {
		t.Fatal(err)
	}
	scenario(t, "names", map[string]any{"address": serve(t, os.DevNull, "--from", dir, "-A").URL, "prefix": prefix}, nil)
}

// TestPanels looks at regulation over time, costs, findings and details of the example.
func TestPanels(t *testing.T) {
	out, talk, code := sysop(t, os.DevNull, nil, "metrics", "-A", "--from", "demo", "--no-inferred")
	if code != 0 {
		t.Fatalf("metrics: exit code %d: %s", code, talk)
	}
	scenario(t, "panels", map[string]any{
		"address":  serve(t, os.DevNull, "--from", "demo", "-A").URL,
		"declared": serve(t, os.DevNull, "--from", "demo", "-A", "--no-inferred").URL, "metrics": out,
	}, nil)
}

// TestTasks does what users come for, and counts the clicks.
func TestTasks(t *testing.T) {
	const objects = 1500
	dir := filepath.Join(t.TempDir(), "many")
	if err := many(dir, objects); err != nil {
		t.Fatal(err)
	}
	scenario(t, "tasks", map[string]any{"address": serve(t, os.DevNull, "--from", "demo", "-A").URL, "many": serve(t, os.DevNull, "--from", dir, "-A").URL}, nil)
}

// TestLarge looks at a stack of 1,506 objects.
func TestLarge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wall")
	if err := wall(dir); err != nil {
		t.Fatal(err)
	}
	scenario(t, "large", map[string]any{"address": serve(t, os.DevNull, "--from", dir, "-A").URL}, nil)
}

// TestSave downloads what is shown, runs the commands beside it, and prints.
func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "teams")
	if err := teams(dir, 20, ""); err != nil {
		t.Fatal(err)
	}
	s, apps := serve(t, os.DevNull, "--from", "demo", "-A"), serve(t, os.DevNull, "--from", dir, "-A")
	scenario(t, "save", map[string]any{"address": s.URL, "apps": apps.URL}, map[string]deed{
		"run": func(_ context.Context, body []byte) (any, error) {
			line, _, _ := strings.Cut(string(body), " > ")
			out, talk, code := sysop(t, os.DevNull, nil, strings.Fields(line)[2:]...)
			return map[string]any{"code": code, "out": out, "talk": talk}, nil
		},
	})
}

// TestKeyboard goes from the stacks to a cause and back without a mouse.
func TestKeyboard(t *testing.T) {
	s := serve(t, os.DevNull, "--from", "demo", "-A")
	scenario(t, "keyboard", map[string]any{"address": s.URL}, nil)
}

// TestImpact asks what happens when objects are deleted, on the page and in a file.
func TestImpact(t *testing.T) {
	out, talk, code := sysop(t, os.DevNull, nil, "graph", "moodle/moodle-1", "-o", "html", "--from", "demo")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	file := filepath.Join(t.TempDir(), "graph.html")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	s, one := serve(t, os.DevNull, "--from", "demo", "-A"), serve(t, os.DevNull, "--from", "demo", "-n", "moodle")
	scenario(t, "impact", map[string]any{"address": s.URL, "namespace": one.URL, "file": file}, nil)
}

// TestFile opens exported files from disk.
func TestFile(t *testing.T) {
	files := map[string]any{}
	for name, args := range map[string][]string{
		"graph":   {"graph", "moodle/moodle-1", "moodle/moodle-2"},
		"health":  {"health", "moodle/moodle-2"},
		"metrics": {"metrics", "-A"},
		"stacks":  {"stacks", "-A"},
	} {
		out, talk, code := sysop(t, os.DevNull, nil, append(args, "-o", "html", "--from", "demo")...)
		if code != 0 {
			t.Fatalf("%v -o html: exit code %d: %s", args, code, talk)
		}
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	scenario(t, "file", map[string]any{"files": files}, nil)
}

// TestLive looks at a cluster while things happen to it.
func TestLive(t *testing.T) {
	c := sandbox(t)
	s := serve(t, c.Kubeconfig, "-A")
	scenario(t, "live", map[string]any{"address": s.URL}, map[string]deed{
		"fail": func(ctx context.Context, body []byte) (any, error) { return failing(ctx, c, string(body)) },
		"define": func(ctx context.Context, _ []byte) (any, error) {
			objects, err := apply.Parse([]byte(arriving))
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() {
				_ = dynamic.NewForConfigOrDie(c.Config()).Resource(definitions).Delete(context.Background(), objects[0].GetName(), metav1.DeleteOptions{})
			})
			return c.Apply(ctx, objects)
		},
		"end": func(context.Context, []byte) (any, error) { return s.interrupt() },
	})
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// arriving is a kind that is not there at first, and an object of it.
const arriving = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kettles.arriving.example}, spec: {group: arriving.example, scope: Namespaced, names: {plural: kettles, singular: kettle, kind: Kettle}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
---
{apiVersion: arriving.example/v1, kind: Kettle, metadata: {name: whistling, namespace: shop}}
`

// failing has one of the pods of an app crash, as its kubelet would tell, and says which. of is the
// namespace, and the value of the label app.
func failing(ctx context.Context, c *cluster.Cluster, of string) (any, error) {
	var namespace, app string
	if _, err := fmt.Sscanf(of, "%s %s", &namespace, &app); err != nil {
		return nil, err
	}
	pods := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil || len(list.Items) == 0 {
		return nil, fmt.Errorf("no pods of app=%s in %s: %w", app, namespace, err)
	}
	pod := &list.Items[0]
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason = corev1.ConditionFalse, "ContainersNotReady"
		}
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		s.Ready, s.RestartCount = false, 5
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 2m40s restarting failed container"}}
	}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return map[string]string{"pod": pod.Name}, err
}

// TestCompose makes a System on the page, and has the server say whether it would take it.
func TestCompose(t *testing.T) {
	c := sandbox(t)
	s := serve(t, c.Kubeconfig, "-A")
	scenario(t, "compose", map[string]any{"address": s.URL}, map[string]deed{
		"install": func(_ context.Context, body []byte) (any, error) {
			out, talk, code := sysop(t, c.Kubeconfig, body, "install", "-f", "-", "--dry-run=server")
			return map[string]any{"code": code, "out": out, "talk": talk}, nil
		},
		"validate": func(_ context.Context, body []byte) (any, error) {
			out, talk, code := sysop(t, c.Kubeconfig, body, "system", "validate", "-", "-o", "json")
			return map[string]any{"code": code, "out": out, "talk": talk}, nil
		},
		"init": func(context.Context, []byte) (any, error) {
			out, talk, code := sysop(t, c.Kubeconfig, nil, "system", "init", "-n", "shop", "--name", "shop")
			return map[string]any{"code": code, "out": out, "talk": talk}, nil
		},
	})
}

// TestRights opens the page as somebody who may read next to nothing, as somebody who may read pods and
// not their logs, and as somebody who may read one namespace until that right is taken away.
func TestRights(t *testing.T) {
	c := sandbox(t)
	kubeconfig, err := c.User("page-nobody")
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.User("page-shop")
	if err != nil {
		t.Fatal(err)
	}
	const name = "page-shop"
	rbac := kubernetes.NewForConfigOrDie(c.Config()).RbacV1()
	if _, err := rbac.RoleBindings("shop").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	take := func(ctx context.Context, _ []byte) (any, error) {
		return nil, rbac.RoleBindings("shop").Delete(ctx, name, metav1.DeleteOptions{})
	}
	t.Cleanup(func() { _, _ = take(context.Background(), nil) })
	s, shop, blind := serve(t, kubeconfig, "-n", "shop"), serve(t, one, "-n", "shop"), serve(t, withoutLogs(t, c), "-n", "shop")
	scenario(t, "rights", map[string]any{"address": s.URL, "shop": shop.URL, "blind": blind.URL}, map[string]deed{
		"take": take,
		"check": func(context.Context, []byte) (any, error) {
			out, talk, code := sysop(t, one, nil, "check", "-n", "shop", "--all", "-o", "json")
			return map[string]any{"code": code, "out": out, "talk": talk}, nil
		},
	})
}

// withoutLogs is the kubeconfig of a user who may read the pods and workloads of the shop, and no logs.
func withoutLogs(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	const name = "page-blind"
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	rbac := kubernetes.NewForConfigOrDie(c.Config()).RbacV1()
	verbs := []string{"get", "list", "watch"}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: verbs}, {APIGroups: []string{"apps"}, Resources: []string{"*"}, Verbs: verbs},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}
	if _, err := rbac.Roles("shop").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings("shop").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = rbac.RoleBindings("shop").Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = rbac.Roles("shop").Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	return kubeconfig
}

// TestBudgets opens stacks of 2,000 and 10,000 objects, and counts.
func TestBudgets(t *testing.T) {
	world := map[string]any{}
	for _, n := range []int{2000, 10000} {
		dir := filepath.Join(t.TempDir(), "many")
		if err := many(dir, n); err != nil {
			t.Fatal(err)
		}
		world[fmt.Sprintf("address%d", n)] = serve(t, os.DevNull, "--from", dir, "-A").URL
	}
	scenario(t, "budgets", world, nil)
}
