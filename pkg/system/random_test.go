package system_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestRandomSystems: any System is written so that it reads the same.
func TestRandomSystems(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			same(t, (&dice{rand.New(rand.NewPCG(seed, 7))}).system())
		})
	}
}

// dice make a system up.
type dice struct{ *rand.Rand }

func (d *dice) maybe() bool { return d.IntN(2) == 0 }

func pick[T any](d *dice, all ...T) T { return all[d.IntN(len(all))] }

// odd are texts that YAML could take for something else.
func (d *dice) odd() string {
	return pick(d, "plain", "two words", "on", "y", "null", "~", "1", "1.0", "0x1f", "1e3", "2001-01-01", "12:30:45", "<<", "- a", "a: b", "# c", "a #b", "{", "[x", "'", "\"", "*a", "&a", "!x", "%y", "@z", "`", "|", ">", "?", "a\nb", "a\n", "\na", " a\n b", "a \nb", "a\n\n", "\t", " lead", "trail ", "é", "\u2028", "\U0001F600", "\u0085", "tab\tin", "back\\slash", "a\r\nb", "=", "-", "--- a", "...", "a:")
}

func (d *dice) value(depth int) any {
	switch n := d.IntN(9); {
	case n == 0 && depth > 0:
		all := map[string]any{}
		for range d.IntN(4) {
			all[d.odd()] = d.value(depth - 1)
		}
		return all
	case n == 1 && depth > 0:
		all := []any{}
		for range d.IntN(4) {
			all = append(all, d.value(depth-1))
		}
		return all
	case n == 2:
		return nil
	case n == 3:
		return d.maybe()
	case n == 4:
		return pick(d, int64(0), -1, 1<<62, d.Int64())
	case n == 5:
		return pick(d, 0, 1, 0.1, -1e300, 1e-9, 123456789, d.Float64())
	}
	return d.odd()
}

func (d *dice) object() map[string]any {
	return map[string]any{"a": d.value(3), "b": d.value(2)}
}

func (d *dice) root(i int) system.Root {
	return system.Root{Type: pick(d, "deployment", "Moodle.example.com", "sts", "deployments.apps"), Namespace: pick(d, "", "other"), Name: fmt.Sprintf("%s-%d", pick(d, "web", "system:admin", "a.b"), i)}
}

func (d *dice) time() time.Duration {
	return pick(d, 0, time.Second, 90*time.Second, time.Hour, 36*time.Hour, 1500*time.Millisecond, time.Duration(d.IntN(1e9))*time.Millisecond)
}

func (d *dice) marks(values ...string) map[string]*string {
	value := pick(d, values...)
	return map[string]*string{"example.com/hold": &value, "old": nil}
}

func (d *dice) action(last bool) system.Action {
	kinds := []func(*system.Action){
		func(a *system.Action) { a.Preset, a.AllowStop = pick(d, "pause", "stop"), d.maybe() },
		func(a *system.Action) {
			a.Patch = &system.Patch{Type: pick(d, system.Merge, system.Strategic), Body: d.object(), Subresource: pick(d, "", "status", "scale")}
		},
		func(a *system.Action) {
			a.Patch = &system.Patch{Type: system.JSON, Body: []any{map[string]any{"op": "add", "path": "/a", "value": d.value(2)}}}
		},
		func(a *system.Action) { a.Scale = &system.Scale{Replicas: int32(d.IntN(9))} },
		func(a *system.Action) { a.Annotate = d.marks(d.odd(), "") },
		func(a *system.Action) { a.Label = d.marks("", "on", "1", "x") },
		func(a *system.Action) { a.SuspendCronJobs = true },
		func(a *system.Action) { a.CordonTraffic = true },
		func(a *system.Action) { a.Restart = true },
		func(a *system.Action) {
			a.Job, a.Timeout = &system.Job{Template: map[string]any{"template": d.object()}}, d.time()
		},
		func(a *system.Action) {
			a.HTTP = &system.HTTP{URL: "https://example.com/?a=b", SecretEnv: "KEY", Headers: map[string]string{"On": "y"}}
		},
		func(a *system.Action) {
			a.HTTP = &system.HTTP{URL: "http://example.com", SecretName: "s", SecretKey: "k"}
		},
		func(a *system.Action) {
			a.Exec = &system.Exec{Command: []string{"sh", d.odd(), ""}, Env: map[string]string{"A": d.odd()}}
		},
	}
	var a system.Action
	at := d.IntN(len(kinds))
	kinds[at](&a)
	if at < 9 && d.maybe() {
		a.Targets = []system.Root{d.root(0), {Type: "cronjob"}}
	}
	if !last && d.maybe() {
		inverse := d.action(true)
		a.Inverse = &inverse
	}
	return a
}

func (d *dice) app(i int, signals []string) system.App {
	a := system.App{Name: fmt.Sprintf("app-%d", i), Operator: pick(d, "", "redis"), GitOps: pick(d, "", system.Suspend, system.Ignore)}
	a.Autoscaling = pick(d, nil, &system.AppAutoscaling{Off: true}, &system.AppAutoscaling{Min: 1, Max: 3, CPU: 50, Target: d.root(1)}, &system.AppAutoscaling{Memory: 80})
	for n := range 1 + d.IntN(3) {
		a.Roots = append(a.Roots, d.root(10*i+n))
	}
	a.Monitoring = pick(d, system.AppMonitoring{}, system.AppMonitoring{Off: true}, system.AppMonitoring{Port: "9113", Path: "/x"}, system.AppMonitoring{Port: "http-metrics"})
	if d.maybe() {
		name := fmt.Sprintf("made-%d", i)
		o := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": d.value(3)}
		a.Resources = []*unstructured.Unstructured{{Object: o}}
		a.Roots = append(a.Roots, system.Root{Type: "ConfigMap", Name: name})
	}
	for _, signal := range append(signals, system.Stop, system.Recover) {
		for range d.IntN(3) {
			if a.On == nil {
				a.On = map[string][]system.Action{}
			}
			a.On[signal] = append(a.On[signal], d.action(signal == system.Recover))
		}
	}
	return a
}

func (d *dice) system() *system.System {
	s := &system.System{Name: "sys", Namespace: pick(d, "", "shop"), Description: pick(d, "", d.odd())}
	if d.maybe() {
		s.Values = d.object()
	}
	g := &s.Regulation
	*g = system.Regulation{Signals: pick(d, nil, []string{"drain"}, []string{"on", "readOnly"}), MaxUnavailableApps: d.IntN(3), HoldOff: d.time(), MaxSignalsPerHour: d.IntN(9), Settle: d.time(), GitOps: pick(d, system.Refuse, system.Suspend, system.Ignore)}
	for i := range 3 + d.IntN(3) {
		s.Apps = append(s.Apps, d.app(i, g.Signals))
	}
	if d.maybe() {
		s.Dependencies = []system.Dependency{{From: "app-0", To: "app-1", Reason: d.odd()}, {From: "app-1", To: "app-0"}}
		s.Connections = []system.Connection{
			{From: system.End{App: "app-2", Path: "status.x"}, To: system.End{App: "app-0", Root: d.root(1), Path: `spec["a b"]`}},
			{From: system.End{App: "app-1", Port: pick(d, "http", "8080"), Value: pick(d, system.Host, system.PortNumber, system.HostAndPort)}, To: pick(d, system.End{App: "app-0", Env: "HOST", Container: pick(d, "", "web")}, system.End{App: "app-0", ConfigMap: "a.b", Key: "host"})},
		}
	}
	if d.maybe() {
		s.Labels = pick(d, map[string]string{}, map[string]string{"a.example.com/b": "", "on": "1"})
	}
	if d.maybe() {
		s.Operators = []system.Operator{{Name: "redis", Version: ">=1.2 <2", Namespace: "r", Values: d.object()}, {Name: "cert-manager"}}
		s.Inputs = []system.Input{{Secret: "db", Keys: []string{"password", "a.b"}, Description: d.odd()}, {ConfigMap: "settings", Namespace: "other"}}
		s.Upgrade.Regulate = d.maybe()
	}
	for i := range d.IntN(4) {
		r := system.Rule{Name: fmt.Sprintf("rule-%d", i), App: pick(d, "", "app-0"), For: d.time(), RecoverFor: d.time(), Cascade: d.maybe(), Signal: pick(d, append(g.Signals, system.Stop)...), To: pick(d, nil, []string{"app-1", "app-2"})}
		if r.Upgrading = d.maybe(); !r.Upgrading || d.maybe() {
			r.Health = []health.Status{health.Degraded, pick(d, health.Missing, health.Unknown)}
		}
		g.Rules = append(g.Rules, r)
	}
	s.Autoscaling = pick(d, system.Autoscaling{}, system.Autoscaling{Budget: "99.50", CPU: 60, Memory: 90}, system.Autoscaling{Budget: "250"})
	if d.maybe() {
		s.Monitoring = system.Monitoring{
			Declared: true,
			Interval: pick(d, 0, 30*time.Second), Labels: pick(d, nil, map[string]string{"release": "on", "a.b/c": ""}),
			Thresholds: pick(d, nil, map[string]float64{"memoryPercent": 95, "throttledPercent": 0.5}), NoDashboard: d.maybe(), NoAlerts: d.maybe(),
		}
	}
	s.Backup.Verify = pick(d, nil, &system.Verify{HTTP: &system.Probe{Service: "web", Port: "80", Path: "/healthz?full=1"}}, &system.Verify{Exec: &system.Exec{Command: []string{"psql", ""}}, Timeout: time.Minute},
		&system.Verify{Job: &system.Job{Template: map[string]any{"template": map[string]any{"spec": map[string]any{}}}}})
	if d.maybe() {
		s.Chargeback = system.Chargeback{Prices: pick(d, "", "a b.yaml"), Sharing: cost.ShareWeight, Weights: map[string]string{"app-0": "2", "app-1": "0.50"}, Tenant: pick(d, "", "1")}
		s.Waivers = []check.Waiver{{Rule: "pod-single", Reason: "on", Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)}, {Rule: "pod-single", Object: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Reason: "1"}}
	}
	return s
}
