package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// Traffic, ephemeral storage and what is used of a volume come from the kubelets. A
// volume that two pods mount is counted once, and a pod on the network of its host,
// which sees the traffic of the node, never.
func TestMetricsOfKubelets(t *testing.T) {
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	u := metricsOf(t, c.Kubeconfig, "-n", ns)
	for _, d := range u.addsUp() {
		t.Error(d)
	}
	site := u.row("Deployment.apps/" + ns + "/site")
	for _, r := range []usedRow{site, u.Total} {
		for _, v := range []struct {
			what string
			got  amounts
			want amounts
		}{
			{"counters", r.Counters, amounts{Received: ptr("2000006"), Sent: ptr("40022")}},
			{"used", amounts{Storage: r.Used.Storage}, amounts{Storage: ptr("300Mi")}},
			{"host traffic", r.HostTraffic, amounts{}},
		} {
			for _, d := range v.got.differences(v.want) {
				t.Errorf("%s: %s: %s", r.Name, v.what, d)
			}
		}
	}
	if !value(site.Used.EphemeralStorage).Equal(exactOf("14Mi")) {
		t.Errorf("ephemeral storage %v, want 14Mi", value(site.Used.EphemeralStorage))
	}

	agent := u.row("Deployment.apps/" + ns + "/agent")
	pod := onlyPod(t, agent)
	if agent.Counters != (amounts{}) || !pod.HostNetwork {
		t.Errorf("the agent on the network of its host: %+v, counters %+v, want none", pod, agent.Counters)
	}
	// Its node has the traffic of other tests' pods as well.
	if got := value(pod.HostTraffic.Received); got.LessThan(exactOf("77")) {
		t.Errorf("it sees %s bytes come, want those of its node, 77 at least", got)
	}
	if agent.Measured != 1 || agent.Used.CPU == nil {
		t.Errorf("its CPU and memory are its own: %+v", agent)
	}

	text := sysop(t, c.Kubeconfig, "metrics", "-n", ns).succeeds(t).stdout
	if !strings.Contains(text, "(host network)") {
		t.Errorf("no word of the host's network in:\n%s", text)
	}
}

func ptr(quantity string) *amount { d := exactOf(quantity); return &d }

// differences tells what of amounts is not as wanted; what is absent differs from 0.
func (a amounts) differences(want amounts) []string {
	var out []string
	for _, c := range []struct {
		what      string
		got, want *amount
	}{
		{"CPU", a.CPU, want.CPU},
		{"memory", a.Memory, want.Memory},
		{"storage", a.Storage, want.Storage},
		{"ephemeral storage", a.EphemeralStorage, want.EphemeralStorage},
		{"received", a.Received, want.Received},
		{"sent", a.Sent, want.Sent},
	} {
		if (c.got == nil) != (c.want == nil) || !value(c.got).Equal(value(c.want)) {
			out = append(out, fmt.Sprintf("%s %s, want %s", c.what, shown(c.got), shown(c.want)))
		}
	}
	return out
}

func shown(d *amount) string {
	if d == nil {
		return "unknown"
	}
	return d.String()
}

// onlyPod returns the one pod below a row.
func onlyPod(t *testing.T, r usedRow) usedRow {
	t.Helper()
	var pods []usedRow
	var walk func(r usedRow)
	walk = func(r usedRow) {
		if strings.HasPrefix(r.ID, "Pod/") {
			pods = append(pods, r)
		}
		for _, below := range r.Rows {
			walk(below)
		}
	}
	walk(r)
	if len(pods) != 1 {
		t.Fatalf("%d pods below %s, want 1", len(pods), r.ID)
	}
	return pods[0]
}

// A pod of which there is no sample yet is counted as not measured; what is known of
// the others stands, and what it requests is paid for.
func TestMetricsOfANewPod(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := sampledSite(t, c)
	p := proxy(t, c, "")
	p.Inject(faults.Fault{Match: faults.Path("/stats/summary"), Effect: faults.Forbidden()}) // a kubelet knows it at once
	pods := admin(c).CoreV1().Pods(ns)
	n := 0
	cluster.Eventually(t, sampled, func() error {
		n++
		name := fmt.Sprintf("new-%d", n)
		applyText(t, c, strings.ReplaceAll(newPod, "NAME", name)+"  namespace: "+ns+"\n")
		defer func() { deleted(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{})) }()
		cluster.Eventually(t, limit, func() error {
			pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && pod.Status.Phase != corev1.PodRunning {
				err = fmt.Errorf("%s is %s", name, pod.Status.Phase)
			}
			return err
		})
		u, said := metricsSaying(t, p.Kubeconfig(), "pod/"+name, "deployment/site", "-n", ns)
		samples, err := samplesOf(t, c, ns)
		if err != nil {
			return err
		}
		if _, ok := samples[name]; ok {
			return fmt.Errorf("%s was sampled meanwhile", name)
		}
		if u.Total.Pods != 3 || u.Total.Measured != 2 {
			t.Errorf("%d of %d pods measured, want 2 of 3", u.Total.Measured, u.Total.Pods)
		}
		pod := u.row("Pod/" + ns + "/" + name)
		if pod.Measured != 0 || pod.Used != (amounts{}) || !strings.Contains(pod.Unmeasured, "no sample yet") {
			t.Errorf("the new pod: used %+v, %q, want nothing, and no sample yet", pod.Used, pod.Unmeasured)
		}
		want := priced(exactOf("100m"), 0, coreHour).Add(priced(exactOf("64Mi"), 30, memoryHour))
		if !value(pod.Cost.Hour).Equal(want) {
			t.Errorf("the new pod costs %s an hour, want %s for what it requests", value(pod.Cost.Hour), want)
		}
		toldOnce(t, said, "2 of 3 pods measured", name+": no sample yet")
		return nil
	})
}

const newPod = `apiVersion: v1
kind: Pod
spec:
  containers:
  - {name: new, image: registry.example.com/new, resources: {requests: {cpu: 100m, memory: 64Mi}}}
metadata:
  name: NAME
`

// A pod that has ended costs nothing now, and is not counted.
func TestMetricsOfAJobThatEnded(t *testing.T) {
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	ended, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=import"})
	if err != nil || len(ended.Items) != 1 {
		t.Fatalf("%d pods of the Job, %v", len(ended.Items), err)
	}
	u := metricsOf(t, c.Kubeconfig, "job/import", "-n", ns)
	if u.Total.Pods != 0 || u.Total.Used != (amounts{}) || u.Total.Requests != (amounts{}) || !value(u.Total.Cost.Hour).IsZero() {
		t.Errorf("the Job that ended: %+v, want no pods, and no cost", u.Total)
	}
	u = metricsOf(t, c.Kubeconfig, "-n", ns)
	if r := u.row("Pod/" + ns + "/" + ended.Items[0].Name); r.ID != "" || u.Total.Pods != 3 {
		t.Errorf("%d pods, among them %+v: want the 3 that run", u.Total.Pods, r)
	}
}
