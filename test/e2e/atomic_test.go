package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// foreseenDocument is the JSON of check --atomic, as far as tests look at it.
type foreseenDocument struct {
	Verdict, Summary    string
	Objects, Pods       int
	FromScratch, DryRun bool
	Findings            []struct{ Verdict, Topic, Object, Origin, Field, Reason, Message string }
	Placement           []struct{ Pod, Node string }
}

// has says whether a judgement says all of the words, of the object if one is named.
func (d *foreseenDocument) has(verdict, topic, object string, words ...string) bool {
	for _, j := range d.Findings {
		missing := func(w string) bool { return !strings.Contains(j.Message, w) }
		if j.Verdict == verdict && j.Topic == topic && (object == "" || j.Object == object) && !slices.ContainsFunc(words, missing) {
			return true
		}
	}
	return false
}

// said is every judgement in a line, for messages of tests.
func (d *foreseenDocument) said() string {
	lines := []string{d.Summary}
	for _, j := range d.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %s (%s): %s: %s", j.Verdict, j.Topic, j.Object, j.Origin, j.Reason, j.Message))
	}
	return strings.Join(lines, "\n")
}

// manifest writes a batch to a file.
func manifest(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "batch.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// foreseen asks whether a batch will start, and holds the exit code against the verdict.
func foreseen(t *testing.T, kubeconfig, ns, text string, args ...string) foreseenDocument {
	t.Helper()
	return foreseenBy(t, kubeconfig, append([]string{"-f", manifest(t, text), "-n", ns}, args...)...)
}

func foreseenBy(t *testing.T, kubeconfig string, args ...string) foreseenDocument {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"check", "--atomic", "-o", "json", "--fail-on", "warning"}, args...)...)
	var d foreseenDocument
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v\n%s", r.args, err, r.stderr)
	}
	want := 2
	if d.Verdict == "fits" {
		want = 0
	}
	if r.code != want {
		t.Errorf("%v: exit code %d of a batch that is %q", r.args, r.code, d.Verdict)
	}
	return d
}

// web is a Deployment, with what is put behind the spec of its pods.
func webOf(replicas int, spec string) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {%s}
`, replicas, spec)
}

const plainContainer = "containers: [{name: web, image: web, resources: {requests: {cpu: 10m, memory: 16Mi}}}]"

// A batch that fits comes up, in a namespace that it brings along.
func TestAtomicFits(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := "atomic-" + c.Namespace(t)
	batch := strings.ReplaceAll(`
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: app}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: hidden}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: m}]}}}
`, "NAMESPACE", ns) + webOf(2, "serviceAccountName: app, containers: [{name: web, image: web, envFrom: [{secretRef: {name: key}}], resources: {requests: {cpu: 10m}}}]")
	d := foreseen(t, c.Kubeconfig, ns, batch)
	if d.Verdict != "fits" || d.Objects != 6 || d.Pods != 3 || len(d.Placement) != 3 || !d.DryRun || d.FromScratch {
		t.Fatalf("%+v", d)
	}
	if _, err := admin(c).CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the namespace is there: %v", err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, admin(c).CoreV1().Namespaces().Delete(context.Background(), ns, metav1.DeleteOptions{}))
	})
	applyText(t, c, namespaced(batch, ns))
	cluster.Eventually(t, limit, func() error {
		web, err := admin(c).AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil || web.Status.AvailableReplicas != 2 {
			return fmt.Errorf("%d of 2 are available: %w", web.Status.AvailableReplicas, err)
		}
		return nil
	})
	again := foreseen(t, c.Kubeconfig, ns, batch)
	if again.Verdict != "fits" {
		t.Errorf("what is there and runs does not fit:\n%s", again.said())
	}
	if anew := foreseenBy(t, c.Kubeconfig, "deployment/web", "-n", ns); anew.Verdict != "fits" || !anew.FromScratch || anew.Pods != 2 {
		t.Errorf("the stack would not start anew: %+v", anew)
	}
}

// namespaced gives the objects of a batch a namespace, as -n does.
func namespaced(batch, ns string) string {
	var out []string
	for doc := range strings.SplitSeq(batch, "\n---\n") {
		if !strings.Contains(doc, "kind: Namespace\n") && !strings.Contains(doc, "kind: PriorityClass\n") && !strings.Contains(doc, "namespace:") {
			doc = strings.Replace(doc, "metadata: {", "metadata: {namespace: "+ns+", ", 1)
		}
		out = append(out, doc)
	}
	return strings.Join(out, "\n---\n")
}

// hanging is a batch that cannot start as a whole.
type hanging struct {
	name, batch string
	// topic and words are the proof.
	topic string
	words []string
	// unschedulable and refused are what the scheduler says of a pod, and what the API
	// server says of one, when the batch is created for real; or neither, where a kubelet
	// would say it.
	unschedulable, refused string
}

func hangings() []hanging {
	return []hanging{
		{
			name: "too big", batch: webOf(1, "containers: [{name: web, image: web, resources: {requests: {cpu: 4k}}}]"),
			topic: "scheduling", words: []string{"cpu"}, unschedulable: "Insufficient cpu",
		},
		{
			name: "quota", batch: "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: 1}}\n" + webOf(3, plainContainer),
			topic: "quota", words: []string{"pods"}, refused: "exceeded quota: few",
		},
		{
			name: "secret", batch: webOf(1, "containers: [{name: web, image: web, envFrom: [{secretRef: {name: none-such}}]}]"),
			topic: "references", words: []string{"Secret/none-such"},
		},
		{
			name: "selector", batch: webOf(1, "nodeSelector: {no-node-has: this}, "+plainContainer),
			topic: "scheduling", words: nil, unschedulable: "node affinity/selector",
		},
		{
			name: "ports", batch: webOf(12, "containers: [{name: web, image: web, ports: [{containerPort: 80, hostPort: 23456}]}]"),
			topic: "scheduling", words: []string{"port"}, unschedulable: "didn't have free ports",
		},
		{
			// Whoever plays volumes would make one of any class, were it not told to fail.
			name:  "claim without class",
			batch: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, annotations: {sysop.dev/fail: pending}}\nspec: {storageClassName: none-such, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n" + webOf(1, "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], "+plainContainer),
			topic: "storage", words: []string{"none-such"}, unschedulable: "unbound immediate PersistentVolumeClaims",
		},
		{
			name:  "limit range",
			batch: "apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, max: {cpu: 100m}}]}\n" + webOf(1, "containers: [{name: web, image: web, resources: {requests: {cpu: 500m}, limits: {cpu: 500m}}}]"),
			topic: "limits", words: []string{"cpu"}, refused: "maximum cpu usage per Container is 100m",
		},
		{
			name: "pod security", batch: "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE, labels: {pod-security.kubernetes.io/enforce: restricted}}\n" + webOf(1, plainContainer),
			topic: "admission", words: []string{"restricted"}, refused: "violates PodSecurity",
		},
		{
			name: "service account", batch: webOf(1, "serviceAccountName: none-such, "+plainContainer),
			topic: "admission", words: []string{"none-such"}, refused: `serviceaccount "none-such" not found`,
		},
		{
			name: "priority class", batch: webOf(1, "priorityClassName: none-such, "+plainContainer),
			topic: "admission", words: []string{"none-such"}, refused: "no PriorityClass with name none-such was found",
		},
	}
}

// A batch that cannot start is refused with the proof, and when it is created all the same,
// it hangs for the reason that was told.
func TestAtomicImpossible(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	for _, h := range hangings() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			batch := strings.ReplaceAll(h.batch, "NAMESPACE", ns)
			d := foreseen(t, c.Kubeconfig, ns, batch)
			if d.Verdict != "impossible" || !d.has("impossible", h.topic, "", h.words...) {
				t.Fatalf("no proof of %s with %q in\n%s", h.topic, h.words, d.said())
			}
			hangs(t, c, ns, h, batch)
		})
	}
}

// hangs creates a batch, and waits until it hangs as it should.
func hangs(t *testing.T, c *cluster.Cluster, ns string, h hanging, batch string) {
	t.Helper()
	if h.unschedulable == "" && h.refused == "" {
		return
	}
	// The workload is the last of the batch.
	before, workload := "", namespaced(batch, ns)
	if i := strings.LastIndex(workload, "\n---\n"); i >= 0 {
		before, workload = workload[:i], workload[i:]
	}
	applyText(t, c, before)
	cluster.Eventually(t, limit, func() error { return admissionKnows(t, c, ns) })
	applyText(t, c, workload)
	cluster.Eventually(t, limit, func() error {
		if h.refused != "" {
			return refusedPod(t, c, ns, h.refused)
		}
		return unschedulablePod(t, c, ns, h.unschedulable)
	})
}

// admissionKnows says whether the quotas and LimitRanges of a namespace hold. Admission
// learns of them by watches of its own, and lets pods through until then.
func admissionKnows(t *testing.T, c *cluster.Cluster, ns string) error {
	quotas, err := admin(c).CoreV1().ResourceQuotas(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range quotas.Items {
		if len(quotas.Items[i].Status.Used) == 0 {
			return fmt.Errorf("quota %s is not counted yet", quotas.Items[i].Name)
		}
	}
	ranges, err := admin(c).CoreV1().LimitRanges(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(ranges.Items) == 0 {
		return err
	}
	much := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1k")}
	_, err = admin(c).CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "much"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "much", Image: "much", Resources: corev1.ResourceRequirements{Limits: much}}}},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || !strings.Contains(err.Error(), "maximum cpu usage") {
		return fmt.Errorf("the LimitRange does not hold yet: %w", err)
	}
	return nil
}

// refusedPod looks for what the controller of a Deployment says of the pods that it may
// not make.
func refusedPod(t *testing.T, c *cluster.Cluster, ns, words string) error {
	sets, err := admin(c).AppsV1().ReplicaSets(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	var said []string
	for i := range sets.Items {
		for _, cond := range sets.Items[i].Status.Conditions {
			if strings.Contains(cond.Message, words) && cond.Status == corev1.ConditionTrue {
				return nil
			}
			said = append(said, cond.Message)
		}
	}
	return fmt.Errorf("no pod is refused with %q: %q", words, said)
}

func unschedulablePod(t *testing.T, c *cluster.Cluster, ns, words string) error {
	pods, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	var said []string
	for i := range pods.Items {
		for _, cond := range pods.Items[i].Status.Conditions {
			if cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionFalse && strings.Contains(cond.Message, words) {
				return nil
			}
			said = append(said, cond.Message)
		}
	}
	return fmt.Errorf("no pod waits with %q: %q", words, said)
}

// A taint keeps pods off the one node that their selector takes.
func TestAtomicTaint(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	nodes := admin(c).CoreV1().Nodes()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"pool": ns}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "dedicated", Value: ns, Effect: corev1.TaintEffectNoSchedule}}},
	}
	if _, err := nodes.Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, nodes.Delete(context.Background(), ns, metav1.DeleteOptions{}))
	})
	h := hanging{unschedulable: "untolerated taint"}
	batch := webOf(1, "nodeSelector: {pool: "+ns+"}, "+plainContainer)
	d := foreseen(t, c.Kubeconfig, ns, batch)
	if d.Verdict != "impossible" || !d.has("impossible", "scheduling", "") {
		t.Fatal(d.said())
	}
	hangs(t, c, ns, h, batch)
}

// TestAtomicWritesNothing: every request that would write is a dry run, and nothing of the
// batch is there afterwards.
func TestAtomicWritesNothing(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	kubeconfig := userOf(t, c, "tries-in-"+ns)
	since := time.Now()
	batch := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n" + webOf(2, plainContainer)
	d := foreseen(t, kubeconfig, ns, batch)
	if d.Verdict != "fits" {
		t.Fatal(d.said())
	}
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	for _, e := range events {
		if e.User != "tries-in-"+ns || slices.Contains([]string{"get", "list"}, e.Verb) {
			continue
		}
		tried[e.Verb+" "+e.Object.Resource]++
		if !strings.Contains(e.URI, "dryRun=All") {
			t.Errorf("%s %s is no dry run", e.Verb, e.URI)
		}
	}
	if want := map[string]int{"create configmaps": 1, "create deployments": 1, "create pods": 1}; fmt.Sprint(tried) != fmt.Sprint(want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	if _, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "conf", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the ConfigMap is there: %v", err)
	}
}

// userOf makes a user who may do everything, and whose requests can be told from others'.
func userOf(t *testing.T, c *cluster.Cluster, name string) string {
	t.Helper()
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	userOfAll(t, c, name, rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		return err
	})
	return kubeconfig
}

// Who may look and not create is told so, and gets no verdict that a dry run would give.
func TestAtomicWithoutRights(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	kubeconfig, err := c.User("looks-at-" + ns)
	if err != nil {
		t.Fatal(err)
	}
	userOfAll(t, c, "looks-at-"+ns, rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	batch := webOf(1, plainContainer)
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		d := foreseen(t, kubeconfig, ns, batch)
		if d.Verdict != "unknown" || !d.has("unknown", "admission", "Deployment.apps/"+ns+"/web", "you do not have permission") {
			return fmt.Errorf("%s", d.said())
		}
		return nil
	})
}

// What a custom resource runs is told by its footprint, in a batch that brings its
// definition.
func TestAtomicFootprint(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	group := ns + ".example.org"
	batch := strings.NewReplacer("GROUP", group).Replace(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Shop, plural: shops, singular: shop, listKind: ShopList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [size], properties: {size: {type: integer}}}}}}}
---
apiVersion: GROUP/v1
kind: Shop
metadata:
  name: one
  annotations: {sysop.dev/footprint: "[{replicas: 2, requests: {cpu: CPU}}]"}
spec: {size: SIZE}
`)
	ask := func(cpu, size string) foreseenDocument {
		return foreseen(t, c.Kubeconfig, ns, strings.NewReplacer("CPU", cpu, "SIZE", size).Replace(batch))
	}
	if d := ask("10m", "3"); d.Verdict != "fits" || d.Pods != 2 {
		t.Errorf("a small one: %s", d.said())
	}
	if d := ask("4k", "3"); !d.has("impossible", "scheduling", "", "cpu") {
		t.Errorf("a large one: %s", d.said())
	}
	if d := ask("10m", "many"); !d.has("impossible", "admission", "Shop."+group+"/"+ns+"/one", "size") {
		t.Errorf("one that its schema refuses: %s", d.said())
	}
}
