package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// PrometheusPort is the port of a Service that ServePrometheus makes.
const PrometheusPort = 9090

// prometheusStart ends a start that hangs: an idle machine needs one second.
var prometheusStart = startLimit

// PrometheusOptions configure a Prometheus server.
type PrometheusOptions struct {
	// Series are samples, by time within a series; NaN is a staleness marker.
	Series []model.SampleStream
	// Ramps are series whose samples are made as they are loaded.
	Ramps []Ramp
	// Config is its configuration, in YAML. It needs none: nothing is scraped.
	Config string
	// Flags are further flags (--query.max-samples=1000).
	Flags []string
}

// Ramp is a series with a sample each Every seconds from From to To, in unix seconds. It begins at
// Start, grows by Growth a sample, and each sample is off by up to Noise.
type Ramp struct {
	Metric model.Metric `json:"metric"`
	Shape  RampShape    `json:"ramp"`
}

// RampShape is what a Ramp looks like.
type RampShape struct {
	From   int64   `json:"from"`
	To     int64   `json:"to"`
	Every  int64   `json:"every"`
	Start  float64 `json:"start"`
	Growth float64 `json:"growth"`
	Noise  float64 `json:"noise"`
}

// Prometheus is a Prometheus server that runs on loopback. It belongs to one test,
// and to no cluster.
type Prometheus struct {
	URL string

	dir        string
	port       int
	supervisor *supervise.Supervisor
	stop       sync.Once
	stopErr    error
}

// BuildPrometheus builds the programs of a server, or finds them in the cache; see package build.
func BuildPrometheus(ctx context.Context, log io.Writer) (build.Binaries, error) {
	return build.WithPrometheus(ctx, log)
}

// StartPrometheus starts a Prometheus server on the series, and returns when it is
// ready. It ends with the test, or with the process of the test, however that ends.
// With go test -short the test is skipped.
func StartPrometheus(t testing.TB, o PrometheusOptions) *Prometheus {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Prometheus server: left out by -short")
	}
	bin, err := BuildPrometheus(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), prometheusStart)
	defer cancel()
	p, err := RunPrometheus(ctx, bin, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// RunPrometheus starts a Prometheus server on the series, in a directory of its own, and returns
// when it is ready. The caller stops it.
func RunPrometheus(ctx context.Context, bin build.Binaries, dir string, o PrometheusOptions) (*Prometheus, error) {
	if len(o.Series)+len(o.Ramps) > 0 {
		if err := loadSeries(ctx, bin, filepath.Join(dir, "data"), o); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yaml"), []byte(o.Config), 0o600); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		p, err := startPrometheus(ctx, bin, dir, o.Flags)
		if err == nil || n == attempts || !inUse(err) {
			return p, err
		}
	}
}

// Stop ends the server, and returns when it is gone. It can be stopped more than
// once.
func (p *Prometheus) Stop() error {
	p.stop.Do(func() { p.stopErr = p.supervisor.Stop() })
	return p.stopErr
}

// loadSeries writes the series to a data directory.
func loadSeries(ctx context.Context, bin build.Binaries, dir string, o PrometheusOptions) error {
	var in, out bytes.Buffer
	encoder := json.NewEncoder(&in)
	for i := range o.Series {
		if err := encoder.Encode(o.Series[i]); err != nil {
			return fmt.Errorf("load series: %w", err)
		}
	}
	for i := range o.Ramps {
		if err := encoder.Encode(o.Ramps[i]); err != nil {
			return fmt.Errorf("load series: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, bin.Path(build.TSDBLoad), "-dir="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("load series: %w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// startPrometheus runs the server under a supervisor of its own, so that it can be
// stopped by itself.
func startPrometheus(ctx context.Context, bin build.Binaries, dir string, flags []string) (_ *Prometheus, err error) {
	chosen, err := ports(1)
	if err != nil {
		return nil, err
	}
	p := &Prometheus{URL: "http://" + address(chosen[0]), dir: dir, port: chosen[0]}
	exits := make(chan supervise.Exit)
	if p.supervisor, err = supervise.Run(bin.Path(build.Supervise), exits); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for e := range exits { // one that ends before it is ready ends the start
			cancel(fmt.Errorf("it has ended (%s)", e.State))
		}
	}()
	if err := p.run(ctx, bin, flags); err != nil {
		log, _ := os.ReadFile(p.log()) // without it, the error must do
		return nil, errors.Join(fmt.Errorf("start %s: %w; its log:\n%s", build.Prometheus, err, log), context.Cause(ctx), p.Stop())
	}
	return p, nil
}

func (p *Prometheus) log() string { return filepath.Join(p.dir, strconv.Itoa(p.port)+".log") }

func (p *Prometheus) run(ctx context.Context, bin build.Binaries, flags []string) error {
	_, err := p.supervisor.Start(supervise.Command{
		Name: build.Prometheus, Path: bin.Path(build.Prometheus), Dir: p.dir, Log: p.log(),
		Env: []string{"HOME=" + p.dir, "PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir()},
		Args: append([]string{
			"--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--storage.tsdb.retention.time=100y",
			"--web.listen-address=" + address(p.port), "--log.level=warn",
		}, flags...),
	})
	if err != nil {
		return err
	}
	return await(ctx, answers(http.DefaultClient, p.URL+"/-/ready"))
}

// ServePrometheus creates a Service in the namespace, and a pod, for the server at a URL: through the API
// server's proxy it is reachable like a Prometheus in the cluster. It returns when it is. The
// cluster needs controllers, Kwok and a node.
func (c *Cluster) ServePrometheus(t testing.TB, server, namespace, name string) {
	t.Helper()
	port := server[strings.LastIndex(server, ":")+1:]
	objects, err := ownManifest("prometheus-service.yaml", "NAMESPACE", namespace, "NAME", name,
		"SERVICE_PORT", strconv.Itoa(PrometheusPort), "REAL_PORT", port)
	if err == nil {
		err = c.create(t.Context(), objects)
	}
	if err != nil {
		t.Fatalf("serve Prometheus: %v", err)
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		t.Fatalf("serve Prometheus: %v", err)
	}
	ready := answers(client, fmt.Sprintf("%s/api/v1/namespaces/%s/services/http:%s:%d/proxy/-/ready", c.server, namespace, name, PrometheusPort))
	Eventually(t, prometheusStart, func() error { return ready(t.Context()) })
}
