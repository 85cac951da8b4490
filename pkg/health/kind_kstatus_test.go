package health

import (
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stricter lists the fixtures that kstatus calls Current and that are not Healthy here,
// by the reason for it.
func stricter() map[string]string {
	reasons := map[string]string{}
	for reason, names := range map[string]string{
		"kstatus does not look at pods that have failed":       "pod-evicted pod-failed-by-eviction pod-failed-exit pod-failed-oom pod-failed-signal pod-failed-silent",
		"a pod that is about to be evicted is on its way out":  "pod-being-evicted",
		"kstatus gives an error for this phase":                "pod-phase-unknown",
		"a Job is there to end, and one that runs has not":     "job-completing job-resumed job-running",
		"it has failed already; its last pods are terminating": "job-failing",
		"kstatus has no word for what was stopped":             "deployment-paused cronjob-suspended job-no-parallelism hpa-disabled node-cordoned",
		"OnDelete is no reason not to look at readiness":       "statefulset-ondelete-not-ready",
		"kstatus asks nothing of a CronJob":                    "cronjob-last-run-failed cronjob-never-succeeded",
		"kstatus does not know minReadySeconds":                "statefulset-min-ready",
		"a partition of 0 is no partition":                     "statefulset-revision-not-concluded",
		"kstatus asks for a cluster IP, not for an address":    "service-loadbalancer-pending",
		"an address is no use where its ports are refused":     "service-loadbalancer-port-error service-loadbalancer-mixed-protocols",
		"kstatus does not look past Bound":                     "pvc-modify-infeasible pvc-modifying pvc-resize-begins pvc-resize-error pvc-resize-infeasible pvc-resizing pvc-volume-unhealthy",
		"kstatus only asks whether the numbers are there":      "pdb-new pdb-forbids-all pdb-asks-for-more-than-there-is pdb-insufficient pdb-pods-start pdb-sync-failed",
		"kstatus looks at Established first":                   "crd-not-structural crd-terminating",
		"kstatus looks at Ready alone":                         "node-disk-pressure node-kernel-deadlock",
		"kstatus has no rule for the kind": "apiservice-down apiservice-starting devicetaintrule-evicting csr-approved csr-denied csr-pending flowschema-dangling " +
			"hpa-between hpa-invalid-selector hpa-new hpa-no-metrics hpa-no-metrics-yet hpa-no-target ingress-pending migration-failed migration-running namespace-terminating node-silent " +
			"podcertificaterequest-failed podgroup-preempted podgroup-unschedulable pv-failed pv-odd replicationcontroller-failing resourceclaim-pending resourcequota-new volumeattachment-attaching volumeattachment-detach-error volumeattachment-error",
	} {
		for name := range strings.FieldsSeq(names) {
			reasons[name] = reason
		}
	}
	return reasons
}

// TestKindsAgainstKstatus: what kstatus calls InProgress, Failed or Terminating is never
// Healthy here, and what it calls Current is, but for what is listed with its reason.
func TestKindsAgainstKstatus(t *testing.T) {
	j := NewEvaluator(noon)
	listed, lenient := stricter(), laxer()
	agree := 0
	for _, f := range kindFixtures(t) {
		theirs, err := status.Compute(f.mapped.Body.(*unstructured.Unstructured))
		if err != nil {
			if _, ok := listed[f.name]; !ok {
				t.Errorf("%s: kstatus: %v", f.name, err)
			}
			delete(listed, f.name)
			continue
		}
		ours := j.Evaluate(f.typed)
		current := theirs.Status == status.CurrentStatus
		switch healthy := ours.Status == Healthy; {
		case healthy == current:
			agree++
		case healthy:
			if lenient[f.name] == "" {
				t.Errorf("%s: Healthy, and kstatus says %s: %s", f.name, theirs.Status, theirs.Message)
			}
			delete(lenient, f.name)
		default:
			if listed[f.name] == "" {
				t.Errorf("%s: %s, and kstatus says %s: %s", f.name, ours.Status, theirs.Status, theirs.Message)
			}
			delete(listed, f.name)
		}
	}
	for name := range listed {
		t.Errorf("%s is listed, and does not differ", name)
	}
	for name := range lenient {
		t.Errorf("%s is listed, and does not differ", name)
	}
	t.Logf("agree on %d; stricter in %d", agree, len(stricter()))
}

// laxer lists the fixtures that kstatus does not call Current and that are Healthy here.
func laxer() map[string]string {
	return map[string]string{
		"daemonset-ondelete": "kstatus waits for an update that nobody makes before the pods are deleted, which for a StatefulSet of the same strategy it does not",
	}
}
