package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// shopNow is what is left of the history's namespace: the Deployment and the
// StatefulSet, and none of the pods of the past.
const shopNow = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: web-uid}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop, uid: db-uid}
spec: {serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: mysql}]}}}
`

// The command measures a window by a real Prometheus: pods that are gone belong to the
// owners that are still there, others to nobody, and windows add up.
func TestMetricsOfAWindow(t *testing.T) {
	t.Parallel()
	h := newHistory(historySeed)
	p := cluster.StartPrometheus(t, cluster.PrometheusOptions{Series: h.all()})
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(shopNow), 0o600); err != nil {
		t.Fatal(err)
	}
	window := func(from, to time.Time, args ...string) used {
		args = append(args, "-n", historyNamespace, "--from", file, "--prometheus", p.URL, "--window", from.Format(time.RFC3339)+"/"+to.Format(time.RFC3339))
		return metricsOf(t, "", args...)
	}
	from, middle, to := at(6), at(31), at(78)
	whole := window(from, to, "deployment/web", "statefulset/db")
	for id, of := range map[string]func(*podLife) bool{
		"Deployment.apps/shop/web": func(p *podLife) bool { return p.deployment == "web" },
		"StatefulSet.apps/shop/db": func(p *podLife) bool { return p.owner == [2]string{"StatefulSet", "db"} },
	} {
		var want truth
		pods := 0
		for _, life := range h.lives(from, to) {
			if of(life) && life.namespace == historyNamespace {
				one := life.of(from, to)
				pods++
				want.cpu, want.memory, want.chargedCPU = want.cpu+one.cpu, want.memory+one.memory, want.chargedCPU+one.chargedCPU
			}
		}
		row := whole.row(id)
		if row.Pods != pods || row.Measured != pods || pods == 0 {
			t.Errorf("%s: %d of %d pods measured, want %d", id, row.Measured, row.Pods, pods)
		}
		sameHours(t, id+": CPU", row.Used.CPU, want.cpu, hour*1e9, 0.003)
		sameHours(t, id+": memory", row.Used.Memory, want.memory, hour, sampling)
		charged := row.Cost.Parts["cpu"].DivRound(decimal.RequireFromString("0.031611"), 12)
		sameHours(t, id+": charged CPU", &charged, want.chargedCPU, hour*1e9, sampling)
	}
	first, second := window(from, middle, "deployment/web", "statefulset/db"), window(middle, to, "deployment/web", "statefulset/db")
	if sum := first.Total.Used.CPU.Add(*second.Total.Used.CPU).Round(9); !sum.Equal(whole.Total.Used.CPU.Round(9)) {
		t.Errorf("two windows have %s core-hours, the whole has %s", sum, whole.Total.Used.CPU)
	}
	all := window(from, to)
	if web := all.row("Deployment.apps/shop/web"); web.Used.CPU == nil || !web.Used.CPU.Equal(*whole.row("Deployment.apps/shop/web").Used.CPU) {
		t.Errorf("found by itself, web used %v", web.Used.CPU)
	}
	rest := all.row("unattributed")
	if rest.Pods == 0 || rest.Used.CPU == nil || rest.Cost.Parts["cpu"].IsZero() {
		t.Errorf("what nobody owns any more: %+v", rest)
	}
	var cpu int64
	for _, life := range h.lives(from, to) {
		if life.namespace == historyNamespace && life.name != "patchy" && life.name != "quiet" {
			cpu += life.of(from, to).cpu
		}
	}
	patchy := all.row("Pod/shop/patchy")
	if patchy.Used.CPU == nil {
		t.Fatalf("no patchy pod: %+v", patchy)
	}
	sum := all.Total.Used.CPU.Sub(*patchy.Used.CPU)
	sameHours(t, "the namespace: CPU", &sum, cpu, hour*1e9, 0.003)
}

// sameHours compares an amount with units a thing had, so many of them an hour, within a part
// of it: the bound of the method.
func sameHours(t *testing.T, what string, got *decimal.Decimal, units, perHour int64, bound float64) {
	t.Helper()
	want := float64(units) / float64(perHour)
	if got == nil || got.InexactFloat64() > want*(1+bound) || got.InexactFloat64() < want*(1-bound) {
		t.Errorf("%s is %v, want %f within %.2f%%", what, got, want, 100*bound)
	}
}
