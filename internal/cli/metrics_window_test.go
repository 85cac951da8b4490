package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
)

// pastFrom is 2026-09-01, at midnight.
const pastFrom = 1788220800

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

// past answers as a Prometheus that has the series of an hour and some minutes: of the pods a and b of web,
// which used a core each, of lost, which used one and is gone, and of their node.
func past(t *testing.T) string {
	t.Helper()
	values := map[string]map[string]func(minute int64) int64{}
	add := func(name, labels string, value func(minute int64) int64) {
		if values[name] == nil {
			values[name] = map[string]func(int64) int64{}
		}
		values[name][labels] = value
	}
	constant := func(v int64) func(int64) int64 { return func(int64) int64 { return v } }
	add("kube_node_status_capacity", `"node":"n1","resource":"cpu","unit":"core"`, constant(4))
	for _, pod := range []string{"a", "b", "lost"} {
		labels := fmt.Sprintf(`"namespace":"web","pod":%q,`, pod)
		add("container_cpu_usage_seconds_total", labels+`"container":"c"`, func(m int64) int64 { return 60 * m })
		add("kube_pod_info", labels+fmt.Sprintf(`"node":"n1","host_network":"false","uid":"%s-uid"`, pod), constant(1))
		add("kube_pod_status_phase", labels+`"phase":"Running"`, constant(1))
	}
	query := regexp.MustCompile(`^(last_over_time\()?(\w+).*\[(\d+)(ms|s)\]\)?$`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := query.FindStringSubmatch(r.FormValue("query"))
		at, err := strconv.ParseFloat(r.FormValue("time"), 64)
		if m == nil || err != nil {
			http.Error(w, "cannot be read", http.StatusBadRequest)
			return
		}
		length, _ := strconv.ParseFloat(m[3], 64)
		if m[4] == "ms" {
			length /= 1000
		}
		var rows []string
		for labels, value := range values[m[2]] {
			var samples []string
			for minute := range int64(70) {
				if moment := pastFrom + 60*(minute-5); float64(moment) > at-length && float64(moment) <= at {
					samples = append(samples, fmt.Sprintf(`[%d,"%d"]`, moment, value(minute)))
				}
			}
			switch {
			case len(samples) == 0:
			case m[1] != "":
				rows = append(rows, fmt.Sprintf(`{"metric":{%s},"value":%s}`, labels, samples[len(samples)-1]))
			default:
				rows = append(rows, fmt.Sprintf(`{"metric":{%s},"values":[%s]}`, labels, strings.Join(samples, ",")))
			}
		}
		kind := "matrix"
		if m[1] != "" {
			kind = "vector"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[%s]}}`, kind, strings.Join(rows, ","))
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
