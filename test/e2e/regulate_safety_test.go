package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

func configOf(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func journalStore(t *testing.T, config *rest.Config, ns string) *regulate.ConfigMapStore {
	t.Helper()
	s, err := regulate.NewStore(config, "shop", ns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loaded(t *testing.T, s *regulate.ConfigMapStore) *regulate.Journal {
	t.Helper()
	j, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func heldBy(signal string, operations int) []*regulate.Hold {
	h := &regulate.Hold{ID: 1, App: "web", Signal: signal, Phase: regulate.Held, At: time.Unix(1e9, 0).UTC()}
	for i := range operations {
		h.Operations = append(h.Operations, &regulate.Operation{Action: "patch", Text: fmt.Sprintf("operation %d", i), State: regulate.Done, Target: regulate.Target{APIVersion: "example.com/v1", Kind: "Drain", Name: "one"}, Changes: []patch.Change{{Path: "/spec/x", ExistedBefore: true, Before: int64(1) << 62, ExistsAfter: true, After: true}}})
	}
	return []*regulate.Hold{h}
}

// The journal on a real server: of many who make it first one wins, of two who write it one
// does, and a write whose answer is lost counts once.
func TestRegulateJournal(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	stores, journals := make([]*regulate.ConfigMapStore, 8), make([]*regulate.Journal, 8)
	for i := range stores {
		stores[i] = journalStore(t, c.Config(), ns)
		journals[i] = loaded(t, stores[i])
	}
	for i, s := range stores {
		j := journals[i]
		j.Holds = heldBy(fmt.Sprint("drain-", i), 1)
		wg.Go(func() {
			switch err := s.Save(t.Context(), j); {
			case err == nil:
				won.Add(1)
			case errors.As(err, new(*journal.ConflictError)):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 7 {
		t.Fatalf("%d made the journal first, %d lost", won.Load(), lost.Load())
	}
	a, b := journalStore(t, c.Config(), ns), journalStore(t, c.Config(), ns)
	ja, jb := loaded(t, a), loaded(t, b)
	ja.Holds, jb.Holds = heldBy("Stop", 1), nil
	if err := a.Save(t.Context(), ja); err != nil {
		t.Fatal(err)
	}
	if err := b.Save(t.Context(), jb); !errors.As(err, new(*journal.ConflictError)) {
		t.Fatalf("the second of two: %v", err)
	}
	maps := admin(c).CoreV1().ConfigMaps(ns)
	o, err := maps.Get(t.Context(), "sysop-shop-journal", metav1.GetOptions{})
	if err != nil || o.Labels["sysop.dev/system"] != "shop" || !strings.HasPrefix(o.Data["held"], "web Stop since 2001-09-09") {
		t.Fatalf("%v, labels %v, held %q", err, o.Labels, o.Data["held"])
	}
	if !slices.ContainsFunc(o.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "sysop.dev/regulate" && m.Operation == metav1.ManagedFieldsOperationUpdate
	}) {
		t.Errorf("it is not regulation's: %v", o.ManagedFields)
	}
	p := proxy(t, c, "")
	through := journalStore(t, configOf(t, p.Kubeconfig()), ns)
	j := loaded(t, through)
	updates := func(r *http.Request) bool { return r.Method == http.MethodPut }
	for n, f := range []faults.Fault{
		{Match: updates, Times: 1, Effect: faults.Cut(0)},
		{Match: updates, Times: 3, Effect: faults.InternalError()},
		{Match: updates, Times: 2, Effect: faults.TooManyRequests(time.Second)},
		{Match: updates, Times: 1, Effect: faults.Cut(50)},
	} {
		p.Reset()
		p.Inject(f)
		j.Holds = heldBy("Stop", n)
		if err := through.Save(t.Context(), j); err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
		if got := loaded(t, a); len(got.Holds[0].Operations) != n {
			t.Errorf("fault %d: %d operations are there", n, len(got.Holds[0].Operations))
		}
	}
	p.Reset()
	j.Holds = heldBy("Stop", 5000) // compressed, and small again
	if err := through.Save(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, a); len(got.Holds[0].Operations) != 5000 || got.Holds[0].Operations[7].Changes[0].Before != int64(1)<<62 {
		t.Errorf("a large journal does not come back")
	}
	j.Holds = nil
	if err := through.Save(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if o, err = maps.Get(t.Context(), "sysop-shop-journal", metav1.GetOptions{}); err != nil || len(o.BinaryData) != 0 || len(o.Data) != 3 {
		t.Errorf("%v, %d binary keys, keys %v", err, len(o.BinaryData), o.Data)
	}
	if err := maps.Delete(t.Context(), "sysop-shop-journal", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	j.Holds = heldBy("Stop", 1)
	if err := through.Save(t.Context(), j); err != nil || len(loaded(t, a).Holds) != 1 {
		t.Errorf("after it was deleted: %v", err)
	}
}

// Never two are in, while answers fail; who is cut off is followed by another one.
func TestRegulateLock(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	p := proxy(t, c, "")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test wants the same each time
	p.Inject(faults.Fault{Match: func(*http.Request) bool { return random.IntN(12) == 0 }, Effect: faults.Cut(0)})
	p.Inject(faults.Fault{Match: func(*http.Request) bool { return random.IntN(12) == 0 }, Effect: faults.InternalError()})
	config := configOf(t, p.Kubeconfig())
	var inside, turns, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 4 {
		l, err := regulate.NewLock(config, "shop", ns, journal.LeaseOptions{Holder: fmt.Sprint("run ", i), Duration: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for done := 0; done < 3; {
				err := l.Do(t.Context(), func(ctx context.Context) error {
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d are in", n)
					}
					defer inside.Add(-1)
					turns.Add(1)
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
					return nil
				})
				switch {
				case err == nil:
					done++
				case errors.As(err, new(*journal.LostError)):
					lost.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d turns, %d lost", turns.Load(), lost.Load())
	lease, err := admin(c).CoordinationV1().Leases(ns).Get(t.Context(), "sysop-shop", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" || lease.Labels["sysop.dev/system"] != "shop" {
		t.Errorf("%v: in the end %+v", err, lease)
	}
	killedHolder(t, c, ns)
}

// renewed says whether a lease was renewed through the proxy.
func renewed(p *faults.Proxy) bool {
	return slices.ContainsFunc(p.Requests(), func(q faults.Request) bool {
		return q.Method == http.MethodPut && strings.HasPrefix(q.Path, "/apis/coordination.k8s.io/") && q.Done
	})
}

func killedHolder(t *testing.T, c *cluster.Cluster, ns string) {
	p := proxy(t, c, "")
	first, err := regulate.NewLock(configOf(t, p.Kubeconfig()), "shop", ns, journal.LeaseOptions{Holder: "first", Duration: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 9)
	second, err := regulate.NewLock(c.Config(), "shop", ns, journal.LeaseOptions{Holder: "second", Duration: 2 * time.Second, Waiting: func(by string, _ time.Time) { told <- by }})
	if err != nil {
		t.Fatal(err)
	}
	in := make(chan struct{})
	var stopped, began time.Time
	var wg sync.WaitGroup
	wg.Go(func() {
		err := first.Do(t.Context(), func(ctx context.Context) error {
			close(in)
			p.Reset()
			for ctx.Err() == nil && !renewed(p) {
				time.Sleep(50 * time.Millisecond)
			}
			p.Inject(faults.Fault{Effect: faults.Hang()}) // for good
			<-ctx.Done()
			stopped = time.Now()
			return ctx.Err()
		})
		if !errors.As(err, new(*journal.LostError)) {
			t.Errorf("the first: %v", err)
		}
	})
	<-in
	wg.Go(func() {
		if err := second.Do(t.Context(), func(context.Context) error { began = time.Now(); return nil }); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	if !stopped.Before(began) {
		t.Errorf("the second began %s before the first had stopped", stopped.Sub(began))
	}
	if by := <-told; by != "first" {
		t.Errorf("it waited for %q", by)
	}
}

// installed is what a watch of a system with two apps is given in a namespace.
func installed(ns string) regulator.WatchDeployment {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: ns, Name: "web"}
	db := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: ns, Name: "db"}
	class := object.Ref{Group: "storage.k8s.io", Kind: "StorageClass", Name: "fast"}
	return regulator.WatchDeployment{
		System: &system.System{Name: "shop", Namespace: ns, Apps: []system.App{
			{Name: "web", On: map[string][]system.Action{"Stop": {{Scale: &system.Scale{}}, {HTTP: &system.HTTP{URL: "https://x", SecretName: "hook", SecretKey: "k"}}, {Job: &system.Job{}}}}},
			{Name: "db"},
		}},
		World: &regulate.SystemState{Apps: []regulate.AppState{
			{Name: "web", Actions: map[string][]regulate.Resolved{"Stop": {{Index: 0, Name: "scale", Targets: []object.Ref{web}}, {Index: 1, Name: "http"}, {Index: 2, Name: "job"}}}},
			{Name: "db", Actions: map[string][]regulate.Resolved{"Stop": {{Name: "preset", Default: true, Targets: []object.Ref{db, class}}}}},
		}},
		Kinds: object.NewKinds([]object.Resource{
			{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
			{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true},
			{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Plural: "storageclasses"},
		}),
		Namespace: ns, Image: "registry.example.com/kubectl-sysop@sha256:" + strings.Repeat("ab", 32), Version: "(devel)", Replicas: 2,
		Reads: []incluster.Resource{{Group: "apps", Resource: "deployments", Namespace: ns}, {Resource: "pods", Namespace: ns}, {Resource: "secrets", Namespace: ns}, {Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}},
	}
}

// The manifests are admitted, also where Pod Security is restricted, and give the account
// what regulation takes and nothing else.
func TestRegulateManifests(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	in := installed(ns)
	list := regulator.DeploymentManifests(in)
	text := manifestYAML(t, list)
	if err := restricted(t, c, ns); err != nil {
		t.Fatal(err)
	}
	dynamicClient, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		o := m.Object
		if o.GetKind() != "Deployment" {
			continue
		}
		spec, _, _ := unstructured.NestedMap(o.Object, "spec", "template", "spec")
		delete(spec, "serviceAccountName") // it is made below
		pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x", "namespace": ns}, "spec": spec}}
		_, err := dynamicClient.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !strings.Contains(err.Error(), "serviceaccount") {
			t.Errorf("a pod of it: %v", err)
		}
	}
	applyText(t, c, text)
	t.Cleanup(func() {
		rbac := admin(c).RbacV1()
		deleted(t, rbac.ClusterRoleBindings().Delete(context.Background(), ns+"-sysop-shop-watch", metav1.DeleteOptions{}))
		deleted(t, rbac.ClusterRoles().Delete(context.Background(), ns+"-sysop-shop-watch", metav1.DeleteOptions{}))
		for _, name := range []string{"default"} {
			deleted(t, rbac.RoleBindings(name).Delete(context.Background(), ns+"-sysop-shop-watch", metav1.DeleteOptions{}))
			deleted(t, rbac.Roles(name).Delete(context.Background(), ns+"-sysop-shop-watch", metav1.DeleteOptions{}))
		}
	})
	account := c.Config()
	account.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + ns + ":sysop-shop-watch", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + ns, "system:authenticated"}}
	rights := regulate.AllRights(in.System, in.World, in.Kinds, ns)
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		missing, err := permission.Review(t.Context(), account, rights)
		return errors.Join(err, permission.Refuse(missing))
	})
	notGranted := []permission.Permission{
		{Verb: "get", Resource: "secrets", Namespace: ns, Name: "other"},
		{Verb: "list", Resource: "secrets", Namespace: ns},
		{Verb: "get", Resource: "secrets", Namespace: "kube-system", Name: "hook"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: ns, Name: "other"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "default", Name: "web"},
		{Verb: "delete", Group: "apps", Resource: "deployments", Namespace: ns, Name: "web"},
		{Verb: "patch", Resource: "configmaps", Namespace: ns, Name: "other"},
		{Verb: "delete", Resource: "configmaps", Namespace: ns, Name: "sysop-shop-journal"},
		{Verb: "create", Resource: "pods", Namespace: ns},
		{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: ns, Name: "sysop-bank"},
		{Verb: "list", Resource: "pods"},
		{Verb: "patch", Group: "storage.k8s.io", Resource: "storageclasses", Name: "slow"},
		{Verb: "impersonate", Resource: "users"},
		{Verb: "escalate", Group: "rbac.authorization.k8s.io", Resource: "roles", Namespace: ns},
	}
	missing, err := permission.Review(t.Context(), account, notGranted)
	if err != nil || len(missing) != len(notGranted) {
		t.Errorf("%v: of what it must not, it may all but %d of %d: %v", err, len(missing), len(notGranted), permission.Refuse(missing))
	}
	account.Impersonate.UserName = "nobody"
	missing, err = permission.Review(t.Context(), account, rights)
	refusal := new(permission.MissingError)
	if err != nil || !errors.As(permission.Refuse(missing), &refusal) || !strings.Contains(refusal.Error(), "deployments.apps/scale web in "+ns) {
		t.Errorf("nobody: %v, %v", err, refusal)
	}
	file := filepath.Join(t.TempDir(), "watch.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sysop(t, c.Kubeconfig, "check", "--atomic", "-f", file, "-n", ns)
	t.Logf("check --atomic: %d\n%s%s", r.code, r.stdout, r.stderr)
	if r.code != 0 {
		t.Errorf("check --atomic ends with %d", r.code)
	}
}

func manifestYAML(t *testing.T, list []incluster.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	for _, m := range list {
		text, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.String()
}

// restricted has Pod Security refuse in a namespace what is not restricted.
func restricted(t *testing.T, c *cluster.Cluster, ns string) error {
	spaces := admin(c).CoreV1().Namespaces()
	o, err := spaces.Get(t.Context(), ns, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	o.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	_, err = spaces.Update(t.Context(), o, metav1.UpdateOptions{})
	return err
}

// Events about what has a namespace, and about what has none, are taken as they are made.
func TestRegulateEvents(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	recorder, err := journal.NewRecorder(c.Config(), journal.RecorderOptions{Controller: regulate.FieldManager, Instance: journal.Holder(), Warn: func(s string) { t.Error(s) }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		kind := []journal.EventKind{journal.EventFailed, journal.EventDone}[i%2]
		web := &journal.EventObject{APIVersion: "apps/v1", Kind: "Deployment", Namespace: ns, Name: fmt.Sprint("web-", i), UID: fmt.Sprint(i)}
		recorder.Receive(journal.Event{At: time.Now(), Kind: kind, Signal: "Stopped", Action: "preset", Object: web, Message: strings.Repeat("é", 600)})
	}
	mark := "zone-of-" + ns
	node := &journal.EventObject{APIVersion: "v1", Kind: "Node", Name: mark, UID: "1"}
	recorder.Receive(journal.Event{At: time.Now(), Kind: journal.EventUndone, Signal: "Recovered", Object: node})
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	recorder.Flush(ctx)
	list, err := admin(c).EventsV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "reportingController=sysop.dev/regulate"})
	if err != nil || len(list.Items) != 200 {
		t.Errorf("%v: %d events, want 200", err, len(list.Items))
	}
	of, err := admin(c).CoreV1().Events(corev1.NamespaceDefault).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + mark})
	if err != nil || len(of.Items) != 1 || of.Items[0].Reason != "Recovered" {
		t.Errorf("%v: of the node %+v", err, of)
	}
	if err == nil && len(of.Items) == 1 {
		if err := admin(c).CoreV1().Events(corev1.NamespaceDefault).Delete(t.Context(), of.Items[0].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}
