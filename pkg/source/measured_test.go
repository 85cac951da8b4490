package source

import (
	"testing"
	"time"
)

func TestMeasuredIsTheNewestSample(t *testing.T) {
	text := `
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: a, namespace: web}
timestamp: "2026-09-14T09:29:47Z"
---
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: b, namespace: web}
timestamp: "2026-09-14T09:31:00Z"
---
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: c, namespace: web}
timestamp: yesterday
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d, namespace: web}
timestamp: "2027-09-14T09:31:00Z"
`
	if got, want := snapshotOf(t, text).Measured(), time.Date(2026, 9, 14, 9, 31, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := snapshotOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d, namespace: web}\n").Measured(); !got.IsZero() {
		t.Errorf("%s of nothing", got)
	}
}
