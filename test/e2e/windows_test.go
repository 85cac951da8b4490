package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// historySeed makes the one world that these tests measure.
const historySeed = 20261101

// measured measures a window of the server's history, of the namespaces; of all if
// there are none.
func measured(t *testing.T, target string, from, to time.Time, namespaces ...string) *metrics.UsageReport {
	t.Helper()
	return measuredWith(t, target, metrics.HistoryOptions{Window: metrics.Window{From: from, To: to}, Namespaces: namespaces})
}

func measuredWith(t *testing.T, target string, o metrics.HistoryOptions) *metrics.UsageReport {
	t.Helper()
	h, err := metrics.NewHistory(target, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &metrics.UsageReport{}
	if err := h.Measure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHistory measures windows of a history whose truth is known.
func TestHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(historySeed)
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all()})
	t.Run("windows are within bounds", func(t *testing.T) { testExactWindows(t, h, p.URL) })
	t.Run("adjacent windows add up", func(t *testing.T) { testAdjacentWindows(t, p.URL) })
	t.Run("what is gone", func(t *testing.T) { testWhatIsGone(t, h, p.URL) })
	t.Run("claims, nodes, balancers", func(t *testing.T) { testOthers(t, h, p.URL) })
	t.Run("through the API server", func(t *testing.T) { testThroughAPIServer(t, p) })
	t.Run("limited", func(t *testing.T) { testLimitedServer(t, h, p.URL) })
}

// testExactWindows wants of every pod of every window what it used, within the bounds of
// the method, whoever scraped it and how often.
func testExactWindows(t *testing.T, h *history, server string) {
	for _, w := range [][2]int{{6, 78}, {6, 31}, {31, 78}, {42, 43}} {
		t.Run(fmt.Sprintf("%d-%d", w[0], w[1]), func(t *testing.T) {
			from, to := at(w[0]), at(w[1])
			r := measured(t, server, from, to, historyNamespace)
			lives := h.lives(from, to)
			h.checkTotal(t, r, lives)
			for _, pod := range r.Pods {
				life := lives[pod.UID]
				if life == nil || life.name != pod.Ref.Name {
					if pod.Hours.IsPositive() {
						t.Errorf("measured %s (%s) for %s h, which did not run", pod.Ref, pod.UID, pod.Hours)
					}
					continue
				}
				delete(lives, pod.UID)
				if !pod.Gone || pod.Node != life.node || pod.HostNetwork != life.hostNetwork {
					t.Errorf("%s: gone %v, on %s, host's network %v", pod.Ref, pod.Gone, pod.Node, pod.HostNetwork)
				}
				if life.name != "quiet" && life.name != "patchy" {
					checkPod(t, pod, life, life.of(from, to))
				}
			}
			for _, life := range lives {
				t.Errorf("%s (%s) was not measured", life.name, life.uid)
			}
		})
	}
}

// testAdjacentWindows splits a window at moments that have nothing to do with samples,
// and compares every figure of the parts with those of the whole.
func testAdjacentWindows(t *testing.T, server string) {
	from, to := at(6).Add(4321*time.Millisecond), at(78).Add(-777*time.Millisecond)
	want := figures(t, measured(t, server, from, to))
	for n, moments := range [][]time.Time{
		{at(40)},
		{at(29).Add(123456 * time.Millisecond)},
		{at(8).Add(time.Millisecond), at(33).Add(-time.Millisecond), at(33), at(61).Add(time.Minute)},
	} {
		got := map[string]int64{}
		begin := from
		for _, end := range append(moments, to) {
			for what, n := range figures(t, measured(t, server, begin, end)) {
				got[what] += n
			}
			begin = end
		}
		for what := range got {
			if _, ok := want[what]; !ok && got[what] != 0 {
				t.Errorf("split %d: %s is %d in the parts, and not in the whole", n, what, got[what])
			}
		}
		for what, whole := range want {
			if got[what] != whole {
				t.Errorf("split %d: %s is %d in the parts, %d in the whole", n, what, got[what], whole)
			}
		}
	}
}

// testWhatIsGone looks at what is told of pods that nobody can ask for any
// more, and at the ones that nobody measured.
func testWhatIsGone(t *testing.T, h *history, server string) {
	from, to := at(6), at(78)
	r := measured(t, server, from, to, historyNamespace)
	owners := map[string]string{
		"web": "ReplicaSet.apps/shop/web-6d4cf56db6 Deployment.apps/shop/web", "db": "StatefulSet.apps/shop/db",
		"report": "Job.batch/shop/report-29384720 CronJob.batch/shop/report", "agent": "DaemonSet.apps/shop/agent",
	}
	databases := 0
	for _, pod := range r.Pods {
		first, _, _ := strings.Cut(pod.Ref.Name, "-")
		var chain []string
		for _, o := range pod.Owners {
			chain = append(chain, o.String())
		}
		if got := strings.Join(chain, " "); got != owners[first] {
			t.Errorf("%s: owners %s, want %s", pod.Ref, got, owners[first])
		}
		switch first {
		case "db":
			databases++
		case "quiet":
			if _, known := pod.Used.Lookup(metrics.CPU); known || pod.Unmeasured == "" {
				t.Errorf("nobody measured %s, but: %v, %q", pod.Ref, pod.Used, pod.Unmeasured)
			}
		case "patchy":
			checkPatchy(t, r, pod, h.lives(from, to)[pod.UID].of(from, to))
		}
	}
	if databases != 3 {
		t.Errorf("%d pods have had the name db-0, want 3", databases)
	}
}

// checkPatchy wants all the CPU of a pod that was not seen for some 18 minutes, which
// its counter tells; of its memory it wants the rest, and a note.
func checkPatchy(t *testing.T, r *metrics.UsageReport, pod metrics.Pod, want truth) {
	t.Helper()
	if got := wholeOf(t, "patchy", pod.Used.Value(metrics.CPU), hour*1e9); got > want.cpu+steps*rounding || got < want.cpu-steps*rounding {
		t.Errorf("CPU over a hole is %d, want %d", got, want.cpu)
	}
	memory := wholeOf(t, "patchy", pod.Used.Value(metrics.Memory), hour)
	if least := want.memory - 20*60<<29; memory >= want.memory || memory < least {
		t.Errorf("memory over a hole is %d, want less than %d and at least %d", memory, want.memory, least)
	}
	if !slices.ContainsFunc(r.Notes, func(n metrics.Note) bool { return n.Reason == metrics.PodGap && n.LowersFigures }) {
		t.Errorf("no note tells of the hole: %v", r.Notes)
	}
}

// testOthers wants the time of volume claims split among the pods that mount them, and
// that of nodes and load balancers.
func testOthers(t *testing.T, h *history, server string) {
	from, to := at(6), at(78)
	seconds := int64(to.Sub(from) / time.Second)
	r := measured(t, server, from, to, historyNamespace)
	if len(r.Claims) != len(h.claims) {
		t.Fatalf("%d claims, want %d", len(r.Claims), len(h.claims))
	}
	for i, c := range r.Claims {
		want := h.claims[i]
		if c.Ref.Name != want.name || c.Class != want.class || c.Volume != want.volume || !c.Gone {
			t.Errorf("claim %+v", c)
		}
		if got := wholeOf(t, c.Ref.Name, c.Claimed, hour); got != shelfCapacity*seconds {
			t.Errorf("%s: claimed %d, want %d", c.Ref.Name, got, shelfCapacity*seconds)
		}
		if got, used := wholeOf(t, c.Ref.Name, c.Used, hour), want.used.sum(whole(), from, to, plain); !c.UsedKnown || !within(got, used, used*3/100) {
			t.Errorf("%s: used %d (known: %v), want %d", c.Ref.Name, got, c.UsedKnown, used)
		}
		mounts, unmounted := h.mounts(want.name, from, to)
		sum := c.Unmounted
		for _, m := range c.Mounts {
			sum = sum.Add(m.Hours)
			if got := m.Hours.Mul(decimal.NewFromInt(2 * hour)).IntPart(); !within(got, mounts[m.UID], 4*edges) {
				t.Errorf("%s: mounted by %s for %d half seconds, want %d", c.Ref.Name, m.Pod, got, mounts[m.UID])
			}
			delete(mounts, m.UID)
		}
		if len(mounts) > 0 || !within(wholeOf(t, "unmounted", c.Unmounted, hour), unmounted, 2*edges) {
			t.Errorf("%s: mounts not told %v, unmounted %s h, want %d s", c.Ref.Name, mounts, c.Unmounted, unmounted)
		}
		if !sum.Equal(c.Hours) || wholeOf(t, "claim", c.Hours, hour) != seconds {
			t.Errorf("%s: mounts and the rest are %s h, it was there for %s h", c.Ref.Name, sum, c.Hours)
		}
	}
	if len(r.LoadBalancers) != 1 || r.LoadBalancers[0].Service.Name != "web" || wholeOf(t, "balancer", r.LoadBalancers[0].Hours, hour) != seconds {
		t.Errorf("balancers %+v", r.LoadBalancers)
	}
	for _, n := range r.Nodes {
		if wholeOf(t, n.Name, n.Hours, hour) != seconds || wholeOf(t, n.Name, n.Capacity.Value(metrics.CPU), hour) != 8*seconds {
			t.Errorf("node %+v", n)
		}
	}
	if len(r.Nodes) != 3 {
		t.Errorf("%d nodes", len(r.Nodes))
	}
}

func within(got, want, bound int64) bool { return got >= want-bound && got <= want+bound }

// testThroughAPIServer reaches the server as one in the cluster, with no more than GET.
func testThroughAPIServer(t *testing.T, p *cluster.Prometheus) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	c.ServePrometheus(t, p.URL, ns, "prometheus-k8s")
	through, err := source.NewCluster(source.ClusterOptions{Config: c.Config()})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	from, to := at(20), at(50)
	proxy, via := through.Proxied(fmt.Sprintf("/api/v1/namespaces/%s/services/prometheus-k8s:%d/proxy", ns, cluster.PrometheusPort))
	counting := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		return via.RoundTrip(r)
	})}
	got := figures(t, measuredWith(t, proxy.String(), metrics.HistoryOptions{Window: metrics.Window{From: from, To: to}, Client: counting}))
	want := figures(t, measured(t, p.URL, from, to))
	if asked.Load() == 0 || len(want) == 0 {
		t.Errorf("%d requests, %d figures", asked.Load(), len(want))
	}
	for what, n := range want {
		if got[what] != n {
			t.Errorf("%s is %d through the API server, %d directly", what, got[what], n)
		}
	}
	testHeadersThroughAPIServer(t, c, ns, through)
}

// testHeadersThroughAPIServer has a server of tenants as a Service: the API server passes the header
// that names one on, and what the server answers without it.
func testHeadersThroughAPIServer(t *testing.T, c *cluster.Cluster, ns string, through *source.Cluster) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tenant := r.Header.Get("X-Scope-OrgID"); tenant == "" && !strings.HasSuffix(r.URL.Path, "/-/ready") {
			http.Error(w, "no org id", http.StatusUnauthorized)
		} else {
			fmt.Fprintf(w, "tenant %s, credentials %q", tenant, r.Header.Get("Authorization"))
		}
	}))
	defer server.Close()
	c.ServePrometheus(t, server.URL, ns, "tenants")
	address := fmt.Sprintf("svc:%s/tenants:%d", ns, cluster.PrometheusPort)
	for tenant, want := range map[string]string{"": "no org id", "shop": `tenant shop, credentials \"\"`} {
		access := prometheus.Access{}
		if tenant != "" {
			access.Headers = []prometheus.Header{{Name: "X-Scope-OrgID", Value: tenant}}
		}
		path, err := access.ServicePath(address)
		if err != nil {
			t.Fatal(err)
		}
		proxy, via := through.Proxied(path)
		client, err := access.Client(via)
		if err != nil {
			t.Fatal(err)
		}
		for size := range 2 { // a long query is posted
			o := metrics.HistoryOptions{Window: metrics.Window{From: at(20), To: at(50)}, Client: client, Name: address, Matchers: `cluster=~"` + strings.Repeat("x", size*5000) + `"`}
			h, err := metrics.NewHistory(proxy.String(), o)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = h.Quantile(t.Context(), metrics.QuantileQuery{Resource: metrics.Memory, Quantile: 0.5, Namespace: "shop"})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("tenant %q, %d: error is %v, want one with %s", tenant, size, err, want)
			}
		}
	}
}

// testLimitedServer wants the same figures of a server that refuses to
// load many samples: the window is asked for in pieces.
func testLimitedServer(t *testing.T, h *history, server string) {
	small := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all(), Flags: []string{"--query.max-samples=1500"}})
	from, to := at(20), at(50)
	var refused atomic.Int64
	counting := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && resp.StatusCode == http.StatusUnprocessableEntity {
			refused.Add(1)
		}
		return resp, err
	})}
	r := measuredWith(t, small.URL, metrics.HistoryOptions{Window: metrics.Window{From: from, To: to}, Client: counting})
	if refused.Load() == 0 {
		t.Error("the server refused no query: its limit is too high for this test")
	}
	for _, n := range r.Notes {
		if n.LowersFigures && n.Reason != metrics.PodGap {
			t.Errorf("a note of a server that was asked in pieces: %+v", n)
		}
	}
	got, want := figures(t, r), figures(t, measured(t, server, from, to))
	for what, n := range want {
		if got[what] != n {
			t.Errorf("%s is %d in pieces, %d without a limit", what, got[what], n)
		}
	}
}

// TestHistoryOfAServerThatEnds stops the server between two queries of a window: half
// a window is no answer.
func TestHistoryOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	h := newHistory(historySeed)
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all()})
	var asked atomic.Int64
	stopping := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if asked.Add(1) == 12 {
			if err := p.Stop(); err != nil {
				return nil, err
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	source, err := metrics.NewHistory(p.URL, metrics.HistoryOptions{
		Window: metrics.Window{From: at(6), To: at(78)}, Namespaces: []string{historyNamespace}, Client: stopping,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &metrics.UsageReport{}
	err = source.Measure(t.Context(), r)
	if err == nil || len(r.Pods) > 0 {
		t.Fatalf("%d pods and error %v of a server that ended after %d queries", len(r.Pods), err, asked.Load())
	}
	host := strings.TrimPrefix(p.URL, "http://")
	if text := err.Error(); !strings.Contains(text, host) || !strings.Contains(text, "refused") {
		t.Errorf("error %q does not say which server refused", text)
	}
}

// roundTrip is a function that sends requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHistoryOfAServerThatWarns asks a server whose long-term storage does not
// answer: it says so beside its answer, and the figures are marked.
func TestHistoryOfAServerThatWarns(t *testing.T) {
	t.Parallel()
	h := newHistory(historySeed)
	nobody := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all()})
	if err := nobody.Stop(); err != nil {
		t.Fatal(err)
	}
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{
		Series: h.all(),
		Config: "remote_read:\n- url: " + nobody.URL + "/api/v1/read\n  read_recent: true\n",
	})
	r := measured(t, p.URL, at(20), at(50), historyNamespace)
	warning := slices.IndexFunc(r.Notes, func(n metrics.Note) bool { return n.Reason == "Warning" && n.LowersFigures })
	if warning < 0 || !strings.Contains(r.Notes[warning].Message, "remote_read") {
		t.Fatalf("no note marks the figures: %+v", r.Notes)
	}
	lives := h.lives(at(20), at(50))
	slices.SortFunc(r.Pods, func(a, b metrics.Pod) int { return cmp.Compare(a.UID, b.UID) })
	for _, pod := range r.Pods {
		if life := lives[pod.UID]; life != nil && life.name == "db-0" {
			checkPod(t, pod, life, life.of(at(20), at(50))) // what it has itself it has told
		}
	}
}
