package catalog_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// TestSignalsSince: signals that operators of before ignore say as of when they are read.
func TestSignalsSince(t *testing.T) {
	of := map[string]string{}
	for _, s := range catalog.Signals(nil) {
		of[s.Kind+" "+s.Preset] = s.Since
	}
	for signal, want := range map[string]string{
		"CephCluster.ceph.rook.io " + signals.PresetPause:                   "1.18.0",
		"Application.argoproj.io " + signals.PresetPause:                    "2.7.0",
		"Grafana.grafana.integreatly.org " + signals.PresetPause:            "5.19.0",
		"SparkApplication.sparkoperator.k8s.io " + signals.PresetStop:       "2.4.0",
		"Elasticsearch.elasticsearch.k8s.elastic.co " + signals.PresetPause: "3.5.0",
		"Prometheus.monitoring.coreos.com " + signals.PresetPause:           "",
	} {
		if got, ok := of[signal]; !ok || got != want {
			t.Errorf("%s: since %q, want %q", signal, got, want)
		}
	}
}
