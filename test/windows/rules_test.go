package windows

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/shopspring/decimal"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// busy is a history of pods that come and go, restart, and change what they use.
func busy(t *testing.T) *truth {
	f, r := &truth{T: t}, rand.New(rand.NewPCG(7, 9))
	for i := range 8 {
		from := r.Int64N(200)
		to := min(240, from+5+r.Int64N(150))
		uid := uidA[:35] + strconv.Itoa(i)
		name := "web-" + strconv.Itoa(i%5) // some names are used again
		l := podLabels("shop", name, uid)
		f.over("kube_pod_info", with2(l, "node", "n1"), from, to, "1")
		f.over("kube_pod_created", l, from, to, strconv.FormatInt(at(from)/1000, 10))
		f.over("kube_pod_start_time", l, from, to, strconv.FormatInt(at(from)/1000, 10))
		f.over("kube_pod_status_phase", with2(l, "phase", "Running"), from, to, "1")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "cpu"), from, to, "0.1")
		f.over("kube_pod_container_resource_requests", with2(l, "container", "app", "resource", "memory"), from, to, "1000")
		f.over("kube_pod_container_resource_limits", with2(l, "container", "app", "resource", "memory"), from, to, "2000")
		c := cadvisor("shop", name, "app", "/kubepods/pod"+uid+"/"+strconv.Itoa(i))
		var cpu, memory []fakeSample
		total := int64(0)
		for m := from; m <= to; m++ {
			cpu = append(cpu, fakeSample{at(m), strconv.FormatInt(total, 10)})
			memory = append(memory, fakeSample{at(m), strconv.FormatInt(r.Int64N(3000), 10)})
			if total += r.Int64N(60); r.IntN(40) == 0 {
				total = 0
			}
		}
		f.add("container_cpu_usage_seconds_total", c, cpu...)
		f.add("container_memory_working_set_bytes", c, memory...)
		f.over("container_start_time_seconds", c, from, to, strconv.FormatInt(at(from)/1000, 10))
	}
	claim := map[string]string{"namespace": "shop", "persistentvolumeclaim": "data"}
	f.over("kube_persistentvolumeclaim_resource_requests_storage_bytes", claim, 10, 230, "100")
	f.over("kube_pod_spec_volumes_persistentvolumeclaims_info", with2(podLabels("shop", "web-0", uidA[:35]+"0"), "persistentvolumeclaim", "data"), 0, 240, "1")
	f.over("kube_node_status_capacity", map[string]string{"node": "n1", "resource": "cpu"}, 0, 240, "4")
	return f
}

// sums are all amounts of a report.
func sums(r *metrics.UsageReport) map[string]decimal.Decimal {
	out := map[string]decimal.Decimal{"hours": r.Hours}
	put := func(key string, a metrics.Amounts) {
		for name, v := range a.All() {
			out[key+" "+string(name)] = v
		}
	}
	for _, p := range r.Pods {
		key := p.Ref.Name + " " + string(p.UID)
		out[key+" hours"] = p.Hours
		put(key+" used", p.Used)
		put(key+" requested", p.Requested)
		put(key+" limited", p.Limited)
		put(key+" charged", p.Charged)
	}
	for _, c := range r.Claims {
		out[c.Ref.Name], out[c.Ref.Name+" hours"], out[c.Ref.Name+" unmounted"] = c.Claimed, c.Hours, c.Unmounted
	}
	for _, n := range r.Nodes {
		out[n.Name] = n.Hours
		put(n.Name, n.Capacity)
	}
	return out
}

// TestAdjacentWindows cuts windows anywhere, also within steps: the parts, and what they cost, add
// up to the whole.
func TestAdjacentWindows(t *testing.T) {
	f, r := busy(t), rand.New(rand.NewPCG(3, 1))
	book, problems := cost.ParseBook("book.yaml", []byte("apiVersion: sysop.dev/v1alpha1\nkind: PriceBook\ncurrency: EUR\ncpu: \"0.031611\"\nmemory: \"0.004237\"\nstorage: \"0.00005\"\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	bill := func(r *metrics.UsageReport) decimal.Decimal {
		return cost.Allocate(r, &metrics.Attribution{}, book, cost.Options{}).Total()
	}
	for range 5 {
		from, to := at(r.Int64N(60))+r.Int64N(minute), at(150+r.Int64N(90))+r.Int64N(minute)
		cuts := []int64{from, from + 2*minute + r.Int64N(to-from-4*minute), from + 2*minute + r.Int64N(to-from-4*minute), to}
		slices.Sort(cuts)
		if cuts[2]-cuts[1] < 2*minute {
			cuts = slices.Delete(cuts, 1, 2)
		}
		parts, paid := map[string]decimal.Decimal{}, decimal.Decimal{}
		for i := range len(cuts) - 1 {
			part := f.measure(cuts[i], cuts[i+1], nil)
			for key, v := range sums(part) {
				parts[key] = parts[key].Add(v)
			}
			paid = paid.Add(bill(part))
		}
		all := f.measure(from, to, nil)
		whole := sums(all)
		if off := paid.Sub(bill(all)).Abs(); off.GreaterThan(decimal.New(1, -12)) || !paid.IsPositive() {
			t.Errorf("cuts %v: the parts cost %s, the whole %s", cuts, paid, bill(all))
		}
		for key := range parts {
			if off := parts[key].Sub(whole[key]).Abs(); off.GreaterThan(decimal.New(1, -15)) {
				t.Errorf("cuts %v: %s: the parts add up to %s, the whole is %s", cuts, key, parts[key], whole[key])
			}
		}
	}
}

// TestRules records the rules at each step, as two replicas of Prometheus with them would have, on a server
// that loads the rules file (it does not start with one that is not valid): a window has the
// same figures with them.
func TestRules(t *testing.T) {
	f := busy(t)
	step := func(o *metrics.HistoryOptions) { o.Step = metrics.RuleInterval }
	want := sums(f.read(nil, step))
	for _, matchers := range []string{"", `instance!="nobody"`} {
		with := f.withRules(matchers)
		r := with.read(nil, step, func(o *metrics.HistoryOptions) { o.Matchers = matchers })
		if n := note(r, "Steps"); !strings.Contains(n.Message, "by recording rules") {
			t.Errorf("the rules with matchers %q are not used: %+v", matchers, r.Notes)
		}
		got := sums(r)
		for key, v := range want {
			if !got[key].Equal(v) {
				t.Errorf("%s is %s with rules, %s without", key, got[key], v)
			}
		}
		const others = `instance!="other"`
		if n := note(with.read(nil, step, func(o *metrics.HistoryOptions) { o.Matchers = others }), "Steps"); strings.Contains(n.Message, "by recording rules") {
			t.Errorf("the rules with matchers %q are used for %q", matchers, others)
		}
		for asked, there := range map[string]bool{matchers: true, others: false} {
			if got := with.inspected(asked, "sysop:steps"); got == metrics.Absent == there {
				t.Errorf("the rules with matchers %q are %s for %q", matchers, got, asked)
			}
		}
	}
}

// inspected is what the inspection of the history says of a metric.
func (f *truth) inspected(matchers, metric string) metrics.Availability {
	f.Helper()
	w := metrics.Window{From: time.UnixMilli(at(0)), To: time.UnixMilli(at(240))}
	h, err := metrics.NewHistory(f.url, metrics.HistoryOptions{Window: w, Matchers: matchers})
	if err != nil {
		f.Fatal(err)
	}
	all, err := h.Inspect(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return all[slices.IndexFunc(all, func(m metrics.MetricStatus) bool { return m.Metric == metric })].Status
}

// withRules is a server that has recorded what two replicas of the rules compute.
func (f *truth) withRules(matchers string) *truth {
	f.Helper()
	t := f.T
	rules := metrics.Rules(matchers)
	series := slices.Clone(f.series)
	for _, rule := range rules {
		for _, replica := range []model.LabelValue{"a", "b"} {
			for _, s := range f.evaluated(rule.Expr) {
				s.Metric[model.MetricNameLabel], s.Metric["prometheus_replica"] = model.LabelValue(rule.Record), replica
				for name, v := range rule.Labels {
					s.Metric[model.LabelName(name)] = model.LabelValue(v)
				}
				series = append(series, s)
			}
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "sysop", "interval": "5m", "query_offset": "2m", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return &truth{T: t, url: cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: series, Config: "rule_files: [" + file + "]\n"}).URL}
}

// TestRulesRelabelled has a scraper that puts its own labels in the place of others: what rules
// record is of the pods all the same.
func TestRulesRelabelled(t *testing.T) {
	f := &truth{T: t}
	l := map[string]string{"namespace": "monitoring", "pod": "ksm-0", "exported_namespace": "shop", "exported_pod": "web", "uid": uidA, "phase": "Running"}
	f.over("kube_pod_status_phase", l, 0, 240, "1")
	f.read(nil)
	for _, rule := range metrics.Rules("") {
		if rule.Record != "sysop:pod_running" {
			continue
		}
		if got := f.evaluated(rule.Expr); len(got) != 1 || got[0].Metric["namespace"] != "shop" || got[0].Metric["pod"] != "web" {
			t.Errorf("the rule records %v", got)
		}
	}
}

// evaluated is what a rule records at every step of the history.
func (f *truth) evaluated(expr string) []model.SampleStream {
	f.Helper()
	form := url.Values{"query": {expr}, "start": {strconv.FormatInt(at(0)/1000, 10)}, "end": {strconv.FormatInt(at(240)/1000, 10)}, "step": {strconv.Itoa(int(metrics.RuleInterval / time.Second))}}
	resp, err := http.PostForm(f.url+"/api/v1/query_range", form)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got struct {
		Error string
		Data  struct{ Result []model.SampleStream }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.Error != "" {
		f.Fatalf("%s: %v %s", expr, err, got.Error)
	}
	return got.Data.Result
}

// TestReset has the example of docs/chargeback.md: the step of a reset adds nothing.
func TestReset(t *testing.T) {
	f := &truth{T: t}
	c := cadvisor("shop", "web", "app", "/kubepods/pod"+uidA+"/one")
	f.add("container_cpu_usage_seconds_total", c, fakeSample{at(120), "10"}, fakeSample{at(121), "40"}, fakeSample{at(122), "5"}, fakeSample{at(123), "65"})
	equal(t, "CPU", podOf(t, f.read(nil), "web", uidA).Used.Value(metrics.CPU), "0.025")
}
