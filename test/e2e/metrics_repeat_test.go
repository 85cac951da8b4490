package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// interrupted sends Ctrl-C to a run that goes on until then, and returns what it left.
// Its end is what was asked for: it is no failure.
func interrupted(t *testing.T, run *process) result {
	t.Helper()
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := run.wait()
	if r.code != 0 {
		t.Errorf("%v: exit code %d after an interrupt, want 0; stderr:\n%s", r.args, r.code, r.stderr)
	}
	return r
}

// --watch shows the figures again and again, until it is interrupted, whatever the API
// server does in between. It says once what they leave out.
func TestMetricsWatch(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	p := proxy(t, c, "")
	run := startFor(t, sampled, p.Kubeconfig(), "metrics", "deployment/site", "-n", ns, "--watch", "--interval", "1s")
	shownTimes := func(least int) {
		t.Helper()
		cluster.Eventually(t, limit, func() error {
			if n := strings.Count(run.stdout.String(), "Deployment/site"); n < least {
				return fmt.Errorf("it was shown %d times; stderr:\n%s", n, run.stderr.String())
			}
			return nil
		})
	}
	shownTimes(3)
	p.Inject(faults.Fault{Effect: faults.Forbidden()})
	cluster.Eventually(t, limit, func() error {
		if said := run.stderr.String(); !strings.Contains(said, "trying again in 1s") {
			return errors.New("nothing is said of a server that refuses everything: " + said)
		}
		return nil
	})
	before := strings.Count(run.stdout.String(), "Deployment/site")
	p.Reset()
	shownTimes(before + 2)
	r := interrupted(t, run)
	if strings.Contains(r.stdout, "\x1b") {
		t.Errorf("no terminal, and it clears the screen: %q", r.stdout)
	}
	if n := strings.Count(r.stderr, "pods measured"); n > 1 {
		t.Errorf("what is not measured is told %d times:\n%s", n, r.stderr)
	}
}

// --listen serves what Prometheus accepts, and computes it once for all who ask within
// the interval.
func TestMetricsListen(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	p := proxy(t, c, "")
	run := startFor(t, sampled, p.Kubeconfig(), "metrics", "-n", ns, "--listen", "127.0.0.1:0", "--interval", "1h")
	var address string
	cluster.Eventually(t, limit, func() error {
		found := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(run.stderr.String())
		if found == nil {
			return errors.New("it does not say where it listens: " + run.stderr.String())
		}
		address = found[1]
		return nil
	})
	first := scraped(t, address)
	if second := scraped(t, address); second != first {
		t.Errorf("within the interval it says:\n%s\nand then:\n%s", first, second)
	}
	u := metricsOf(t, c.Kubeconfig, "-n", ns)

	config := fmt.Sprintf("scrape_configs: [{job_name: sysop, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: [%q]}]}]\n", address)
	prometheus := cluster.StartPrometheus(t, cluster.PrometheusOptions{Config: config, Series: []model.SampleStream{
		{Metric: model.Metric{"__name__": "any"}, Values: []model.SamplePair{{Timestamp: model.Now().Add(-time.Hour), Value: 1}}},
	}})
	hour, _ := value(u.Total.Cost.Hour).Float64()
	for query, want := range map[string]string{
		`up`: "sysop=1",
		`sum by (job) (count_over_time(up[1h])) >= bool 2`:                             "sysop=1",
		`round(sum by (job) (sysop_cpu_request_cores), 0.001)`:                         "sysop=0.28",
		`count by (job) (sysop_memory_usage_bytes)`:                                    "sysop=3",
		`sum by (job) (sysop_network_receive_bytes_total)`:                             "sysop=2000006",
		`sum by (job) (sysop_group_pods_measured)`:                                     "sysop=3",
		fmt.Sprintf(`abs(sum by (job) (sysop_cost_per_hour) - %v) < bool 1e-12`, hour): "sysop=1",
	} {
		cluster.Eventually(t, limit, func() error {
			got, err := byJob(prometheus.URL, query)
			if err == nil && got != want {
				err = fmt.Errorf("%s: got %s, want %s", query, got, want)
			}
			return err
		})
	}
	for path, n := range measuring(p) {
		if n != 1 {
			t.Errorf("%s: %d requests for all scrapes, want 1", path, n)
		}
	}
	r := interrupted(t, run)
	if r.stdout != "" {
		t.Errorf("it writes to stdout: %q", r.stdout)
	}
	if _, err := asking.Get("http://" + address + "/metrics"); err == nil {
		t.Error("somebody answers at the address after the end")
	}
}

// asking gives up on a server that does not answer.
var asking = &http.Client{Timeout: runLimit}

// scraped is what a scrape that does not ask for a format brings.
func scraped(t *testing.T, address string) string {
	t.Helper()
	resp, err := asking.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(b), "sysop_cpu_request_cores") {
		t.Fatalf("a scrape brings %s, %v:\n%s", resp.Status, err, b)
	}
	return string(b)
}
