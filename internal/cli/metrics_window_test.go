package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/label/__name__/values"):
			fmt.Fprint(w, `{"status":"success","data":["container_cpu_usage_seconds_total","kube_node_status_capacity","kube_pod_info","kube_pod_status_phase"]}`)
			return
		case strings.Contains(r.URL.Path, "/label/"):
			fmt.Fprint(w, `{"status":"success","data":[]}`)
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
		args = append([]string{"metrics", "doctor", "--window", "2026-09-01/2026-09-02", "--prometheus-matchers", `cluster="eu"`}, args...)
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
