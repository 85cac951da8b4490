package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// Of the Jobs that a CronJob has run, the last one that ended says how it is, whatever the order.
func TestHealthLastRunOfCronJob(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applyText(t, c, fmt.Sprintf(`
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: %s}
spec:
  schedule: "0 0 1 1 *"
  failedJobsHistoryLimit: 9
  successfulJobsHistoryLimit: 9
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: x, image: example.com/backup}]}}}}
`, ns))
	cron, err := admin(c).BatchV1().CronJobs(ns).Get(t.Context(), "backup", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, fails := range []bool{true, false, true, true, false} {
		annotations, deadline, want := "{}", "", "Healthy"
		if fails {
			annotations, deadline, want = "{sysop.dev/fail: ImagePullBackOff}", "activeDeadlineSeconds: 1", "Degraded"
		}
		name := fmt.Sprintf("backup-%d", i)
		job := new(batchv1.Job) // apply leaves out what a controller owns
		text := fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  namespace: %s
  annotations: {cronjob.kubernetes.io/instantiate: manual}
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: backup, uid: %s, controller: true}]
spec:
  backoffLimit: 0
  %s
  template:
    metadata: {annotations: %s}
    spec: {restartPolicy: Never, containers: [{name: x, image: example.com/backup}]}
`, name, ns, cron.UID, deadline, annotations)
		if err := yaml.UnmarshalStrict([]byte(text), job); err != nil {
			t.Fatal(err)
		}
		if _, err := admin(c).BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, limit, func() error {
			d := healthOf(t, c.Kubeconfig, "cronjob/backup", "-n", ns)
			job, s := d.object("Job.batch/"+ns+"/"+name), d.stack(t)
			if job.OwnHealth != want || s.Health != want {
				return fmt.Errorf("run %d: the Job is %+v, the stack %+v, want %s", i, job, s, want)
			}
			return nil
		})
		nextSecond() // The times of Jobs are whole seconds.
	}
}

// nextSecond returns in the next second of the clock, in which the API server gives a later time.
func nextSecond() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}

// Of a custom kind that a rule calls history, the last one of its owner's present revision says how
// the owner is.
func TestHealthLastRunOfCustomKind(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	define(t, c, ownKinds(ns, "Plan", "Trial"))
	group := ns + ".example.org"
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	text := fmt.Sprintf(`- kind: Plan.%[1]s
  healthy: "true"
  revision: spec.?revision.orValue("")
- kind: Trial.%[1]s
  degraded: status.?phase.orValue("") == "Failed"
  healthy: status.?phase.orValue("") == "Passed"
  history: [Plan.%[1]s]
  revision: spec.?revision.orValue("")
`, group)
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	applyText(t, c, ownObject(ns, "Plan", "plan", "spec: {revision: a}"))
	plans := dynamic.NewForConfigOrDie(c.Config()).Resource(definedIn(group, "plans")).Namespace(ns)
	plan, err := plans.Get(t.Context(), "plan", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	trial := func(name, revision, phase string) {
		t.Helper()
		o := ownObject(ns, "Trial", name, fmt.Sprintf("spec: {revision: %s}\nstatus: {phase: %s}", revision, phase))
		applyText(t, c, strings.Replace(o, "namespace: "+ns+"}", fmt.Sprintf("namespace: %s, ownerReferences: [{apiVersion: %s/v1, kind: Plan, name: plan, uid: %s, controller: true}]}", ns, group, plan.GetUID()), 1))
		nextSecond() // Objects are made at whole seconds.
	}
	holds := func(when, want string) {
		t.Helper()
		if s := healthOf(t, c.Kubeconfig, "plan/plan", "-n", ns, "--health-rules", rules).stack(t); s.Health != want {
			t.Errorf("%s: %+v, want %s", when, s, want)
		}
	}
	trial("first", "a", "Failed")
	holds("one that failed", "Degraded")
	trial("second", "a", "Passed")
	holds("one that passed after it", "Healthy")
	trial("third", "a", "Failed")
	holds("one that failed after both", "Degraded")
	patched(t, c, definedIn(group, "plans"), ns, "plan", `{"spec":{"revision":"b"}}`)
	holds("of a revision that is over", "Healthy")
	trial("fourth", "b", "Failed")
	holds("of the new revision", "Degraded")
}
