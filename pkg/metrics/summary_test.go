package metrics_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestSummaryOfARealKubelet(t *testing.T) {
	text, err := os.ReadFile("testdata/stats-summary.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{answers: map[string]answer{metrics.SummaryPath("minikube"): ok(string(text))}}
	r := podsOf("default/go-hello-world-5456b4b8cd-99vxc@minikube", "kube-system/coredns-66bff467f8-szddj@minikube", "kube-system/kube-apiserver-minikube@minikube", "kube-system/kube-scheduler-minikube@minikube")
	for i, uid := range []types.UID{
		"42ad382b-ed0b-446d-9aab-3fdce8b4f9e2", "0adffe8e-9849-4e05-b4cd-92d2d1e1f1c3",
		// The API server gave the static pods UIDs of its own.
		"d4e1c9d1-6ad8-4c40-8f6a-4d4f7c9ef001", "d4e1c9d1-6ad8-4c40-8f6a-4d4f7c9ef002",
	} {
		r.Pods[i].UID = uid
	}
	r.Pods[2].HostNetwork, r.Pods[3].HostNetwork = true, true
	r.Pods[1].Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.RequireFromString("0.004")}) // as the metrics API said
	r.Pods[1].Containers = []metrics.Container{{Name: "coredns"}}
	measure(t, metrics.NewSummary(s.get(t), nil), r)
	for i, want := range []struct{ cpu, memory, rx, tx, disk string }{
		{"0", "25083904", "0", "0", "135168"}, // It did nothing, and that is known.
		{"0.004", "6250496", "606880", "120484", "73728"},
		{"0.046144879", "243318784", "948305362", "12542068", "126976"},
		{"0.003438625", "11640832", "948305362", "12542068", "49152"},
	} {
		p := &r.Pods[i]
		has(t, p.Ref.Name, p.Used, metrics.CPU, want.cpu)
		has(t, p.Ref.Name, p.Used, metrics.Memory, want.memory)
		has(t, p.Ref.Name, p.Used, metrics.Ephemeral, want.disk)
		has(t, p.Ref.Name, p.Counters, metrics.Received, want.rx)
		has(t, p.Ref.Name, p.Counters, metrics.Sent, want.tx)
		has(t, p.Ref.Name, p.Used, metrics.Received, "")
	}
	has(t, "the container", r.Pods[1].Containers[0].Used, metrics.Memory, "6250496")
	if asked, all := s.requests("/"); all != 1 || len(r.Notes) != 0 {
		t.Errorf("asked %v, notes %v", asked, r.Notes)
	}
}

// stat is a pod of a summary.
func stat(ns, name string, uid types.UID, more string) string {
	return fmt.Sprintf(`{"podRef": {"namespace": %q, "name": %q, "uid": %q}%s}`, ns, name, uid, more)
}

func summary(pods ...string) answer {
	return ok(`{"node": {"nodeName": "n"}, "pods": [` + strings.Join(pods, ",") + `]}`)
}

const some = `, "network": {"name": "eth0", "rxBytes": 7, "txBytes": 3}, "ephemeral-storage": {"usedBytes": 5}`

// Every node that runs a pod of interest is asked, once.
func TestSummaryAsksEachNodeOnce(t *testing.T) {
	s := &server{answers: map[string]answer{}}
	var names []string
	for i := range 40 {
		name := fmt.Sprintf("p%02d", i)
		node := fmt.Sprintf("n%02d", i%20)
		names = append(names, "shop/"+name+"@"+node)
		s.answers[metrics.SummaryPath(node)] = summary(
			stat("shop", fmt.Sprintf("p%02d", i%20), uidOf(fmt.Sprintf("p%02d", i%20)), some), stat("shop", fmt.Sprintf("p%02d", i%20+20), uidOf(fmt.Sprintf("p%02d", i%20+20)), some), stat("other", name, "00000000-0000-4000-8000-other", some))
	}
	r := podsOf(names...)
	r.Pods = append(r.Pods, metrics.Pod{Ref: podRef("shop", "waits")})
	measure(t, metrics.NewSummary(s.get(t), func(o object.Ref) bool { return o.Name != "p00" && o.Name != "p20" }), r)
	asked, all := s.requests("/")
	if all != 19 || asked[metrics.SummaryPath("n00")] != 0 || s.most > 16 {
		t.Errorf("%d at once: %v", s.most, asked)
	}
	for i := range 40 {
		want := "7"
		if i%20 == 0 {
			want = ""
		}
		has(t, names[i], r.Pods[i].Counters, metrics.Received, want)
	}
}

// A refusal is asked for once and told once.
func TestSummaryRefused(t *testing.T) {
	s := &server{answers: map[string]answer{}}
	var names []string
	for i := range 50 {
		node := fmt.Sprintf("n%02d", i)
		names = append(names, fmt.Sprintf("shop/p%02d@%s", i, node))
		s.answers[metrics.SummaryPath(node)] = forbidden()
	}
	r := podsOf(names...)
	measure(t, metrics.NewSummary(s.get(t), nil), r)
	if asked, all := s.requests("/"); all != 1 {
		t.Errorf("asked %v", asked)
	}
	if len(r.Notes) != 1 || r.Notes[0].Reason != "Forbidden" || r.Notes[0].Subject != "" || !strings.Contains(r.Notes[0].Message, "nodes/proxy") || !r.Notes[0].LowersFigures {
		t.Errorf("notes %+v", r.Notes)
	}
	if r.Pods[0].Counters != nil || r.Pods[0].Used != nil {
		t.Errorf("something of nothing: %+v", r.Pods[0])
	}
}

// A node that is down is noted; the others stand.
func TestSummaryOfNodesThatFail(t *testing.T) {
	s := &server{answers: map[string]answer{
		metrics.SummaryPath("down"):  {code: 503, reason: metav1.StatusReasonServiceUnavailable},
		metrics.SummaryPath("login"): ok("<html>log in</html>"),
		metrics.SummaryPath("up"):    summary(stat("shop", "c", uidOf("c"), some)),
	}}
	r := podsOf("shop/a@down", "shop/b@login", "shop/c@up", "shop/d@gone")
	measure(t, metrics.NewSummary(s.get(t), nil), r)
	has(t, "c", r.Pods[2].Counters, metrics.Sent, "3")
	reasons := map[string]string{}
	for _, n := range r.Notes {
		reasons[n.Subject] = n.Reason
	}
	for node, want := range map[string]string{"down": "Unavailable", "login": "Unreadable", "gone": "NotServed"} {
		if reasons[node] != want {
			t.Errorf("%s: %q, want %q", node, reasons[node], want)
		}
	}
	// A dead kubelet answers slowly: it is not asked again.
	if asked, all := s.requests("/"); all != 4 {
		t.Errorf("asked %v", asked)
	}
}

func TestSummaryMatches(t *testing.T) {
	const hash = "3bef16d65fa74d46458df57d8f6f59af"
	s := &server{answers: map[string]answer{
		metrics.SummaryPath("n"): summary(
			stat("shop", "db-0", "00000000-0000-4000-8000-earlier", some), // another pod of that name
			stat("shop", "static", hash, some),
			stat("other", "web", uidOf("web"), some), // a UID is enough
			stat("shop", "strange", "", `, "network": {"interfaces": [{"name": "eth0", "rxBytes": 11}, {"name": "net1", "rxBytes": 31, "txBytes": 1}, {"name": "lo", "rxBytes": 900, "txBytes": 900}, {"name": "docker0", "rxBytes": 800, "txBytes": 800}]}`),
		),
	}}
	r := podsOf("shop/db-0@n", "shop/static@n", "shop/strange@n", "shop/web@n")
	measure(t, metrics.NewSummary(s.get(t), nil), r)
	for i, want := range []string{"", "7", "42", "7"} {
		has(t, r.Pods[i].Ref.Name, r.Pods[i].Counters, metrics.Received, want)
	}
	has(t, "an interface that does not say", r.Pods[2].Counters, metrics.Sent, "")
	for i := range r.Pods {
		has(t, "no figures", r.Pods[i].Used, metrics.CPU, "")
	}
}

// Numbers that are absent are not known, and not zero.
func TestSummaryWithoutNumbers(t *testing.T) {
	for name, more := range map[string]string{
		"nothing":           ``,
		"no containers":     `, "containers": [], "cpu": {"usageNanoCores": 5}, "memory": {"workingSetBytes": 5}`,
		"no numbers":        `, "containers": [{"name": "a", "cpu": {}, "memory": {}}], "network": {}, "ephemeral-storage": {}, "volume": [{"name": "v", "pvcRef": {"name": "data", "namespace": "shop"}}]`,
		"one of two":        `, "containers": [{"name": "a", "cpu": {"usageNanoCores": 5}, "memory": {"workingSetBytes": 5}}, {"name": "b"}]`,
		"loopback only":     `, "network": {"name": "lo", "rxBytes": 1, "txBytes": 1}`,
		"interfaces mute":   `, "network": {"name": "eth0", "interfaces": [{"name": "eth0"}]}`,
		"only what is said": `, "volume": [{"name": "tmp", "usedBytes": 900}]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: map[string]answer{metrics.SummaryPath("n"): summary(stat("shop", "web", uidOf("web"), more))}}
			r := podsOf("shop/web@n")
			r.Claims = []metrics.Claim{{Ref: claimRef("shop", "data"), Claimed: decimal.New(1, 9)}}
			r.Pods[0].Unmeasured = "no sample yet"
			measure(t, metrics.NewSummary(s.get(t), nil), r)
			if p := r.Pods[0]; len(p.Used) != 0 || p.Counters != nil || p.Unmeasured != "no sample yet" || r.Claims[0].UsedKnown {
				t.Errorf("%+v, claims %+v", p, r.Claims)
			}
		})
	}
}

func claimRef(ns, name string) object.Ref {
	return object.Ref{Kind: "PersistentVolumeClaim", Namespace: ns, Name: name}
}

// What is used of a claim: once, however many pods mount it, and not what others have
// on the same disk.
func TestSummaryOfVolumes(t *testing.T) {
	volume := func(ns, claim string, used, capacity uint64) string {
		return fmt.Sprintf(`, "volume": [{"name": "data", "usedBytes": %d, "capacityBytes": %d, "pvcRef": {"name": %q, "namespace": %q}}]`, used, capacity, claim, ns)
	}
	s := &server{answers: map[string]answer{
		metrics.SummaryPath("n1"): summary(
			stat("shop", "a", uidOf("a"), volume("shop", "data", 100, 980)), stat("shop", "b", uidOf("b"), volume("shop", "data", 120, 980)),
			stat("shop", "c", uidOf("c"), volume("shop", "nfs", 70000, 500000)), stat("other", "z", uidOf("z"), volume("other", "data", 40, 980))),
		metrics.SummaryPath("n2"): summary(stat("shop", "d", uidOf("d"), volume("shop", "data", 110, 980))),
	}}
	r := podsOf("shop/a@n1", "shop/d@n2")
	size := decimal.New(1000, 0)
	r.Claims = []metrics.Claim{{Ref: claimRef("other", "data"), Claimed: size}, {Ref: claimRef("shop", "data"), Claimed: size}, {Ref: claimRef("shop", "idle"), Claimed: size}, {Ref: claimRef("shop", "nfs"), Claimed: size}}
	measure(t, metrics.NewSummary(s.get(t), nil), r)
	for i, want := range []string{"40", "120", "", ""} {
		got := ""
		if r.Claims[i].UsedKnown {
			got = r.Claims[i].Used.String()
		}
		if got != want {
			t.Errorf("%s: used %q, want %q", r.Claims[i].Ref, got, want)
		}
	}
	if len(r.Notes) != 1 || r.Notes[0].Reason != "SharedFilesystem" || r.Notes[0].Subject != "shop/nfs" {
		t.Errorf("notes %+v", r.Notes)
	}
}

func TestSummaryEnds(t *testing.T) {
	hold, came := make(chan struct{}), make(chan struct{})
	s := &server{answers: map[string]answer{metrics.SummaryPath("n"): {code: 200, body: "{}", hold: hold, came: came}}}
	get := s.get(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	r := podsOf("shop/a@n")
	go func() { done <- metrics.NewSummary(get, nil).Measure(ctx, r) }()
	<-came
	cancel()
	if err := <-done; err == nil {
		t.Error("an ended context is no error")
	}
	close(hold)
	if err := metrics.NewSummary(get, nil).Measure(t.Context(), &metrics.UsageReport{}); err != nil {
		t.Error(err)
	}
}
