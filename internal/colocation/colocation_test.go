package colocation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func (c *Placement) tell() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, wl := range c.Workloads {
		var on []string
		for _, n := range wl.On {
			on = append(on, fmt.Sprintf("%s %d", n.Node, n.Pods))
		}
		say("%s: %d of %d on %s in %s", wl.Ref, wl.Pods, wl.Replicas, strings.Join(on, ", "), strings.Join(wl.Zones, " "))
	}
	say("zones %s of %s", strings.Join(c.Zones, " "), strings.Join(c.ZonesThere, " "))
	for _, n := range c.Nodes {
		if !n.Read {
			say("node %s unread", n.Name)
		}
	}
	for _, p := range c.Pending {
		say("pending %s", p.Name)
	}
	for _, x := range c.Claims {
		say("claim %s of %s bound to %s in %s", x.Claim.Name, x.Workload.Name, x.Node, strings.Join(x.Zones, " "))
	}
	for _, x := range c.Crossings {
		say("%s asks %s of %s from %s", x.From.Name, x.Service.Name, x.To.Name, strings.Join(x.Zones, " "))
	}
	say("together on %s", strings.Join(c.Together.Nodes, " "))
	for _, a := range c.Together.Obstacles {
		say("against: %s", a)
	}
	for _, s := range c.Together.Selectors {
		say("%s = %s", s.Field, s.Value)
	}
	return out
}

func TestColocation(t *testing.T) {
	needsDB := "containers: [{name: c, image: c, env: [{name: DB_HOST, value: db.ns.svc}]}]"
	tests := []struct {
		name, yaml, root string
		unread           []string
		want             []string
	}{
		{
			name: "spread over nodes and zones", root: "Deployment.apps/ns/web",
			yaml: checktest.App("web", 4, checktest.OneContainer, "n1", "n1", "n3", ""),
			want: []string{"Deployment.apps/ns/web: 4 of 4 on n1 2, n3 1 in a b", "zones a b of a b", "pending web-3", "together on n1 n2 n3"},
		},
		{
			name: "a claim binds to a node, requests leave the zone", root: "Deployment.apps/ns/web",
			yaml: checktest.App("web", 2, needsDB, "n2", "n3") + checktest.Service("db", "db", "") + checktest.App("db", 1, checktest.Mounts("db"), "n1") + checktest.Claim("db", "ReadWriteOnce", checktest.OnN1),
			want: []string{
				"Deployment.apps/ns/db: 1 of 1 on n1 1 in a", "Deployment.apps/ns/web: 2 of 2 on n2 1, n3 1 in a b", "zones a b of a b",
				"claim db of db bound to n1 in a", "web asks db of db from b", "together on n1",
			},
		},
		{
			name: "a claim binds to a zone", root: "Deployment.apps/ns/db",
			yaml: checktest.App("db", 1, checktest.Mounts("db"), "n1") + checktest.Claim("db", "ReadWriteOnce", checktest.ZoneA),
			want: []string{"Deployment.apps/ns/db: 1 of 1 on n1 1 in a", "zones a of a b", "claim db of db bound to  in a", "together on n1 n2"},
		},
		{
			name: "selectors choose, and anti-affinity forbids", root: "Deployment.apps/ns/web",
			yaml: checktest.App("web", 2, checktest.OneContainer+", nodeSelector: {kubernetes.io/hostname: n3}, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}", "n3", ""),
			want: []string{
				"Deployment.apps/ns/web: 2 of 2 on n3 1 in b", "zones b of a b", "pending web-1", "together on n3",
				"against: Deployment.apps/ns/web must run apart from its own replicas: its podAntiAffinity over kubernetes.io/hostname requires it",
				"spec.template.spec.nodeSelector[kubernetes.io/hostname] = n3",
			},
		},
		{
			name: "a spread that must be, over zones", root: "Deployment.apps/ns/web",
			yaml: checktest.App("web", 2, checktest.OneContainer+", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]", "n1", "n3"),
			want: []string{
				"Deployment.apps/ns/web: 2 of 2 on n1 1, n3 1 in a b", "zones a b of a b", "together on n1 n2 n3",
				"against: Deployment.apps/ns/web must spread over topology.kubernetes.io/zone, with a maxSkew of 1",
				"spec.template.spec.topologySpreadConstraints[topology.kubernetes.io/zone] = maxSkew 1, DoNotSchedule",
			},
		},
		{
			name: "nodes were not read", root: "Deployment.apps/ns/web", unread: []string{"Node"},
			yaml: checktest.App("web", 1, checktest.OneContainer, "n1"),
			want: []string{"Deployment.apps/ns/web: 1 of 1 on n1 1 in ", "zones  of ", "node n1 unread", "together on "},
		},
		{
			name: "pods of an operator are under their owner", root: "Database.db.example/ns/pg",
			yaml: checktest.ClusterPods("n1", "n1", "n3"),
			want: []string{"Database.db.example/ns/pg: 3 of 3 on n1 2, n3 1 in a b", "zones a b of a b", "together on n1 n2 n3"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, checktest.ThreeNodes+tt.yaml, tt.unread...)
			c := Measure(w.ClusterState, w.Stack(tt.root))
			if c.NodesUnread != slices.Contains(tt.unread, "Node") {
				t.Errorf("unread: %v", c.NodesUnread)
			}
			if got := c.tell(); !slices.Equal(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestColocationOneNode(t *testing.T) {
	w := checktest.Read(t, operator.Find, checktest.ThreeNodes+checktest.App("web", 2, checktest.OneContainer, "n2", "n2")+checktest.App("apart", 2, checktest.OneContainer, "n2", "n1"))
	if n, ok := Measure(w.ClusterState, w.Stack("Deployment.apps/ns/web")).OneNode(); !ok || n != "n2" {
		t.Errorf("got %q, %v", n, ok)
	}
	if n, ok := Measure(w.ClusterState, w.Stack("Deployment.apps/ns/apart")).OneNode(); ok {
		t.Errorf("got %q", n)
	}
}
