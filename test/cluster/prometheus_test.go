package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// answered decodes the response of a Prometheus server to an instant query.
func answered(b []byte) (model.Matrix, error) {
	var a struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     model.Matrix
		}
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, fmt.Errorf("%w: %s", err, b)
	}
	if a.Status != "success" {
		return nil, errors.New(a.Error)
	}
	return a.Data.Result, nil
}

func TestPrometheusHasTheSeries(t *testing.T) {
	c := shared.Cluster(t)
	const start = model.Time(1793491200000) // 2026-11-01
	series := []model.SampleStream{
		{
			Metric: model.Metric{"__name__": "late", "pod": "b"},
			Values: []model.SamplePair{{Timestamp: start.Add(30 * 24 * 3600e9), Value: 3}},
		},
		{
			Metric: model.Metric{"__name__": "early", "pod": "a"},
			Values: []model.SamplePair{{Timestamp: start, Value: 1}, {Timestamp: start + 30500, Value: 1e15 + 1}, {Timestamp: start + 60000, Value: model.SampleValue(math.NaN())}},
		},
	}
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: series, Flags: []string{"--query.max-samples=10"}})
	ns := c.Namespace(t)
	c.ServePrometheus(t, p.URL, ns, "history")
	client := clientset(t, c.Kubeconfig)
	ways := map[string]func(path string, q url.Values) ([]byte, error){
		"direct": func(path string, q url.Values) ([]byte, error) {
			resp, err := http.Get(p.URL + path + "?" + q.Encode())
			if err != nil {
				return nil, err
			}
			defer func() { _ = resp.Body.Close() }()
			return io.ReadAll(resp.Body)
		},
		"Service": func(path string, q url.Values) ([]byte, error) {
			parameters := map[string]string{}
			for k := range q {
				parameters[k] = q.Get(k)
			}
			return client.CoreV1().Services(ns).ProxyGet("http", "history", fmt.Sprint(cluster.PrometheusPort), path, parameters).DoRaw(t.Context())
		},
	}
	for way, get := range ways {
		t.Run(way, func(t *testing.T) {
			b, err := get("/api/v1/query", url.Values{"query": {`{__name__=~"early|late"}[60d]`}, "time": {"1796083200"}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := answered(b)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 || len(got[0].Values) != 2 || got[0].Values[1] != series[1].Values[1] || len(got[1].Values) != 1 {
				t.Errorf("series %v", got)
			}
		})
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := ways["direct"]("/-/ready", nil); err == nil {
		t.Error("it answers after its stop")
	}
}
