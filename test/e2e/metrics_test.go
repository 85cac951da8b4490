package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// sampled is how long a test waits for a metrics server: it scrapes every ten seconds,
// and knows a pod by two scrapes.
var sampled = timeout.Scaled(3 * time.Minute)

// used is the JSON of the metrics command, as far as tests look at it. What is absent
// in it is nil.
type used struct {
	At, GroupBy, Sharing string
	Rows                 []usedRow
	Total                usedRow
	Notes                []struct{ Source, About, Reason, Message string }
	Gaps                 []gap
}

type usedRow struct {
	Level, ID, Name, Stack          string
	Pods, Measured                  int
	Used, Requests, Limits, Claimed amounts
	Counters, HostTraffic           amounts
	HostNetwork                     bool
	Unmeasured                      string
	Cost                            money
	Share                           *decimal.Decimal
	SharedBy                        int
	Rows                            []usedRow
}

// amount is an exact quantity.
type amount = decimal.Decimal

type amounts struct {
	CPU, Memory, Storage, EphemeralStorage, Received, Sent *decimal.Decimal
}

type money struct {
	Hour, Month, Window *decimal.Decimal
	Parts               map[string]decimal.Decimal
}

// row returns the row of an object, wherever it is; an empty one if there is none.
func (u used) row(id string) usedRow { return findRow(u.Rows, id) }

func findRow(rows []usedRow, id string) usedRow {
	for _, r := range rows {
		if r.ID == id || r.ID == "" && r.Name == id {
			return r
		}
		if below := findRow(r.Rows, id); below.Level != "" {
			return below
		}
	}
	return usedRow{}
}

// has says whether the document has a note for the reason.
func (u used) has(reason string) bool {
	for _, n := range u.Notes {
		if n.Reason == reason {
			return true
		}
	}
	return false
}

// metricsOf runs the metrics command, which succeeds, and returns its document.
func metricsOf(t *testing.T, kubeconfig string, args ...string) used {
	t.Helper()
	u, _ := metricsSaying(t, kubeconfig, args...)
	return u
}

// metricsSaying returns what the command said on stderr, too.
func metricsSaying(t *testing.T, kubeconfig string, args ...string) (used, string) {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"metrics", "-o", "json"}, args...)...).succeeds(t)
	return parseUsed(t, r.stdout), r.stderr
}

func parseUsed(t *testing.T, text string) used {
	t.Helper()
	var u used
	if err := json.Unmarshal([]byte(text), &u); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return u
}

// Prices of OpenCost's configs/default.json.
const (
	coreHour    = "0.031611"
	memoryHour  = "0.004237"      // a GiB
	storageHour = "0.00005479452" // a GiB
)

// sums is what pods and claims use, request and cost, added up by hand.
type sums struct {
	pods, measured                         int
	cpu, memory, cpuRequest, memoryRequest decimal.Decimal
	storage                                decimal.Decimal
	podCost, claimCost                     decimal.Decimal
	print                                  string // changes with what was added up
}

// chosen says which pods, by their labels, and which claims are added up.
type chosen struct {
	pods   func(labels map[string]string) bool
	claims func(name string) bool
}

func everything() chosen {
	return chosen{func(map[string]string) bool { return true }, func(string) bool { return true }}
}

func exact(q resource.Quantity) decimal.Decimal { return decimal.RequireFromString(q.AsDec().String()) }

// priced is an amount in units of 2^-shift, rounded to 12 places, at a price.
func priced(amount decimal.Decimal, shift int, price string) decimal.Decimal {
	return amount.DivRound(decimal.NewFromInt(1<<shift), 12).Mul(decimal.RequireFromString(price))
}

// samplesOf asks the metrics API, as kubectl top does.
func samplesOf(t *testing.T, c *cluster.Cluster, ns string) (map[string]metricsv1beta1.PodMetrics, error) {
	t.Helper()
	b, err := admin(c).CoreV1().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/" + ns + "/pods").DoRaw(t.Context())
	if err != nil {
		return nil, err
	}
	var list metricsv1beta1.PodMetricsList
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	out := map[string]metricsv1beta1.PodMetrics{}
	for _, item := range list.Items {
		out[item.Name] = item
	}
	return out, nil
}

// byHand adds up the pods and claims of a namespace. It is an error that a running pod
// has no sample yet.
func byHand(t *testing.T, c *cluster.Cluster, ns string, of chosen) (sums, error) {
	t.Helper()
	var s sums
	samples, err := samplesOf(t, c, ns)
	if err != nil {
		return s, err
	}
	pods, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if ended || p.Spec.NodeName == "" || !of.pods(p.Labels) {
			continue
		}
		sample, ok := samples[p.Name]
		if !ok && p.Status.Phase == corev1.PodRunning {
			return s, fmt.Errorf("no sample of %s yet", p.Name)
		}
		s.addPod(p, sample.Containers)
		s.print += fmt.Sprintln(p.Name, p.UID, p.Status.Phase, sample.Timestamp.UnixNano())
	}
	claims, err := admin(c).CoreV1().PersistentVolumeClaims(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	for _, claim := range claims.Items {
		if claim.Status.Phase == corev1.ClaimBound && of.claims(claim.Name) {
			size := exact(claim.Status.Capacity[corev1.ResourceStorage])
			s.storage, s.claimCost = s.storage.Add(size), s.claimCost.Add(priced(size, 30, storageHour))
			s.print += fmt.Sprintln(claim.Name, size)
		}
	}
	return s, nil
}

// addPod adds a pod. The data have no sidecars and no overhead: what a pod requests is
// what its containers do, or the largest of its init containers.
func (s *sums) addPod(p *corev1.Pod, containers []metricsv1beta1.ContainerMetrics) {
	of := func(name corev1.ResourceName) (used, request decimal.Decimal) {
		for _, c := range containers {
			used = used.Add(exact(c.Usage[name]))
		}
		for i := range p.Spec.Containers {
			request = request.Add(exact(p.Spec.Containers[i].Resources.Requests[name]))
		}
		for i := range p.Spec.InitContainers {
			request = decimal.Max(request, exact(p.Spec.InitContainers[i].Resources.Requests[name]))
		}
		return used, request
	}
	cpu, cpuRequest := of(corev1.ResourceCPU)
	memory, memoryRequest := of(corev1.ResourceMemory)
	s.pods++
	if len(containers) > 0 {
		s.measured++
	}
	s.cpu, s.memory = s.cpu.Add(cpu), s.memory.Add(memory)
	s.cpuRequest, s.memoryRequest = s.cpuRequest.Add(cpuRequest), s.memoryRequest.Add(memoryRequest)
	s.podCost = s.podCost.Add(priced(decimal.Max(cpu, cpuRequest), 0, coreHour)).Add(priced(decimal.Max(memory, memoryRequest), 30, memoryHour))
}

// equals tells what in a row is not as it was added up.
func (s *sums) equals(r usedRow) []string {
	var out []string
	if r.Pods != s.pods || r.Measured != s.measured {
		out = append(out, fmt.Sprintf("%d of %d pods measured, want %d of %d", r.Measured, r.Pods, s.measured, s.pods))
	}
	for _, c := range []struct {
		what string
		got  *decimal.Decimal
		want decimal.Decimal
	}{
		{"CPU used", r.Used.CPU, s.cpu},
		{"memory used", r.Used.Memory, s.memory},
		{"CPU requested", r.Requests.CPU, s.cpuRequest},
		{"memory requested", r.Requests.Memory, s.memoryRequest},
		{"storage claimed", r.Claimed.Storage, s.storage},
		{"cost of an hour", r.Cost.Hour, s.podCost.Add(s.claimCost)},
		{"cost of a month", r.Cost.Month, s.podCost.Add(s.claimCost).Mul(decimal.NewFromInt(730))},
	} {
		if got := value(c.got); !got.Equal(c.want) {
			out = append(out, fmt.Sprintf("%s: %s, want %s", c.what, got, c.want))
		}
	}
	return out
}

func value(d *decimal.Decimal) decimal.Decimal {
	if d == nil {
		return decimal.Decimal{}
	}
	return *d
}

// addsUp tells which rows are not the sum of those below, down to pods.
func (u used) addsUp() []string {
	out := adds("total", u.Total, u.Rows)
	for _, r := range u.Rows {
		out = append(out, r.addsUp()...)
	}
	return out
}

func (r usedRow) addsUp() []string {
	if len(r.Rows) == 0 || r.Rows[0].Level == "container" {
		return nil
	}
	out := adds(r.Level+" "+r.ID+" "+r.Name, r, r.Rows)
	for _, below := range r.Rows {
		out = append(out, below.addsUp()...)
	}
	return out
}

func adds(what string, whole usedRow, rows []usedRow) []string {
	var out []string
	for name, of := range map[string]func(usedRow) *decimal.Decimal{
		"hour":             func(r usedRow) *decimal.Decimal { return r.Cost.Hour },
		"month":            func(r usedRow) *decimal.Decimal { return r.Cost.Month },
		"CPU used":         func(r usedRow) *decimal.Decimal { return r.Used.CPU },
		"memory used":      func(r usedRow) *decimal.Decimal { return r.Used.Memory },
		"CPU requested":    func(r usedRow) *decimal.Decimal { return r.Requests.CPU },
		"memory requested": func(r usedRow) *decimal.Decimal { return r.Requests.Memory },
		"storage claimed":  func(r usedRow) *decimal.Decimal { return r.Claimed.Storage },
		"bytes received":   func(r usedRow) *decimal.Decimal { return r.Counters.Received },
	} {
		var sum decimal.Decimal
		for _, r := range rows {
			sum = sum.Add(value(of(r)))
		}
		if want := value(of(whole)); !sum.Equal(want) {
			out = append(out, fmt.Sprintf("%s: %s of the rows is %s, of the whole %s", what, name, sum, want))
		}
	}
	var parts decimal.Decimal
	for _, name := range slices.Sorted(maps.Keys(whole.Cost.Parts)) {
		parts = parts.Add(whole.Cost.Parts[name])
	}
	if want := value(whole.Cost.Hour); !parts.Equal(want) {
		out = append(out, fmt.Sprintf("%s: the parts of its cost add up to %s, want %s", what, parts, want))
	}
	return out
}

// What metrics says equals what kubectl top pods says, added up by hand, of a stack, a
// custom resource and a namespace; and what it costs follows from it.
func TestMetricsEqualsTop(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	mysql := func(l map[string]string) bool { return l["mysql.presslabs.org/cluster"] == "cluster1" }
	ofMysql := func(claim string) bool { return strings.HasPrefix(claim, "data-cluster1-mysql-") }
	for _, s := range []struct {
		name string
		args []string
		of   chosen
	}{
		{"a stack, with the database that it needs", []string{"moodle/moodle-1"}, chosen{
			func(l map[string]string) bool { return l["app.kubernetes.io/instance"] == "moodle-1" || mysql(l) },
			func(claim string) bool { return claim == "moodle-1-data" || ofMysql(claim) },
		}},
		{"a custom resource", []string{"mysqlcluster/cluster1"}, chosen{mysql, ofMysql}},
		{"a namespace", nil, everything()},
		{"by namespace", []string{"--by", "namespace"}, everything()},
		{"by resource", []string{"--by", "resource"}, everything()},
		{"by node", []string{"--by", "node"}, everything()},
	} {
		t.Run(s.name, func(t *testing.T) {
			cluster.Eventually(t, sampled, func() error {
				before, err := byHand(t, c, demo, s.of)
				if err != nil {
					return err
				}
				u := metricsOf(t, c.Kubeconfig, append(s.args, "-n", demo)...)
				after, err := byHand(t, c, demo, s.of)
				if err := changed(before, after, err); err != nil {
					return err
				}
				if before.pods == 0 {
					t.Fatal("no pods were added up")
				}
				for _, d := range append(before.equals(u.Total), u.addsUp()...) {
					t.Error(d)
				}
				return nil
			})
		})
	}
}

// exactOf is what a quantity says.
func exactOf(quantity string) decimal.Decimal { return exact(resource.MustParse(quantity)) }

// changed is an error unless two sums are of the same samples.
func changed(before, after sums, err error) error {
	if err == nil && before.print != after.print {
		return errors.New("the samples changed meanwhile")
	}
	return err
}

// text is a row with all its figures.
func (r usedRow) text() string {
	figures := make([]string, 0, len(r.Cost.Parts))
	for _, name := range slices.Sorted(maps.Keys(r.Cost.Parts)) {
		figures = append(figures, name+"="+r.Cost.Parts[name].String())
	}
	return fmt.Sprintf("%s %s %s %s %d/%d used %s requests %s limits %s claimed %s counters %s host %s %t %q cost %s %s %v share %s %d",
		r.Level, r.ID, r.Name, r.Stack, r.Measured, r.Pods, r.Used, r.Requests, r.Limits, r.Claimed, r.Counters, r.HostTraffic,
		r.HostNetwork, r.Unmeasured, shown(r.Cost.Hour), shown(r.Cost.Month), figures, shown(r.Share), r.SharedBy)
}

func (a amounts) String() string {
	return fmt.Sprintf("{%s %s %s %s %s %s}", shown(a.CPU), shown(a.Memory), shown(a.Storage), shown(a.EphemeralStorage), shown(a.Received), shown(a.Sent))
}
