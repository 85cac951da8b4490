package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// policies are three children of one owner: one that blocks its deletion, and has a finalizer,
// one that does not, and one that has another owner.
const policies = `
apiVersion: v1
kind: ConfigMap
metadata: {name: root, namespace: NAMESPACE, uid: 00000000-0000-4000-8000-000000000001}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: NAMESPACE, uid: 00000000-0000-4000-8000-000000000002}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: blocks
  namespace: NAMESPACE
  finalizers: [example.com/hold]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: 00000000-0000-4000-8000-000000000001, blockOwnerDeletion: true}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: loose
  namespace: NAMESPACE
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: 00000000-0000-4000-8000-000000000001}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: NAMESPACE
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: root, uid: 00000000-0000-4000-8000-000000000001, blockOwnerDeletion: true}
  - {apiVersion: v1, kind: ConfigMap, name: other, uid: 00000000-0000-4000-8000-000000000002}
`

// Each propagation policy does what was foretold: what goes, what stays, and who waits for
// whom as long as a finalizer holds a child.
func TestImpactByPolicy(t *testing.T) {
	t.Parallel()
	const root, blocks, loose, both = "ConfigMap/NAMESPACE/root", "ConfigMap/NAMESPACE/blocks", "ConfigMap/NAMESPACE/loose", "ConfigMap/NAMESPACE/shared"
	collected := []string{"deleted " + blocks + " by owner", "deleted " + loose + " by owner", "kept " + both + ": another owner"}
	orphaned := []string{"kept " + blocks + ": orphaned", "kept " + loose + ": orphaned", "kept " + both + ": orphaned"}
	for _, p := range []struct {
		cascade string
		says    []string
		// first is what goes before the finalizer is taken off, and waits what is Terminating
		// until then.
		first, waits []string
		owners       map[string]int // that are left, of those that stay
	}{
		{"background", collected, []string{loose, root}, []string{blocks}, map[string]int{both: 1}},
		{"foreground", collected, []string{loose}, []string{root, blocks}, map[string]int{both: 1}},
		{"orphan", orphaned, []string{root}, nil, map[string]int{blocks: 0, loose: 0, both: 1}},
	} {
		t.Run(p.cascade, func(t *testing.T) {
			t.Parallel()
			c := shared.Cluster(t)
			ns := c.Namespace(t)
			applyText(t, c, strings.ReplaceAll(policies, "NAMESPACE", ns))
			r := newRealm(t, c, ns)
			im := r.asks("ConfigMap/NAMESPACE/root", p.says, "--cascade", p.cascade)
			for _, d := range im.Deletions {
				is := strings.HasSuffix(d.ID, "/blocks")
				if d.Blocks != is || slices.Contains(d.Finalizers, "example.com/hold") != is {
					t.Errorf("%+v: want it blocking and held: %t", d, is)
				}
			}
			before := r.now()
			r.delete(im.Object, p.cascade)
			r.loses(before, p.first...)
			for _, id := range p.waits {
				r.terminates(id)
			}
			for id, n := range p.owners {
				r.owners(id, n)
			}
			r.release("ConfigMap/NAMESPACE/blocks")
			r.loses(before, append(im.Deleted, im.Object)...)
		})
	}
}

// terminates waits until an object is being deleted, and is still there.
func (r *realm) terminates(id string) {
	r.t.Helper()
	at, name := r.of(id)
	cluster.Eventually(r.t, limit, func() error {
		o, err := at.Get(r.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if o.DeletionTimestamp == nil {
			return fmt.Errorf("%s is not being deleted", id)
		}
		return nil
	})
}

// owners waits until an object names so many owners.
func (r *realm) owners(id string, n int) {
	r.t.Helper()
	at, name := r.of(id)
	cluster.Eventually(r.t, limit, func() error {
		o, err := at.Get(r.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(o.OwnerReferences) != n {
			return fmt.Errorf("%s has %d owners, want %d", id, len(o.OwnerReferences), n)
		}
		return nil
	})
}

// release takes the finalizers off an object.
func (r *realm) release(id string) {
	r.t.Helper()
	at, name := r.of(id)
	if _, err := at.Patch(r.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// An object with a finalizer stays, and says by which.
func TestImpactOfFinalizers(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applyText(t, c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: %s, finalizers: [example.com/hold]}}", ns))
	r := newRealm(t, c, ns)
	im := r.asks("ConfigMap/NAMESPACE/held", nil)
	if !slices.Equal(im.Finalizers, []string{"example.com/hold"}) {
		t.Errorf("finalizers %q", im.Finalizers)
	}
	before := r.now()
	r.delete(im.Object, "background")
	r.terminates(im.Object)
	r.loses(before)
	r.release(im.Object)
	r.loses(before, im.Object)
}

// A claim that a pod uses waits for that, as its finalizer says; the pod runs on.
func TestImpactOfClaimInUse(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "impact-claims.yaml")
	applyText(t, c, strings.ReplaceAll(`
apiVersion: v1
kind: Pod
metadata: {name: user, namespace: NAMESPACE}
spec:
  containers: [{name: user, image: registry.example.com/user}]
  volumes: [{name: kept, persistentVolumeClaim: {claimName: kept}}]
`, "NAMESPACE", ns))
	atRest(t, c, ns)
	r := newRealm(t, c, ns)
	const claim, pod = "PersistentVolumeClaim/NAMESPACE/kept", "Pod/NAMESPACE/user"
	im := r.asks(claim, []string{"kept PersistentVolume/NAMESPACE-kept: retained", "breaks on restart " + pod})
	if !slices.Equal(im.Finalizers, []string{"kubernetes.io/pvc-protection"}) {
		t.Errorf("finalizers %q", im.Finalizers)
	}
	before := r.now()
	r.delete(claim, "background")
	r.terminates(claim)
	r.loses(before)
	if p, err := admin(c).CoreV1().Pods(ns).Get(t.Context(), "user", metav1.GetOptions{}); err != nil || p.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod does not run on: %v", errors.Join(err, errors.New(string(p.Status.Phase))))
	}
	r.delete(pod, "background")
	r.loses(before, pod, claim)
	phases(t, c, ns+"-kept", corev1.VolumeReleased)
}
