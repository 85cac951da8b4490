package drain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// tell writes a drain down, a line a fact.
func (d *Outcome) tell() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, s := range d.Stacks {
		for _, wl := range s.Workloads {
			line := fmt.Sprintf("%s: %d of %d here, %d left", wl.Ref, len(wl.Here), wl.Replicas, wl.Left)
			if wl.Waiting > 0 {
				line += fmt.Sprintf(", %d waiting", wl.Waiting)
			}
			if wl.Breaks {
				line += ", breaks"
			}
			if s.Blocked {
				line += ", blocked"
			}
			say("%s", line)
		}
	}
	for _, x := range d.LeftAlone {
		say("%s left alone: %s", x.Pod.Name, x.Why)
	}
	for _, x := range d.Evicted {
		for _, about := range []struct {
			is   bool
			word string
		}{
			{x.Lost, "lost"},
			{len(x.Volatile) > 0, "volatile " + strings.Join(x.Volatile, " ")},
			{len(x.Pinned) > 0, "pinned"},
			{x.Refused != "", "refused: " + x.Refused},
			{x.Waits, "waits"},
		} {
			if about.is {
				say("%s %s", x.Pod.Name, about.word)
			}
		}
	}
	for _, x := range d.NoStack {
		say("%s in no stack", x.Pod.Name)
	}
	for _, b := range d.Budgets {
		word := ""
		if b.Blocks {
			word = "blocks: "
		}
		if b.Never {
			word = "never lets go: "
		}
		say("budget %s %s%s", b.Ref.Name, word, b.Message)
	}
	for _, f := range d.Flags {
		say("%s", f)
	}
	for _, o := range d.Open {
		say("open: %s", o)
	}
	return out
}

func TestDrain(t *testing.T) {
	tests := []struct {
		name, yaml string
		stacks     []string
		unread     []string
		want       []string
	}{
		{
			name:   "replicas are left elsewhere, and the budget lets one go",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "n1", "n2") + checktest.Budget("web", "web", "maxUnavailable: 1", 1, 2, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want:   []string{"Deployment.apps/ns/web: 1 of 2 here, 1 left", "budget web allows to evict its 1 pod here"},
		},
		{
			name:   "all replicas are here: the budget lets them go one by one",
			yaml:   checktest.App("web", 3, checktest.OneContainer, "n1", "n1", "n1") + checktest.Budget("web", "web", "maxUnavailable: 1", 1, 3, 2, 3),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 3 of 3 here, 0 left, breaks", "web-0 waits", "web-1 waits", "web-2 waits",
				"budget web allows to evict 1 of its 3 pods here at once: the drain waits until those run elsewhere",
			},
		},
		{
			name:   "a budget of one pod never lets it go",
			yaml:   checktest.App("db", 1, checktest.OneContainer, "n1") + checktest.Budget("db", "db", "minAvailable: 1", 0, 1, 1, 1),
			stacks: []string{"Deployment.apps/ns/db"},
			want: []string{
				"Deployment.apps/ns/db: 1 of 1 here, 0 left, breaks, blocked",
				"db-0 refused: db allows no eviction although 1 of 1 pods are healthy (spec.minAvailable: 1)",
				"budget db never lets go: allows no eviction although 1 of 1 pods are healthy (spec.minAvailable: 1)",
			},
		},
		{
			name:   "a pod elsewhere is not ready: the budget lets none go until it is",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "n1", "!n2") + checktest.Budget("web", "web", "maxUnavailable: 1", 0, 1, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 0 left, 1 waiting, breaks, blocked",
				"web-0 refused: web allows no eviction while 1 of 2 pods are healthy: it requires 2",
				"budget web blocks: allows no eviction while 1 of 2 pods are healthy: it requires 2",
			},
		},
		{
			name:   "the pod here is not ready, and enough others are",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "!n1", "n2") + checktest.Budget("web", "web", "minAvailable: 1", 0, 1, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want:   []string{"Deployment.apps/ns/web: 1 of 2 here, 1 left", "budget web allows to evict its pods here: none of them is healthy"},
		},
		{
			name:   "the pod here is not ready, and neither is the other",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "!n1", "!n2") + checktest.Budget("web", "web", "minAvailable: 1", 0, 0, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 0 left, 1 waiting, breaks, blocked",
				"web-0 refused: web allows no eviction while 0 of 2 pods are healthy: it requires 2",
				"budget web blocks: allows no eviction while 0 of 2 pods are healthy: it requires 2",
			},
		},
		{
			name:   "not ready pods may always go where the budget says so",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "!n1", "!n2") + checktest.Budget("web", "web", "minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow", 0, 0, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 0 left, 1 waiting, breaks",
				"budget web allows to evict its pods here: none of them is healthy",
			},
		},
		{
			name:   "two budgets on one pod are refused, whatever they allow",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "n1", "n2") + checktest.Budget("one", "web", "maxUnavailable: 1", 1, 2, 1, 2) + checktest.Budget("two", "web", "maxUnavailable: 1", 1, 2, 1, 2),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 1 left, blocked",
				"web-0 refused: several PodDisruptionBudgets select it (one and two), for which the API server refuses every eviction",
				"budget one allows to evict its pods here: none of them is healthy", "budget two allows to evict its pods here: none of them is healthy",
			},
		},
		{
			name: "a budget that was changed just now",
			yaml: checktest.App("web", 2, checktest.OneContainer, "n1", "n2") +
				strings.Replace(checktest.Budget("web", "web", "maxUnavailable: 1", 1, 2, 1, 2), "uid: b-web", "uid: b-web, generation: 2", 1),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 1 left, blocked",
				"web-0 refused: web was changed, and the disruption controller has not processed it since",
				"budget web blocks: was changed, and the disruption controller has not processed it since",
			},
		},
		{
			name: "a budget that cannot be worked out",
			yaml: checktest.App("web", 2, checktest.OneContainer, "n1", "n2") + strings.Replace(checktest.Budget("web", "web", "maxUnavailable: 1", 0, 0, 0, 0), "status: {",
				"status: {conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: no scale, lastTransitionTime: '2026-01-01T00:00:00Z'}], ", 1),
			stacks: []string{"Deployment.apps/ns/web"},
			want: []string{
				"Deployment.apps/ns/web: 1 of 2 here, 1 left, blocked",
				"web-0 refused: web allows no eviction: the disruption controller cannot compute it: no scale",
				"budget web never lets go: allows no eviction: the disruption controller cannot compute it: no scale",
			},
		},
		{
			name: "what a drain leaves alone, loses, or cannot move",
			yaml: checktest.Pod("agent", "app: agent", "{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: x, controller: true}", checktest.OneContainer, "n1") +
				strings.Replace(checktest.Pod("etcd-n1", "app: etcd", "{apiVersion: v1, kind: Node, name: n1, uid: node-n1, controller: true}", checktest.OneContainer, "n1"), "labels:", "annotations: {kubernetes.io/config.mirror: x}, labels:", 1) +
				checktest.Pod("shell", "app: shell", "", checktest.OneContainer+", volumes: [{name: tmp, emptyDir: {}}, {name: shm, emptyDir: {medium: Memory}}]", "n1") +
				checktest.App("db", 1, checktest.Mounts("db"), "n1") + checktest.Claim("db", "ReadWriteOnce", checktest.OnN1),
			stacks: []string{"Deployment.apps/ns/db"},
			want: []string{
				"Deployment.apps/ns/db: 1 of 1 here, 0 left, breaks",
				"agent left alone: DaemonSet", "etcd-n1 left alone: static",
				"db-0 pinned", "shell lost", "shell volatile tmp", "shell in no stack",
				"--delete-emptydir-data", "--force", "--ignore-daemonsets",
			},
		},
		{
			name:   "a pod of an operator is one of several, a pending one needs no budget's leave",
			yaml:   checktest.ClusterPods("n1", "n2", "n3") + checktest.Budget("pg", "pg", "minAvailable: 2", 1, 3, 2, 3) + checktest.App("web", 1, checktest.OneContainer, ""),
			stacks: []string{"Database.db.example/ns/pg", "Deployment.apps/ns/web"},
			want:   []string{"Database.db.example/ns/pg: 1 of 3 here, 2 left", "budget pg allows to evict its 1 pod here"},
		},
		{
			name:   "budgets and pods were not read",
			yaml:   checktest.App("web", 2, checktest.OneContainer, "n1", "n2"),
			stacks: []string{"Deployment.apps/ns/web"}, unread: []string{"PodDisruptionBudget"},
			want: []string{"Deployment.apps/ns/web: 1 of 2 here, 1 left", "open: disruption budgets of ns could not be read: they may block"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, checktest.ThreeNodes+tt.yaml, tt.unread...)
			d := Predict(w.ClusterState, "n1", checktest.Stacks(t, w, tt.stacks...))
			if !d.Read || d.Zone != "a" {
				t.Errorf("node: %+v", d)
			}
			if got := d.tell(); !slices.Equal(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestDrainOfNothing(t *testing.T) {
	w := checktest.Read(t, operator.Find, checktest.ThreeNodes+checktest.App("web", 1, checktest.OneContainer, "n1"))
	if d := Predict(w.ClusterState, "n9", checktest.Stacks(t, w, "Deployment.apps/ns/web")); d.Read || len(d.Stacks)+len(d.Evicted)+len(d.Flags) > 0 {
		t.Errorf("a node that is not there: %+v", d)
	}
}

func TestDrainElsewhere(t *testing.T) {
	node := func(name, cpu string) string {
		return strings.Replace(checktest.Node(name, "a", ""), "status: {", "status: {allocatable: {cpu: "+cpu+", memory: 8Gi, pods: 110}, ", 1)
	}
	spec := "containers: [{name: c, image: c, resources: {requests: {cpu: 2}}}]"
	apps := checktest.App("web", 2, spec, "n1", "n1") + checktest.App("other", 1, spec, "n2") + checktest.Pod("shell", "app: shell", "", spec, "n1")
	for _, tt := range []struct {
		name, yaml string
		unread     []string
		want       schedule.Verdict
	}{
		{name: "they fit beside what is there", yaml: node("n1", "8") + node("n2", "6"), want: schedule.Fits},
		{name: "one is too many", yaml: node("n1", "8") + node("n2", "5"), want: schedule.DoesNotFit},
		{name: "there is no other node", yaml: node("n1", "8"), want: schedule.DoesNotFit},
		{name: "nodes are unread", yaml: node("n1", "8") + node("n2", "6"), unread: []string{"Node"}, want: schedule.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, tt.yaml+apps, tt.unread...)
			got := Elsewhere(w.ClusterState, Predict(w.ClusterState, "n1", nil))
			if got.Verdict != tt.want {
				t.Errorf("got %s, want %s: %+v", got.Verdict, tt.want, got)
			}
			for _, p := range got.Placement {
				if tt.want == schedule.Fits && (p.Node != "n2" || !strings.Contains(p.Pod, "web")) {
					t.Errorf("placed %+v", p)
				}
			}
		})
	}
}
