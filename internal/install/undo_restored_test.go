package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ordered is a StatefulSet of two pods as its controller has it after an upgrade to revision new
// whose pod 1 crashes was undone: the pod stays, and the set waits for it.
func ordered(f *fakeCluster) {
	set := thing("StatefulSet", "apps", "db", map[string]any{
		"spec":   map[string]any{"replicas": int64(2)},
		"status": map[string]any{"observedGeneration": int64(1), "replicas": int64(2), "readyReplicas": int64(1), "currentRevision": "old", "updateRevision": "old", "updatedReplicas": int64(1)},
	})
	set.SetAPIVersion("apps/v1")
	f.put(set, "helm")
	uid := string(f.objects[object.RefOf(set)].GetUID())
	for i, revision := range []string{"old", "new"} {
		pod := thing("Pod", "apps", fmt.Sprintf("db-%d", i), map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": map[string]string{"old": "True", "new": "False"}[revision]}}}})
		pod.SetLabels(map[string]string{"controller-revision-hash": revision})
		pod.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": uid, "controller": true}}
		f.put(pod, "controller")
	}
}

func podRef(name string) object.Ref { return object.Ref{Kind: "Pod", Namespace: "apps", Name: name} }

// undoneUpgrade is an upgrade of release a, with a StatefulSet, that fails and is undone; the
// controller of StatefulSets is the gate.
func undoneUpgrade(t *testing.T, f *fakeCluster, r *Runner) (Report, error) {
	t.Helper()
	first, second := &chart.Chart{}, &chart.Chart{}
	f.charts = map[*chart.Chart][]*unstructured.Unstructured{first: bodies("a", 1), second: bodies("a", 2)}
	set := thing("StatefulSet", "apps", "db", map[string]any{"spec": map[string]any{"replicas": int64(2)}})
	set.SetAPIVersion("apps/v1")
	f.charts[first] = append(f.charts[first], set)
	f.charts[second] = append(f.charts[second], set)
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	n := helm.ReleaseName{Name: "a", Namespace: "apps"}
	if err := (fakeHelm{f}).Install(t.Context(), helm.ReleaseSpec{Release: n, Chart: first}); err != nil {
		t.Fatal(err)
	}
	part := &Part{Name: "a", Release: "a", Namespace: "apps", Chart: second, Rendered: &chart.Rendered{Objects: f.charts[second]}}
	return r.Do(t.Context(), &Plan{Installation: shopHere, Action: Upgrade, Fingerprint: "x", Parts: []*Part{part}, Steps: []Step{
		{ID: "release/apps/a", Kind: UpgradeRelease, Part: "a", Release: "a", Namespace: "apps", Was: 1},
		{ID: "await/a", Kind: Await, Part: "a"},
	}}, Options{Look: 200 * time.Millisecond})
}

// After an undo is looked: the pod that is in the way goes, and the answer says Healthy; where it
// is not, it says what is not and what helps, and never that everything was undone.
func TestUndoLooks(t *testing.T) {
	down := errors.New("not Healthy after 5s: StatefulSet.apps/apps/db is Degraded (1/2)")
	for _, cured := range []bool{true, false} {
		f := newFake("apps")
		r := f.runner()
		var notes []string
		r.Events = func(e journal.Event) { notes = append(notes, e.Message) }
		r.Objects = withController{fakeCluster: f, fixed: !cured}
		gates := 0
		r.Gate = func(context.Context, []object.Ref, time.Duration) error {
			if gates++; gates == 1 { // of the upgrade
				ordered(f)
				return down
			}
			if _, there := f.objects[podRef("db-1")]; there {
				return down
			}
			return nil
		}
		rep, err := undoneUpgrade(t, f, r)
		if err == nil || rep.Restored == nil || rep.Restored.Healthy != cured {
			t.Fatalf("cured %v: %+v %v", cured, rep, err)
		}
		says, not := []string{"all changes were undone, and what was restored is Healthy"}, "is not Healthy"
		if !cured {
			says = []string{
				"what was restored is not Healthy: not Healthy after 5s: StatefulSet.apps/apps/db", "kubectl delete pod db-1 -n apps",
				"kubectl sysop health helm/a -n apps", "its StatefulSet waits for it (OrderedReady)",
			}
			not = "everything"
		}
		for _, word := range says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("cured %v: no %q in %v", cured, word, err)
			}
		}
		if strings.Contains(err.Error(), not) {
			t.Errorf("cured %v: %v", cured, err)
		}
		told := strings.Join(notes, "\n")
		if cured && !strings.Contains(told, "Pod/apps/db-1 is deleted: it is of the revision that was undone and not Ready") {
			t.Errorf("it is not said why a pod was deleted:\n%s", told)
		}
	}
}

// withController is a cluster with a controller that says what it sees of StatefulSets. Where
// pods are fixed nobody may delete them.
type withController struct {
	*fakeCluster
	fixed bool
}

func (c withController) List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error) {
	list, err := c.fakeCluster.List(ctx, kind, namespace)
	for i := range list {
		if kind == statefulSetKind {
			list[i].Object["status"] = map[string]any{"observedGeneration": list[i].GetGeneration(), "replicas": int64(2), "readyReplicas": int64(1), "currentRevision": "old", "updateRevision": "old", "updatedReplicas": int64(1)}
		}
	}
	return list, err
}

func (c withController) Delete(ctx context.Context, ref object.Ref, p Precondition) error {
	if c.fixed && ref.Kind == "Pod" {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, ref.Name, errors.New("no"))
	}
	return c.fakeCluster.Delete(ctx, ref, p)
}
