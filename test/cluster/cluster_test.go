package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// limit is how long a test waits for a controller.
var limit = timeout.Scaled(2 * time.Minute)

var shared = cluster.NewShared(cluster.Full())

func TestMain(m *testing.M) {
	if os.Getenv(starterVariable) != "" {
		starter()
	}
	os.Exit(shared.Run(m))
}

func get(t *testing.T, c *cluster.Cluster, gvr schema.GroupVersionResource, ns, name string) (*unstructured.Unstructured, error) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(gvr).Namespace(ns).Get(t.Context(), name, metav1.GetOptions{})
}

func clientset(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(cfg)
}

// applied applies the file with NAMESPACE replaced.
func applied(t *testing.T, c *cluster.Cluster, file, ns string) apply.Result {
	t.Helper()
	objects, err := apply.ReadFiles("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.GetNamespace() == "NAMESPACE" {
			o.SetNamespace(ns)
		}
	}
	r, err := c.Apply(t.Context(), objects)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEverythingListensOnLoopback(t *testing.T) {
	c := shared.Cluster(t)
	for _, p := range c.Processes() {
		addresses, err := p.Listening()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addresses {
			if a.Addr() != netip.MustParseAddr("127.0.0.1") {
				t.Errorf("%s listens on %s", p.Name, a)
			}
		}
	}
}

func TestWorkloadsRun(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	r := applied(t, c, "workloads.yaml", ns)
	if want := []string{"Pod/" + ns + "/old-pod", "ReplicaSet.apps/" + ns + "/web-old"}; !slices.Equal(names(r.Skipped), want) {
		t.Errorf("skipped %v, want %v", names(r.Skipped), want)
	}
	client := clientset(t, c.Kubeconfig)
	reasons := map[string]string{"crash": "CrashLoopBackOff", "pull": "ImagePullBackOff", "config": "CreateContainerConfigError"}
	cluster.Eventually(t, limit, func() error {
		pods, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != 3+2+len(reasons) {
			return fmt.Errorf("%d pods", len(pods.Items))
		}
		for _, p := range pods.Items {
			if reason := reasons[p.Labels["app"]]; reason != "" {
				if w := waiting(p); w != reason {
					return fmt.Errorf("pod %s waits for %q, not for %q", p.Name, w, reason)
				}
			} else if p.Status.Phase != corev1.PodRunning {
				return fmt.Errorf("pod %s is %s", p.Name, p.Status.Phase)
			}
		}
		return nil
	})
	// The owner reference has the UID of the new Deployment, not of the old one.
	web, err := client.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned, err := client.CoreV1().ConfigMaps(ns).Get(t.Context(), "owned", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if refs := owned.OwnerReferences; len(refs) != 1 || refs[0].UID != web.UID {
		t.Errorf("owner references %v, want the UID %s", refs, web.UID)
	}
}

func waiting(p corev1.Pod) string {
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Waiting != nil {
			return s.State.Waiting.Reason
		}
	}
	return ""
}

func names(skipped []apply.Skip) []string {
	var out []string
	for _, s := range skipped {
		out = append(out, s.String())
	}
	slices.Sort(out)
	return out
}

func TestOperatorsWork(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, "operators.yaml", ns)
	cluster.Eventually(t, limit, func() error {
		cert, err := get(t, c, schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}, ns, "site")
		if err == nil && !apply.Condition(cert, "Ready") {
			err = errors.New("the certificate is not ready")
		}
		return err
	})
	cluster.Eventually(t, limit, func() error {
		_, err := get(t, c, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, ns, "prometheus-main")
		return err
	})
}

func TestMetricsAnswer(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, "workloads.yaml", ns)
	cluster.Eventually(t, limit, func() error {
		m, err := get(t, c, schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}, ns, "db-0")
		if err != nil {
			return err
		}
		if containers, _, _ := unstructured.NestedSlice(m.Object, "containers"); len(containers) != 1 {
			return fmt.Errorf("%d containers", len(containers))
		}
		return nil
	})
	client := clientset(t, c.Kubeconfig)
	pod, err := client.CoreV1().Pods(ns).Get(t.Context(), "db-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		b, err := client.CoreV1().RESTClient().Get().Resource("nodes").Name(pod.Spec.NodeName).SubResource("proxy").Suffix("stats/summary").DoRaw(t.Context())
		if err != nil {
			return err
		}
		if want := fmt.Sprintf(`"pvcRef":{"name":"data-db-0","namespace":%q}`, ns); !contains(b, want) {
			return fmt.Errorf("no %s in the summary", want)
		}
		return nil
	})
}

func TestAuditShowsWhatAUserWasGiven(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	since := time.Now()
	admin := clientset(t, c.Kubeconfig)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"password": "x"}}
	if _, err := admin.CoreV1().Secrets(ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	viewer := "viewer-of-" + ns
	kubeconfig, err := c.User(viewer, "team")
	if err != nil {
		t.Fatal(err)
	}
	user := clientset(t, kubeconfig)
	if _, err := user.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("listed secrets without rights: %v", err)
	}
	grant(t, admin, ns, viewer)
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	secrets := metadata.NewForConfigOrDie(metadata.ConfigFor(cfg)).Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"})
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		_, err := secrets.Namespace(ns).List(t.Context(), metav1.ListOptions{})
		return err
	})
	if codes, data := seen(t, c, since, viewer); data || !slices.Contains(codes, 403) || !slices.Contains(codes, 200) {
		t.Errorf("after metadata only: codes %v, data %v", codes, data)
	}
	if _, err := user.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, data := seen(t, c, since, viewer); !data {
		t.Error("the data of a secret was given and not seen")
	}
}

func grant(t *testing.T, admin kubernetes.Interface, ns, user string) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
	}
	if _, err := admin.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// seen returns the responses to a user's requests for secrets, and whether one had data.
func seen(t *testing.T, c *cluster.Cluster, since time.Time, user string) (codes []int, data bool) {
	t.Helper()
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.User == user && e.Object.Resource == "secrets" {
			codes, data = append(codes, e.Code), data || e.Data()
		}
	}
	return codes, data
}

func TestProxyInFrontOfTheServer(t *testing.T) {
	c := shared.Cluster(t)
	p, err := c.Proxy("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	client := clientset(t, p.Kubeconfig())
	p.Inject(faults.Fault{Match: faults.Continues, Times: 1, Effect: faults.Expired()})
	page, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	next := metav1.ListOptions{Limit: 10, Continue: page.Continue}
	if _, err := client.RbacV1().ClusterRoles().List(t.Context(), next); !apierrors.IsResourceExpired(err) {
		t.Errorf("the second page: %v", err)
	}
	if _, err := client.RbacV1().ClusterRoles().List(t.Context(), next); err != nil {
		t.Errorf("the second page, again: %v", err)
	}
	if n := len(p.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestStartTellsWhichProcessFailed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	_, err := cluster.Start(context.Background(), cluster.Options{APIServerFlags: []string{"--no-such-flag"}})
	if err == nil || !contains([]byte(err.Error()), "kube-apiserver") || !contains([]byte(err.Error()), "no-such-flag") {
		t.Errorf("error %v does not name the process and the reason", err)
	}
}
