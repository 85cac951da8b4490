package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// The stacks of what real controllers and operators make: testdata/NAME.yaml is
// applied, and the stack of the root is to have exactly the edges of
// testdata/NAME.edges.
func TestStacks(t *testing.T) {
	for _, s := range []struct{ name, root string }{
		{"deployment", "deployment/web"},
		{"statefulset", "statefulset/db"},
		{"daemonset", "daemonset/agent"},
		{"cronjob", "cronjob/backup"},
		{"certificate", "certificate/site"},
		{"ingress-shim", "ingress/shop"},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := shared.Cluster(t)
			ns := c.Namespace(t)
			applied(t, c, ns, s.name+".yaml")
			if s.name == "cronjob" {
				runNow(t, c, ns, "backup")
			}
			want := parseEdges(t, inNamespace(t, ns, s.name+".edges"))
			cluster.Eventually(t, limit, func() error {
				return lists(want.wholly(graph(t, c.Kubeconfig, s.root, "-n", ns)))
			})
		})
	}
}

// lists makes an error of differences.
func lists(differences []string) error {
	if len(differences) == 0 {
		return nil
	}
	return errors.New(strings.Join(differences, "\n"))
}

// runNow makes a Job of a CronJob, as kubectl create job --from does: waiting
// for a schedule takes a minute.
func runNow(t *testing.T, c *cluster.Cluster, ns, cronJob string) {
	t.Helper()
	jobs, cronJobs := admin(c).BatchV1().Jobs(ns), admin(c).BatchV1().CronJobs(ns)
	from, err := cronJobs.Get(t.Context(), cronJob, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", cronJob, time.Now().Unix()), Labels: from.Spec.JobTemplate.Labels,
			Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(from, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: from.Spec.JobTemplate.Spec,
	}
	if _, err := jobs.Create(context.Background(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
