package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// csi plays a CSI driver: its snapshotter (the sidecar, not the snapshot controller, which is the
// real one) makes the contents ready. kwok provisions the volumes; an admission policy makes them
// those of the driver.
type csi struct {
	t      *testing.T
	c      *cluster.Cluster
	client dynamic.Interface
	mu     sync.Mutex
	broken bool // snapshots fail
}

var (
	snapshotsGVR = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshots"}
	contentsGVR  = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}
)

const csiClasses = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: {name: fast}
driver: csi.example.com
deletionPolicy: Retain
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: volumes-of-csi}
spec:
  reinvocationPolicy: Never
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [persistentvolumes]}]
  matchConditions: [{name: class, expression: 'object.spec.storageClassName == "fast" && has(object.spec.hostPath)'}]
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "remove", path: "/spec/hostPath"},
        JSONPatch{op: "add", path: "/spec/csi", value: Object.spec.csi{driver: "csi.example.com", volumeHandle: object.metadata.name}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: volumes-of-csi}
spec: {policyName: volumes-of-csi}
`

// startCSI serves the published definitions of VolumeSnapshots, and starts the snapshot controller
// and the driver.
func startCSI(t *testing.T, c *cluster.Cluster) *csi {
	t.Helper()
	built := buildSnapshots()
	if built.err != nil {
		t.Fatal(built.err)
	}
	files, err := filepath.Glob(filepath.Join(built.dir, "config", "crd", "*snapshot.storage.k8s.io_*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the module has no definitions: %v", err)
	}
	definitions, err := apply.ReadFiles(files...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), definitions); err != nil {
		t.Fatal(err)
	}
	applyText(t, c, csiClasses)
	awaitPolicy(t, c)
	kubeconfig, err := c.User("snapshot-controller", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	controller := exec.CommandContext(ctx, built.program, "--kubeconfig="+kubeconfig, "--leader-election=false", "--worker-threads=2", "--retry-interval-start=200ms")
	logs := &strings.Builder{}
	controller.Stdout, controller.Stderr = logs, logs
	if err := controller.Start(); err != nil {
		t.Fatal(err)
	}
	d := &csi{t: t, c: c, client: dynamic.NewForConfigOrDie(c.Config())}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.play(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		_ = controller.Wait() // it was killed
		if t.Failed() {
			t.Logf("the snapshot controller says:\n%s", logs)
		}
	})
	return d
}

// builtSnapshots are the snapshot controller and the directory of the module with the definitions.
type builtSnapshots struct {
	program, dir string
	err          error
}

// buildSnapshots builds the snapshot controller, once.
var buildSnapshots = sync.OnceValue(func() (out builtSnapshots) {
	command := func(args ...string) string {
		cmd := exec.CommandContext(context.Background(), "go", args...)
		cmd.Dir = "../cluster/snapshots"
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		out.err = errors.Join(out.err, err)
		return strings.TrimSpace(string(text))
	}
	out.program = plugin + "-snapshot-controller"
	command("build", "-ldflags", "-s -w", "-o", out.program, "github.com/kubernetes-csi/external-snapshotter/v8/cmd/snapshot-controller")
	out.dir = command("list", "-m", "-f", "{{.Dir}}", "github.com/kubernetes-csi/external-snapshotter/client/v8")
	return out
})

// awaitPolicy waits until the API server applies the policy on volumes.
func awaitPolicy(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "probe-of-csi"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, StorageClassName: "fast",
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/probe"}},
		},
	}
	cluster.Eventually(t, limit, func() error {
		got, err := admin(c).CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && got.Spec.CSI == nil {
			err = errors.New("the policy is not active yet")
		}
		return err
	})
}

// play looks for work until it is stopped.
func (d *csi) play(ctx context.Context) {
	for ctx.Err() == nil {
		if err := errors.Join(d.snapshot(ctx), d.groups(ctx)); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			d.t.Logf("the CSI driver: %v", err)
		}
		waitBriefly(ctx)
	}
}

// handle is that of the content of a snapshot that is ready; empty before.
func (d *csi) handle(ctx context.Context, namespace, name string) (string, error) {
	snapshot, err := d.client.Resource(snapshotsGVR).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if ready, _, _ := unstructured.NestedBool(snapshot.Object, "status", "readyToUse"); !ready {
		return "", nil
	}
	bound, _, _ := unstructured.NestedString(snapshot.Object, "status", "boundVolumeSnapshotContentName")
	content, err := d.client.Resource(contentsGVR).Get(ctx, bound, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	handle, _, _ := unstructured.NestedString(content.Object, "status", "snapshotHandle")
	return handle, nil
}

// snapshot makes contents ready, and lets go of those that are deleted, as the sidecar of a driver
// does.
func (d *csi) snapshot(ctx context.Context) error {
	d.mu.Lock()
	broken := d.broken
	d.mu.Unlock()
	all, err := d.client.Resource(contentsGVR).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range all.Items {
		content := &all.Items[i]
		if content.GetDeletionTimestamp() != nil {
			if err := d.release(ctx, content); err != nil {
				return err
			}
			continue
		}
		if ready, _, _ := unstructured.NestedBool(content.Object, "status", "readyToUse"); ready {
			continue
		}
		if _, grouped := content.GetAnnotations()[groupSnapshotGroup+"/volumeGroupSnapshotHandle"]; grouped {
			continue // the snapshot controller has its state from that of the group
		}
		handle, given, _ := unstructured.NestedString(content.Object, "spec", "source", "snapshotHandle")
		if !given {
			handle = "snap-" + string(content.GetUID())
		}
		status := map[string]any{"snapshotHandle": handle, "readyToUse": true, "restoreSize": int64(1 << 30), "creationTime": time.Now().UnixNano()}
		if broken {
			status = map[string]any{"readyToUse": false, "error": map[string]any{"message": "the storage is full", "time": time.Now().UTC().Format(time.RFC3339)}}
		}
		content.Object["status"] = status
		if _, err := d.client.Resource(contentsGVR).UpdateStatus(ctx, content, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// release removes the finalizer of a content that no snapshot is bound to.
func (d *csi) release(ctx context.Context, content *unstructured.Unstructured) error {
	bound, _, _ := unstructured.NestedString(content.Object, "spec", "volumeSnapshotRef", "uid")
	if _, free := content.GetAnnotations()["snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"]; bound != "" && !free {
		return nil
	}
	content.SetFinalizers(slices.DeleteFunc(content.GetFinalizers(), func(f string) bool {
		return f == "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	}))
	_, err := d.client.Resource(contentsGVR).Update(ctx, content, metav1.UpdateOptions{})
	return err
}

// fail has snapshots fail, or not any more.
func (d *csi) fail(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = on
}

// policy is what becomes of the data of a snapshot that is deleted.
func (d *csi) policy(name string) {
	d.t.Helper()
	classes := schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"}
	patch := []byte(`{"deletionPolicy":"` + name + `"}`)
	if _, err := d.client.Resource(classes).Patch(context.Background(), "fast", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		d.t.Error(err)
	}
}

// handles are those of the snapshots that the claims of a namespace are made from; empty for none.
func (d *csi) handles(namespace string) map[string]string {
	d.t.Helper()
	claims, err := admin(d.c).CoreV1().PersistentVolumeClaims(namespace).List(d.t.Context(), metav1.ListOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[string]string{}
	for i := range claims.Items {
		out[claims.Items[i].Name] = ""
		if source := claims.Items[i].Spec.DataSource; source != nil {
			if out[claims.Items[i].Name], err = d.handle(d.t.Context(), namespace, source.Name); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	return out
}

// saved are the handles of the snapshots of a backup, by the claims that they are of.
func (d *csi) saved(namespace, backup string) map[string]string {
	d.t.Helper()
	all, err := d.client.Resource(snapshotsGVR).Namespace(namespace).List(d.t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/backup=" + backup})
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[string]string{}
	for i := range all.Items {
		claim, _, _ := unstructured.NestedString(all.Items[i].Object, "spec", "source", "persistentVolumeClaimName")
		if out[claim], err = d.handle(d.t.Context(), namespace, all.Items[i].GetName()); err != nil {
			d.t.Fatal(err)
		}
	}
	return out
}

// snapshots are the names of the VolumeSnapshots of a namespace.
func (d *csi) snapshots(namespace string) (out []string) {
	d.t.Helper()
	all, err := d.client.Resource(snapshotsGVR).Namespace(namespace).List(d.t.Context(), metav1.ListOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range all.Items {
		out = append(out, all.Items[i].GetName())
	}
	return out
}

// bound waits until claims have volumes of the driver.
func (d *csi) bound(namespace string, names ...string) {
	d.t.Helper()
	core := admin(d.c).CoreV1()
	cluster.Eventually(d.t, limit, func() error {
		for _, name := range names {
			claim, err := core.PersistentVolumeClaims(namespace).Get(d.t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			volume, err := core.PersistentVolumes().Get(d.t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if volume.Spec.CSI == nil || claim.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("%s is %s, its volume %v", name, claim.Status.Phase, volume.Spec)
			}
		}
		return nil
	})
}

// waitBriefly is the pause between two looks of what a test plays.
func waitBriefly(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}
