package monitor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
)

// target is an active target as a Prometheus has it.
func target(labels string) string { return fmt.Sprintf(`{"labels":%s,"health":"up"}`, labels) }

// evaluated is the status of a plan with targets.
func evaluated(t *testing.T, p *monitor.Plan, targets ...string) *monitor.Status {
	t.Helper()
	var answer monitor.Targets
	if err := json.Unmarshal([]byte(`{"activeTargets":[`+strings.Join(targets, ",")+`]}`), &answer); err != nil {
		t.Fatal(err)
	}
	return p.Evaluate(answer, monitor.Alerts{})
}

// TestTwoSystemsOfOneName: what is made for a System tells it from that of its name in another
// namespace: alerts, dashboard, monitors and status.
func TestTwoSystemsOfOneName(t *testing.T) {
	plan := monitor.Make(shop(t, ""))
	for _, o := range plan.Objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.ReplaceAll(string(text), `\`, "")
		if all, exact := strings.Count(plain, `sysop_system="shop"`), strings.Count(plain, `sysop_namespace="shop",sysop_system="shop"`); all != exact {
			t.Errorf("%s: %d of %d series are of the namespace:\n%s", (&unstructured.Unstructured{Object: o}).GetName(), exact, all, plain)
		}
	}
	if got := spec(t, plan, "PodMonitor", "shop-worker"); !strings.Contains(got, `{"action":"replace","replacement":"shop","targetLabel":"sysop_namespace"}`) {
		t.Errorf("monitor: %s", got)
	}
	status := evaluated(t, plan,
		target(`{"sysop_namespace":"shop","sysop_system":"shop","sysop_app":"web","namespace":"shop","pod":"web-1"}`),
		target(`{"sysop_namespace":"test","sysop_system":"shop","sysop_app":"web","namespace":"test","pod":"web-2"}`))
	for _, a := range status.Apps {
		if a.Name == "web" && (len(a.Targets) != 1 || a.Targets[0].Pod != "web-1") {
			t.Errorf("targets of web: %+v", a.Targets)
		}
	}
}

// TestCompletedPods: pods that ended and those of Jobs are not targets, so an app of these alone is
// not unseen.
func TestCompletedPods(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: shop, ownerReferences: [{apiVersion: v1, kind: OWNER, name: o, uid: u, controller: true}]}\nstatus: {phase: PHASE}"
	for name, c := range map[string]struct {
		owner, phase string
		blind        bool
	}{
		"a Job that ended":          {"Job", "Succeeded", false},
		"a Job that runs":           {"Job", "Running", false},
		"an evicted pod":            {"ReplicaSet", "Failed", false},
		"a pod that no one scrapes": {"ReplicaSet", "Running", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := shop(t, "")
			s.Apps[4].Objects = append(s.Apps[4].Objects, objects(t, strings.NewReplacer("NAME", "worker-1", "OWNER", c.owner, "PHASE", c.phase).Replace(pod))...)
			status := evaluated(t, monitor.Make(s))
			if a := status.Apps[4]; a.Name != "worker" || a.Blind != c.blind || status.Fine() == c.blind {
				t.Errorf("%+v", a)
			}
		})
	}
}
