package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// storageCase is a few pods that use claims, on two nodes of their own, and what is said of
// them: by Place, and by the scheduler of those that stay.
type storageCase struct {
	name    string
	objects string
	// pods are how many there are, and claim is the name of each one's claim; N is its
	// number.
	pods    int
	claim   string
	verdict schedule.Verdict
	reason  string
	words   string
}

const storageNode = `
apiVersion: v1
kind: Node
metadata: {name: CASE-ZONE, labels: {case: CASE, kubernetes.io/hostname: CASE-ZONE, topology.kubernetes.io/zone: "ZONE"}}
spec: {taints: [{key: case, value: CASE, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}, capacity: {cpu: "4", memory: 8Gi, pods: "20"}}
---`

const storageClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: NAME, namespace: storage}
spec: {accessModes: [MODE], resources: {requests: {storage: 1Gi}}SPEC}
---`

const storageVolume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: NAME, labels: {LABELS}}
spec:
  accessModes: [MODE]
  capacity: {storage: 1Gi}
  csi: {driver: csi.example.com, volumeHandle: NAME}
  storageClassName: CLASS
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [AT]}]}]}}
---`

const storageClasses = `
apiVersion: v1
kind: Namespace
metadata: {name: storage}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: elsewhere}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [mars]}]}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: pooled}
provisioner: pools.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: pools.example.com}
spec: {storageCapacity: true}
---`

func storageClaimOf(name, mode, spec string) string {
	return strings.NewReplacer("NAME", name, "MODE", mode, "SPEC", spec).Replace(storageClaim)
}

// storageVolumeOf makes a volume for one node; the classes of local ones differ, so that
// cases do not take each other's.
func storageVolumeOf(name, mode, class, at, labels string) string {
	return strings.NewReplacer("NAME", name, "MODE", mode, "CLASS", class, "AT", at, "LABELS", labels).Replace(storageVolume)
}

func localClass(name string) string {
	return fmt.Sprintf("\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n---", name)
}

func storageCases() []storageCase {
	const rwo, rwop = "ReadWriteOnce", "ReadWriteOncePod"
	bound := func(claim, volume, mode, at, labels string) string {
		return storageVolumeOf(volume, mode, "by-hand", at, labels) + storageClaimOf(claim, mode, ", storageClassName: by-hand, volumeName: "+volume)
	}
	return []storageCase{
		{"missing", "", 1, "none", schedule.DoesNotFit, "ClaimNotFound", `persistentvolumeclaim "none" not found`},
		{"classless", storageClaimOf("classless", rwo, ""), 1, "classless", schedule.DoesNotFit, "ClaimUnbound", "unbound immediate PersistentVolumeClaims"},
		{"unknown", storageClaimOf("unknown", rwo, ", storageClassName: unheard-of"), 1, "unknown", schedule.DoesNotFit, "ClaimUnbound", "unbound immediate PersistentVolumeClaims"},
		{"novolume", storageClaimOf("novolume", rwo, ", storageClassName: local"), 1, "novolume", schedule.DoesNotFit, "NoVolume", "didn't find available persistent volumes to bind"},
		{"topology", storageClaimOf("topology", rwo, ", storageClassName: elsewhere"), 1, "topology", schedule.DoesNotFit, "VolumeTopology", "didn't find available persistent volumes to bind"},
		{"capacity", storageClaimOf("capacity", rwo, ", storageClassName: pooled"), 1, "capacity", schedule.DoesNotFit, "StorageCapacity", "did not have enough free storage"},
		{"bound", bound("bound", "volume-bound", rwo, "bound-x", ""), 2, "bound", schedule.Fits, "", ""},
		{"gone", bound("gone", "volume-gone", rwo, "no-such-node", ""), 1, "gone", schedule.DoesNotFit, "VolumeNodeAffinity", "didn't match PersistentVolume's node affinity"},
		{"zoned", bound("zoned", "volume-zoned", rwo, "zoned-x", "topology.kubernetes.io/zone: mars"), 1, "zoned", schedule.DoesNotFit, "VolumeNodeAffinity", "no available volume zone"},
		{"single", bound("single", "volume-single", rwop, "single-x", ""), 2, "single", schedule.DoesNotFit, "ClaimInUse", "ReadWriteOncePod"},
		{
			"few", localClass("few") + storageVolumeOf("volume-few", rwo, "few", "few-x", "") + storageClaimOf("few-0", rwo, ", storageClassName: few") + storageClaimOf("few-1", rwo, ", storageClassName: few"),
			2, "few-N", schedule.DoesNotFit, "NoVolume", "didn't find available persistent volumes to bind",
		},
		{
			"enough", localClass("enough") + storageVolumeOf("volume-1", rwo, "enough", "enough-x", "") + storageVolumeOf("volume-2", rwo, "enough", "enough-y", "") + storageClaimOf("enough-0", rwo, ", storageClassName: enough") + storageClaimOf("enough-1", rwo, ", storageClassName: enough"),
			2, "enough-N", schedule.Fits, "", "",
		},
	}
}

// TestScheduleStorage compares what is foreseen of pods with claims with what the real
// scheduler and the real controller of volumes do.
func TestScheduleStorage(t *testing.T) {
	t.Parallel()
	c := cluster.StartFor(t, cluster.Options{Scheduler: true, ControllerManager: true})
	client := admin(c)
	text := storageClasses
	for _, s := range storageCases() {
		for _, zone := range []string{"x", "y"} {
			text += strings.NewReplacer("CASE", s.name, "ZONE", zone).Replace(storageNode)
		}
		text += s.objects
	}
	applyText(t, c, text)
	cluster.Eventually(t, limit, func() error { return storageReady(t.Context(), client) })
	question := storageQuestion(t, client)
	for _, s := range storageCases() {
		answer := question.Place(s.batch())
		if answer.Verdict != s.verdict || s.reason != "" && (len(answer.Proofs) != 1 || answer.Proofs[0].Reason != s.reason) {
			t.Errorf("%s: %v, want %v for %s: %+v %q", s.name, answer.Verdict, s.verdict, s.reason, answer.Proofs, answer.Unknown)
		}
		for _, b := range s.batch() {
			if _, err := client.CoreV1().Pods("storage").Create(t.Context(), b.Pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cluster.Eventually(t, limit, func() error {
		var all []error
		for _, s := range storageCases() {
			all = append(all, s.judge(t.Context(), client))
		}
		return errors.Join(all...)
	})
}

func (s storageCase) batch() []schedule.Pod {
	var out []schedule.Pod
	for i := range s.pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: fmt.Sprintf("%s-%d", s.name, i)}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app"}}
		pod.Spec.NodeSelector = map[string]string{"case": s.name}
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		claim := strings.ReplaceAll(s.claim, "N", fmt.Sprint(i))
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		out = append(out, schedule.Pod{Name: pod.Name, Pod: pod})
	}
	return out
}

// storageReady waits for the controller to bind what names its volume, and for the service
// account of the namespace.
func storageReady(ctx context.Context, client kubernetes.Interface) error {
	claims, err := client.CoreV1().PersistentVolumeClaims("storage").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, c := range claims.Items {
		if c.Spec.VolumeName != "" && c.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim %s is %s", c.Name, c.Status.Phase)
		}
	}
	volumes, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, v := range volumes.Items {
		if v.Status.Phase == "" || v.Status.Phase == corev1.VolumePending {
			return fmt.Errorf("volume %s is %s", v.Name, v.Status.Phase)
		}
	}
	_, err = client.CoreV1().ServiceAccounts("storage").Get(ctx, "default", metav1.GetOptions{})
	return err
}

func storageQuestion(t *testing.T, client kubernetes.Interface) *schedule.Cluster {
	t.Helper()
	q := &schedule.Cluster{}
	ctx, all := t.Context(), metav1.ListOptions{}
	nodes, err1 := client.CoreV1().Nodes().List(ctx, all)
	claims, err2 := client.CoreV1().PersistentVolumeClaims("").List(ctx, all)
	volumes, err3 := client.CoreV1().PersistentVolumes().List(ctx, all)
	classes, err4 := client.StorageV1().StorageClasses().List(ctx, all)
	drivers, err5 := client.StorageV1().CSIDrivers().List(ctx, all)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		q.Nodes = append(q.Nodes, &nodes.Items[i])
	}
	for i := range claims.Items {
		q.Claims = append(q.Claims, &claims.Items[i])
	}
	for i := range volumes.Items {
		q.Volumes = append(q.Volumes, &volumes.Items[i])
	}
	for i := range classes.Items {
		q.Classes = append(q.Classes, &classes.Items[i])
	}
	for i := range drivers.Items {
		q.CSIDrivers = append(q.CSIDrivers, &drivers.Items[i])
	}
	return q
}

func (s storageCase) judge(ctx context.Context, client kubernetes.Interface) error {
	pods, err := client.CoreV1().Pods("storage").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var left []string
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName == "" && p.Spec.NodeSelector["case"] == s.name {
			left = append(left, unscheduled(p))
		}
	}
	said := slices.ContainsFunc(left, func(w string) bool { return strings.Contains(w, s.words) })
	if s.verdict == schedule.Fits && len(left) > 0 || s.verdict == schedule.DoesNotFit && !said {
		return fmt.Errorf("%s is said to be %v; pods stay: %q", s.name, s.verdict, left)
	}
	return nil
}
