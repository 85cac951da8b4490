package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestPrometheusReadsTheExposition has a real Prometheus scrape what the formats
// write: OpenMetrics, which it asks for, and the older text. It refuses a scrape
// whole for anything that its parser does not accept.
func TestPrometheusReadsTheExposition(t *testing.T) {
	t.Parallel()
	golden := func(name string) []byte {
		text, err := os.ReadFile("../../internal/render/testdata/" + name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	open := golden("meters.openmetrics")
	targets := http.NewServeMux()
	offer := func(path, kind string, text []byte) {
		targets.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if accept := r.Header.Get("Accept"); !strings.Contains(accept, "application/openmetrics-text;version=1.0.0") {
				t.Errorf("Prometheus accepts %s", accept)
			}
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(text)
		})
	}
	const openType, textType = "application/openmetrics-text; version=1.0.0; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"
	offer("/open", openType, open)
	offer("/nothing", openType, golden("nothing.openmetrics"))
	offer("/text", textType, golden("meters.prometheus"))
	offer("/broken", openType, bytes.TrimSuffix(open, []byte("# EOF\n"))) // so that a scrape can fail
	server := httptest.NewServer(targets)
	t.Cleanup(server.Close)
	config := "scrape_configs:\n"
	for _, job := range []string{"open", "nothing", "text", "broken"} {
		config += fmt.Sprintf("- {job_name: %s, metrics_path: /%[1]s, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: [%q]}]}\n", job, strings.TrimPrefix(server.URL, "http://"))
	}
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Config: config, Series: []model.SampleStream{
		{Metric: model.Metric{"__name__": "any"}, Values: []model.SamplePair{{Timestamp: model.Now().Add(-time.Hour), Value: 1}}},
	}})
	for query, want := range map[string]string{
		"sum by (job) (up)": `broken=0 nothing=1 open=1 text=1`,
		`sum by (job) (scrape_samples_scraped{job!="broken"})`: `nothing=0 open=6 text=6`,
		`sum by (job) (sysop_cpu_usage_cores{name="web-1"})`:   `open=1e-09 text=1e-09`,
		"sum by (job) (sysop_network_receive_bytes_total)":     `open=948305362 text=948305362`,
	} {
		cluster.Eventually(t, limit, func() error {
			got, err := byJob(p.URL, query)
			if err == nil && got != want {
				err = fmt.Errorf("%s: got %s, want %s", query, got, want)
			}
			return err
		})
	}
}

// byJob asks Prometheus, and returns the values by job, in their order.
func byJob(server, query string) (string, error) {
	resp, err := asking.Get(server + "/api/v1/query?" + url.Values{"query": {query}}.Encode())
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var a struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Error != "" {
		return "", errors.Join(err, errors.New(a.Error))
	}
	var out []string
	for _, r := range a.Data.Result {
		out = append(out, fmt.Sprintf("%s=%v", r.Metric["job"], r.Value[1]))
	}
	slices.Sort(out)
	return strings.Join(out, " "), nil
}
