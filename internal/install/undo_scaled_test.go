package install

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
)

// scaledSet is StatefulSet db with so many replicas, whose claims go with the pods that it has no more.
func scaledSet(replicas int64) *unstructured.Unstructured {
	set := claimingSet()
	spec := set.Object["spec"].(map[string]any) //nolint:forcetypeassert // It is made above.
	spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Retain", "whenScaled": "Delete"}
	spec["replicas"] = replicas
	return set
}

// scaledUp is a cluster with db of one replica, that an upgrade to three has failed to make Healthy,
// with claims that were there before.
func scaledUp(t *testing.T, before ...string) *fakeCluster {
	t.Helper()
	f, p, part := oneInstall()
	part.Rendered.Objects = append(part.Rendered.Objects, scaledSet(1))
	f.charts[part.Chart] = part.Rendered.Objects
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	f.claim(append(before, "data-db-0")...)
	f.recorded()
	up := upgradeOfA(f, 1, 2)
	c := &chart.Chart{}
	up.Parts[0].Chart, up.Parts[0].Rendered.Objects = c, append(up.Parts[0].Rendered.Objects, scaledSet(3))
	f.charts[c] = up.Parts[0].Rendered.Objects
	up.Steps = append(up.Steps, Step{ID: "await/a", Kind: Await, Part: "a"})
	r := f.runner()
	r.Gate = notHealthy(f, func() { f.claim("data-db-1", "data-db-2"); f.recorded() })
	if rep, err := r.Do(t.Context(), up, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	return f
}

// Undoing an upgrade that added pods says which claims of these go.
func TestUndoOfScalingLosesClaims(t *testing.T) {
	f := scaledUp(t)
	plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.runner().RecoveryLosses(t.Context(), shopHere, plan, planKinds())
	if text := fmt.Sprint(got); err != nil || !strings.Contains(text, "data-db-1") || !strings.Contains(text, "data-db-2") || strings.Contains(text, "data-db-0") {
		t.Errorf("it loses %s %v", text, err)
	}
	if what, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{Look: time.Millisecond}); err != nil || what != RecoveredUndone {
		t.Errorf("%s %v", what, err)
	}
}

// It is left as it is where a claim that was there before the upgrade would go.
func TestUndoOfScalingKeepsClaimsOfBefore(t *testing.T) {
	f := scaledUp(t, "data-db-2")
	what, rep, err := f.runner().Recover(t.Context(), shopHere, "", Options{Look: time.Millisecond})
	if what != RecoveredPartly || !strings.Contains(fmt.Sprintf("%+v %v", rep, err), "would delete claims from before the run: PersistentVolumeClaim/apps/data-db-2") {
		t.Errorf("%s %+v %v", what, rep, err)
	}
	if f.objects[setClaim("data-db-2")] == nil {
		t.Error("the claim that was there before is gone")
	}
}
