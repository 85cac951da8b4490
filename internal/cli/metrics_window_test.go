package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
)

// pastPods is a node of four cores, and two pods without owners that are there.
const pastPods = `apiVersion: sysop.dev/v1alpha1
kind: Snapshot
objects: 3
covered: [{kind: Pod}, {kind: Node}]
---
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1-uid}
status: {capacity: {cpu: "4"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: web, uid: a-uid}
spec: {nodeName: n1, containers: [{name: c}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: web, uid: b-uid}
spec: {nodeName: n1, containers: [{name: c}]}
status: {phase: Running}
...
`

// past answers as a Prometheus that has an hour: of the pods a and b of web, which used a core
// each, of lost, which used one and is gone, and of their node.
func past(t *testing.T) string {
	t.Helper()
	rows := map[string][]string{}
	add := func(query, labels string, value int64) {
		rows[query] = append(rows[query], fmt.Sprintf(`{"metric":{%s},"value":[1,"%d"]}`, labels, value))
	}
	const coreHour = 3_600_000_000 // microseconds
	add("sum_over_time(((round(max by (node,resource) (kube_node", `"node":"n1","resource":"cpu"`, 4000*60)
	add("sum_over_time(((round(max by (node,resource) (kube_node", `"node":"n1"`, 60)
	add("sum_over_time(((group(", "", 60)
	for _, pod := range []string{"a", "b", "lost"} {
		labels := fmt.Sprintf(`"namespace":"web","pod":%q,"uid":"%s-uid"`, pod, pod)
		add("sum_over_time((sum by (namespace,pod,uid,container) (round(", labels+`,"container":"c"`, coreHour)
		add("sum_over_time((max by (namespace,pod,uid,resource) (", labels+`,"resource":"cpu"`, coreHour)
		add("max by (namespace,pod,uid,node,host_network", labels+`,"node":"n1","host_network":"false"`, 1)
		add("sum_over_time(((max by (namespace,pod,uid) (kube_pod_status_phase", labels, 60)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if labelAnswered(w, r) {
			return
		}
		var found []string
		for query, list := range rows {
			if strings.HasPrefix(r.FormValue("query"), query) {
				found = append(found, list...)
			}
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(found, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A question about one of several pods of a namespace says which are gone, and not that
// of the others; of what is idle it pays its part alone.
func TestWindowOfOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte(pastPods), 0o600); err != nil {
		t.Fatal(err)
	}
	args := "metrics pod/a -n web --share-idle --depth 2 --window 2026-09-01T00:00:00Z/2026-09-01T01:00:00Z --from " + file + " --prometheus " + past(t)
	var out, talk bytes.Buffer
	if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), strings.Fields(args)); code != 0 {
		t.Fatalf("exit %d: %s", code, &talk)
	}
	if !strings.Contains(talk.String(), "1 deleted pods cannot be attributed to a stack: web/lost;") {
		t.Errorf("stderr %s", &talk)
	}
	// A core-hour, and a third of the one that nobody used.
	if !strings.Contains(out.String(), "└─ idle  ") || !strings.Contains(out.String(), " 0.0105 ") || !strings.Contains(out.String(), " 0.0421 ") {
		t.Errorf("stdout\n%s", &out)
	}
}

// TestMetricsDoctor asks a server that has some of the metrics at each moment.
func TestMetricsDoctor(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.FormValue("query"), `cluster="eu"`) {
			t.Errorf("the query is %s", r.FormValue("query"))
		}
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"metric":"kube_pod_info"},"value":[1,"1"]}]}}`)
	}))
	defer s.Close()
	ask := func(want int, args ...string) (string, string) {
		var out, talk bytes.Buffer
		args = append([]string{"metrics", "doctor", "--window", "2026-09-01/2026-09-02", "--context", "eu", "--prometheus-matchers", `cluster="{cluster}"`}, args...)
		if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), args); code != want {
			t.Fatalf("exit %d: %s", code, &talk)
		}
		return strings.Join(strings.Fields(out.String()), " "), talk.String()
	}
	out, talk := ask(0, "--prometheus", s.URL)
	for _, line := range []string{
		"kube_pod_info kube-state-metrics present 2026-09-01 00:00",
		"container_cpu_usage_seconds_total kubelet missing usage of CPU is unknown: pods pay for their requests alone",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	if !strings.Contains(talk, "1 of 25 metrics are present in the whole window 2026-09-01T00:00:00Z/2026-09-02T00:00:00Z") {
		t.Errorf("stderr %s", talk)
	}
	if out, _ := ask(0, "--prometheus", s.URL, "-o", "json"); !strings.Contains(out, `"status": "missing"`) {
		t.Errorf("stdout %s", out)
	}
	if _, talk := ask(1); !strings.Contains(talk, "hint: add --prometheus URL") {
		t.Errorf("stderr %s", talk)
	}
}

// labelAnswered answers a question about values of labels: the four metrics are there, and no labels
// of clusters. It says whether that was the question.
func labelAnswered(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/label/__name__/values"):
		fmt.Fprint(w, `{"status":"success","data":["container_cpu_usage_seconds_total","kube_node_status_capacity","kube_pod_info","kube_pod_status_phase"]}`)
	case strings.Contains(r.URL.Path, "/label/"):
		fmt.Fprint(w, `{"status":"success","data":[]}`)
	default:
		return false
	}
	return true
}

// threeDays answers as a Prometheus that has the pod a, which used the more the later it was, and b,
// which is gone after the first day.
func threeDays(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if labelAnswered(w, r) {
			return
		}
		at, err := strconv.ParseFloat(r.FormValue("time"), 64)
		if err != nil {
			t.Errorf("time is %q", r.FormValue("time"))
		}
		query := r.FormValue("query")
		end := time.UnixMilli(int64(at * 1000)).UTC()
		length := rangeAtEnd(t, query)
		begin := end.Add(-length).Truncate(time.Minute)
		first := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
		var use, hours int64 // of a, in core-minutes, and of b, in minutes
		for m := begin; m.Before(end.Truncate(time.Minute)); m = m.Add(time.Minute) {
			day := int64(m.Sub(first) / (24 * time.Hour))
			use += 1 + day
			if day == 0 {
				hours++
			}
		}
		steps := int64(end.Sub(begin) / time.Minute)
		var found []string
		add := func(prefix, labels string, value int64) {
			if strings.HasPrefix(query, prefix) && value > 0 {
				found = append(found, fmt.Sprintf(`{"metric":{%s},"value":[1,"%d"]}`, labels, value))
			}
		}
		add("sum_over_time(((round(max by (node,resource) (kube_node", `"node":"n1","resource":"cpu"`, 8000*steps)
		add("sum_over_time(((round(max by (node,resource) (kube_node", `"node":"n1"`, steps)
		add("sum_over_time(((group(", "", steps)
		for pod, of := range map[string][2]int64{"a": {use, steps}, "b": {hours, hours}} {
			labels := fmt.Sprintf(`"namespace":%q,"pod":%q,"uid":"%s-uid"`, map[string]string{"a": "web", "b": "old"}[pod], pod, pod)
			add("sum_over_time((sum by (namespace,pod,uid,container) (round(", labels+`,"container":"c"`, of[0]*60_000_000)
			add("sum_over_time((max by (namespace,pod,uid,resource) (", labels+`,"resource":"cpu"`, of[0]*60_000_000)
			add("sum_over_time(((max by (namespace,pod,uid) (kube_pod_status_phase", labels, of[1])
			if of[1] > 0 {
				add("max by (namespace,pod,uid,node,host_network", labels+`,"node":"n1","host_network":"false"`, 1)
			}
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(found, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// rangeAtEnd is the range of the outermost part of a query.
func rangeAtEnd(t *testing.T, query string) time.Duration {
	t.Helper()
	text, _, _ := strings.Cut(query[strings.LastIndex(query, "[")+1:], "]")
	text, _, _ = strings.Cut(text, ":")
	d, err := model.ParseDuration(text)
	if err != nil {
		t.Errorf("query %s: %v", query, err)
	}
	return time.Duration(d).Round(time.Minute)
}

// TestWindowByDay divides three days and a half by the calendar: the rows of each format add up to
// the window without --every, of each pod and of idle.
func TestWindowByDay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte(pastPods), 0o600); err != nil {
		t.Fatal(err)
	}
	server := threeDays(t)
	ask := func(more string) string {
		t.Helper()
		args := "metrics -A --window 2026-09-01T00:00:00Z/2026-09-03T12:00:00Z --step 5m --from " + file + " --prometheus " + server + " " + more
		var out, talk bytes.Buffer
		if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), strings.Fields(args)); code != 0 {
			t.Fatalf("%s: exit %d: %s", more, code, &talk)
		}
		return out.String()
	}
	type row struct {
		Level, Name string
		From, To    time.Time
		Cost        struct{ Window decimal.Decimal }
		Used        struct{ CPU decimal.Decimal }
		Rows        []row
	}
	var whole, days struct {
		Every string
		Rows  []row
		Total row
	}
	for text, into := range map[string]any{"": &whole, "--every day": &days} {
		if err := json.Unmarshal([]byte(ask("--by namespace -o json "+text)), into); err != nil {
			t.Fatal(err)
		}
	}
	sums, sum := map[string]decimal.Decimal{}, decimal.Decimal{}
	for _, day := range days.Rows {
		sum = sum.Add(day.Cost.Window)
		for _, r := range day.Rows {
			sums[r.Name] = sums[r.Name].Add(r.Cost.Window)
		}
	}
	if !sum.Equal(whole.Total.Cost.Window) || !days.Total.Cost.Window.Equal(whole.Total.Cost.Window) || len(days.Rows) != 3 || days.Every != "day" {
		t.Errorf("the days cost %s, in total %s, and the window %s", sum, days.Total.Cost.Window, whole.Total.Cost.Window)
	}
	for _, r := range whole.Rows {
		if !sums[r.Name].Equal(r.Cost.Window) {
			t.Errorf("%s costs %s by day, and %s in the window", r.Name, sums[r.Name], r.Cost.Window)
		}
	}
	last := days.Rows[2]
	if last.Level != "period" || last.Name != "2026-09-03" || last.To.Sub(last.From) != 12*time.Hour || !last.Rows[0].Used.CPU.Equal(decimal.NewFromInt(36)) {
		t.Errorf("the last day is %+v", last)
	}
	// The namespace old had a pod on the first day alone.
	table := strings.Split(strings.TrimSpace(ask("--by namespace --every day -o table")), "\n")
	var shown []string
	for _, line := range table {
		shown = append(shown, strings.Join(strings.Fields(line)[:2], " "))
	}
	want := "DAY (UTC)|2026-09-01 old|2026-09-01 web|2026-09-01 idle|2026-09-02 web|2026-09-02 idle|2026-09-03 web|2026-09-03 idle|total 0/3"
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("the table has %s, want %s", got, want)
	}
	checkDaysAsCSV(t, ask("--every day -o csv"), whole.Total.Cost.Window)
	if text := ask("--by namespace --every month --depth 1"); !strings.Contains(text, "MONTH (UTC), NAMESPACE") || !strings.Contains(text, "\n2026-09 ") {
		t.Errorf("tree\n%s", text)
	}
	page := ask("--by namespace -o html")
	for _, want := range []string{"<h1>Invoice</h1>", "2026-09-03 12:00 UTC", "<h2>By day</h2>", `class="idle"><title>2026-09-01, idle: `, "<small>capacity of nodes", `<td class="num">` + whole.Total.Cost.Window.StringFixed(2) + "</td></tr></tfoot>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the invoice", want)
		}
	}
	for _, format := range []string{"wide", "yaml", "name"} {
		if text := ask("--every week -o " + format); !strings.Contains(text, "2026-W36") {
			t.Errorf("%s\n%s", format, text)
		}
	}
}

// checkDaysAsCSV adds up the rows of a CSV table of days.
func checkDaysAsCSV(t *testing.T, text string, want decimal.Decimal) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var sum decimal.Decimal
	cost, hours := slices.Index(rows[0], "cost"), slices.Index(rows[0], "hours")
	for _, row := range rows[1:] {
		if row[cost] != "" { // a pod of which nothing is known has none
			sum = sum.Add(decimal.RequireFromString(row[cost]))
		}
		if long := map[string]string{"2026-09-01": "24", "2026-09-02": "24", "2026-09-03": "12"}[row[0]]; row[hours] != long || !strings.HasPrefix(row[1], row[0]+"T00:00:00Z") {
			t.Errorf("a row is of %s hours from %s to %s", row[hours], row[1], row[2])
		}
	}
	if !sum.Equal(want) {
		t.Errorf("%d rows cost %s, want %s", len(rows)-1, sum, want)
	}
}

// TestWindowOfClusters divides the report of two clusters that are the same: both have one window,
// though time goes on, and the dearest group comes first.
func TestWindowOfClusters(t *testing.T) {
	dir, server := t.TempDir(), threeDays(t)
	for _, name := range []string{"eu", "us"} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(pastPods), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(more string) []string {
		t.Helper()
		args := "metrics -A --every day --window 60h -o table --prometheus " + server + "/{cluster} --from " + dir + "/eu.yaml --from " + dir + "/us.yaml " + more
		now := time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)
		var out, talk bytes.Buffer
		e := env(strings.NewReader(""), &out, &talk)
		e.Now = func() time.Time { now = now.Add(time.Hour); return now }
		if code := cli.Main(t.Context(), e, strings.Fields(args)); code != 0 {
			t.Fatalf("%s: exit %d: %s", more, code, &talk)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	hours := map[string][]string{}
	for _, line := range ask("--by cluster")[1:] {
		if f := strings.Fields(line); f[0] != "total" {
			hours[f[1]] = append(hours[f[1]], f[0]+" "+f[3])
		}
	}
	if len(hours["eu"]) != 3 || !slices.Equal(hours["eu"], hours["us"]) {
		t.Errorf("the core-hours by day are %v", hours)
	}
	var shown []string
	for _, line := range ask("--by namespace --sort-by cost --top 1")[1:] {
		shown = append(shown, strings.Join(strings.Fields(line)[:2], " "))
	}
	want := "2026-09-01 web|2026-09-01 idle|2026-09-01 1|2026-09-02 web|2026-09-02 idle|2026-09-03 web|2026-09-03 idle|total 0/6"
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("the table has %s, want %s", got, want)
	}
}
