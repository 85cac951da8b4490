package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
)

// pastWeb is a Deployment with the pods of past.
const pastWeb = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: web, uid: d}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: web, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: web, uid: a-uid, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}
spec: {nodeName: n1, containers: [{name: c}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: web, uid: b-uid, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}
spec: {nodeName: n1, containers: [{name: c}]}
status: {phase: Running}
`

// Over a window the numbers follow from the percentiles of all pods together.
func TestAutoscaleWindow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte(pastWeb), 0o600); err != nil {
		t.Fatal(err)
	}
	history, err := url.Parse(past(t))
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(history)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		for quantile, value := range map[string]int{"0.5": 2000, "0.95": 3500} {
			if strings.HasPrefix(query, "quantile_over_time("+quantile+", sum(1000 * ") && strings.Contains(query, `pod=~"a|b"`) {
				fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"%d"]}]}}`, value)
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	args := "autoscale plan deployment/web -n web --window 2026-09-01T00:00:00Z/2026-09-01T01:00:00Z --from " + file + " --prometheus " + s.URL
	var out, talk bytes.Buffer
	if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), strings.Fields(args)); code != 0 {
		t.Fatalf("exit %d: %s", code, &talk)
	}
	// 2 cores at 70% of a core need 3 pods, one and a half times 3.5 cores need 8.
	if !strings.Contains(out.String(), "HPA       2    3      3    8  CPU: usual 2 needs 3 of 1 x 70%; peak 3500m x 1.5 needs 8 (p50 and p95 over ") {
		t.Errorf("stdout\n%s\nstderr %s", &out, &talk)
	}
}
