package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// vault is an operator whose chart has a StatefulSet with claims, all by the name of its namespace.
type vault struct {
	*installer
	name, catalog string
}

// newVault writes its catalogue, with what the StatefulSet has its claims do when it is deleted
// and when it is scaled down.
func newVault(t *testing.T, c *cluster.Cluster, unit, deleted, scaled string) *vault {
	t.Helper()
	v := &vault{installer: newInstaller(t, c, unraced(t), ""), name: "vault-" + unit, catalog: store(t, "beside-"+unit)}
	chart := strings.NewReplacer("  serviceName: NAME\n  replicas: 2\n", `  serviceName: NAME
  podManagementPolicy: Parallel
  replicas: {{ .Values.replicas | default 2 }}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: `+deleted+`, whenScaled: `+scaled+`}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`).Replace(storeChart("NAME"))
	archive := repository.Archive(t, v.name, map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: " + v.name + "\nversion: 1.0.0\n",
		"templates/program.yaml": strings.ReplaceAll(chart, "NAME", v.name),
	})
	entry := strings.ReplaceAll(`apiVersion: sysop.dev/v1alpha1
kind: Operator
name: NAME
title: Vault
description: Keeps things for long, for tests.
source: [https://example.com/vault]
versions:
- version: 1.0.0
  namespace: NAME
  source:
    chart: {path: NAME.tgz, name: NAME, version: 1.0.0}
`, "NAME", v.name)
	for file, text := range map[string]string{v.name + ".tgz": string(archive), v.name + ".yaml": entry} {
		if err := os.WriteFile(filepath.Join(v.catalog, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (v *vault) args(command string, more ...string) []string {
	return append([]string{command, v.name, "--catalog", v.catalog, "--yes", "--force"}, more...) // the class of its claims is not there
}

func (v *vault) claim(n int) string { return fmt.Sprintf("data-%s-%d", v.name, n) }

func (v *vault) claimRef(n int) string {
	return "PersistentVolumeClaim/" + v.name + "/" + v.claim(n)
}

// owned waits until the claims are owned by somebody: the StatefulSet, as its policy says.
func (v *vault) owned(numbers ...int) {
	v.t.Helper()
	cluster.Eventually(v.t, limit, func() error {
		for _, n := range numbers {
			is, err := admin(v.c).CoreV1().PersistentVolumeClaims(v.name).Get(v.t.Context(), v.claim(n), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(is.OwnerReferences) == 0 {
				return errors.New(v.claim(n) + " has no owner yet")
			}
		}
		return nil
	})
}

// gone waits until the claims are gone.
func (v *vault) gone(numbers ...int) {
	v.t.Helper()
	cluster.Eventually(v.t, limit, func() error {
		for _, n := range numbers {
			if _, err := admin(v.c).CoreV1().PersistentVolumeClaims(v.name).Get(v.t.Context(), v.claim(n), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there: %w", v.claim(n), err)
			}
		}
		return nil
	})
}

// scale is what somebody does with kubectl scale, or an autoscaler.
func (v *vault) scale(replicas int32, pods int) {
	v.t.Helper()
	sets := admin(v.c).AppsV1().StatefulSets(v.name)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: v.name, Namespace: v.name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	if _, err := sets.UpdateScale(v.t.Context(), v.name, scale, metav1.UpdateOptions{}); err != nil {
		v.t.Fatal(err)
	}
	cluster.Eventually(v.t, limit, func() error {
		list, err := admin(v.c).CoreV1().Pods(v.name).List(v.t.Context(), metav1.ListOptions{})
		if err == nil && len(list.Items) != pods {
			err = fmt.Errorf("there are %d pods, want %d", len(list.Items), pods)
		}
		return err
	})
}

// before makes the claim that an earlier life of the StatefulSet has left.
func (v *vault) before() types.UID {
	v.t.Helper()
	applyText(v.t, v.c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+v.name+"}\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: "+v.claim(0)+
		", namespace: "+v.name+"}\nspec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n")
	return v.there().UID
}

func (v *vault) there() *corev1.PersistentVolumeClaim {
	v.t.Helper()
	is, err := admin(v.c).CoreV1().PersistentVolumeClaims(v.name).Get(v.t.Context(), v.claim(0), metav1.GetOptions{})
	if err != nil {
		v.t.Fatal(err)
	}
	return is
}

// kept fails the test unless the claim of before is there as it was. What the run made may stay as
// well: a StatefulSet retains all of its claims, or none.
func (v *vault) kept(uid types.UID) {
	v.t.Helper()
	if is := v.there(); is.UID != uid || is.DeletionTimestamp != nil || len(is.OwnerReferences) > 0 {
		v.t.Errorf("the claim that was there before is now %s, deleted %v, owned by %v; want %s", is.UID, is.DeletionTimestamp, is.OwnerReferences, uid)
	}
}

// An install that fails is undone, and the claim that was there before it stays, although its
// StatefulSet has claims deleted with it.
func TestInstallUndoKeepsClaims(t *testing.T) {
	t.Parallel()
	v := newVault(t, bare.Cluster(t), "undone", "Delete", "Retain")
	uid := v.before()
	r := v.run(v.args("install", "--set", "fail=ImagePullBackOff", "--timeout", "10s")...)
	v.failed(r, "all changes were undone", v.claimRef(0)+" existed before this run", v.claimRef(0)+" stays")
	v.kept(uid)
}

// Ending a run that is open asks for the claims that go with it, and for no others.
func TestInstallUnfinishedAsksForClaims(t *testing.T) {
	t.Parallel()
	v := newVault(t, bare.Cluster(t), "open", "Delete", "Retain")
	uid := v.before()
	v.failed(v.run(v.args("install", "--set", "fail=ImagePullBackOff", "--timeout", "10s", "--keep-failed")...), "the changes were kept")
	v.owned(0, 1)
	end := []string{"rollback", v.name, "-n", v.name, "--unfinished", "--yes"}
	r := v.refused([]string{"deleted with its data: " + v.claimRef(1), "which --yes does not confirm", "--delete-data=" + v.name}, end...)
	if strings.Contains(r.stderr, "deleted with its data: "+v.claimRef(0)) {
		t.Errorf("it says that the claim goes which was there before:\n%s", r.stderr)
	}
	if r := v.run(append(end, "--dry-run=client")...).succeeds(t); !strings.Contains(r.stderr, "deleted with its data: "+v.claimRef(1)) {
		t.Errorf("the dry run does not say what goes:\n%s", r.stderr)
	}
	v.run(append(end, "--delete-data="+v.name)...).succeeds(t)
	v.kept(uid)
}

// The gate counts the claims that are there: of a StatefulSet that somebody scaled to nothing.
func TestGateClaimsOfNoReplicas(t *testing.T) {
	t.Parallel()
	v := newVault(t, bare.Cluster(t), "empty", "Delete", "Retain")
	v.run(v.args("install", "--wait=false")...).succeeds(t)
	v.owned(0, 1)
	v.scale(0, 0)
	v.refused([]string{v.claimRef(0), v.claimRef(1), "--delete-data=" + v.name}, "uninstall", v.name, "-n", v.name, "--yes")
	v.run("uninstall", v.name, "-n", v.name, "--yes", "--delete-data="+v.name).succeeds(t)
	v.gone(0, 1)
}

// It counts the claims of pods that an upgrade has no more, where these go with them, also of more
// pods than the manifest had.
func TestGateClaimsOfScaling(t *testing.T) {
	t.Parallel()
	v := newVault(t, bare.Cluster(t), "scaled", "Retain", "Delete")
	v.run(v.args("install", "--wait=false")...).succeeds(t)
	v.scale(3, 3)
	r := v.refused([]string{v.claimRef(1), v.claimRef(2), "--delete-data=" + v.name}, v.args("upgrade", "--wait=false", "--set", "replicas=1")...)
	if strings.Contains(r.stderr, "deleted with its data: "+v.claimRef(0)) {
		t.Errorf("it says that a claim goes which stays:\n%s", r.stderr)
	}
	v.run(v.args("upgrade", "--wait=false", "--set", "replicas=1", "--take-ownership", "--delete-data="+v.name)...).succeeds(t)
	v.gone(1, 2)
	v.there()
}
