package cost_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

const sharedBook = `apiVersion: sysop.dev/v1alpha1
kind: PriceBook
currency: EUR
cpu: 0.02
memory: 0.005
storage: 0.0001
sharedNamespaces: [kube-*, monitoring]
sharedLabels: {tier: platform, team: [ops, 'sre-?']}
sharedBy: cost
overrides:
- {name: team, namespaces: [shop], cpu: 0.05}
- {name: us, clusters: ["us-*", "gke_*/x"], cpu: 0.03, storage: 0.0002, discounts: {storage: 50%}}
- {name: spot, nodes: {spot: true}, clusters: eu, cpu: 0.01}
`

// TestSharedRules: what all stacks pay for is chosen by namespace or by label.
func TestSharedRules(t *testing.T) {
	b := parseText(t, "b.yaml", sharedBook)
	if !b.SharesAnything() || !b.SharedByCost() || len(b.SharedLabels()) != 2 {
		t.Errorf("shares %t by cost %t, labels %v", b.SharesAnything(), b.SharedByCost(), b.SharedLabels())
	}
	for _, c := range []struct {
		namespace, key, value string
		want                  bool
	}{
		{"kube-system", "", "", true},
		{"monitoring", "", "", true},
		{"shop", "", "", false},
		{"", "", "", false},
		{"shop", "tier", "platform", true},
		{"shop", "tier", "web", false},
		{"shop", "team", "sre-1", true},
		{"shop", "team", "sre-10", false},
		{"shop", "other", "ops", false},
	} {
		got := b.Shares(c.namespace, func(key string) string {
			if key == c.key {
				return c.value
			}
			return ""
		})
		if got != c.want {
			t.Errorf("%+v is shared: %t", c, got)
		}
	}
	if plain := parseText(t, "b.yaml", minimal); plain.SharesAnything() || plain.SharedByCost() || plain.Shares("kube-system", func(string) string { return "platform" }) {
		t.Error("a book without rules shares something")
	}
}

// TestBookOfCluster: an override for clusters holds there alone, wherever it runs.
func TestBookOfCluster(t *testing.T) {
	b := parseText(t, "b.yaml", sharedBook)
	spot := &metrics.Node{Name: "n", Labels: map[string]string{"karpenter.sh/capacity-type": "spot"}}
	for cluster, want := range map[string][4]string{
		"us-east":    {"0.03", "0.05", "0.03", "0.0001"},
		"gke_prod/x": {"0.03", "0.05", "0.03", "0.0001"},
		"eu":         {"0.02", "0.05", "0.01", "0.0001"},
		"":           {"0.02", "0.05", "0.02", "0.0001"},
	} {
		of := b.For(cluster)
		got := [4]string{of.Node(nil, "").CPU.Net.String(), of.Node(nil, "shop").CPU.Net.String(), of.Node(spot, "tools").CPU.Net.String(), of.Storage("ssd", "").Net.String()}
		if got != want {
			t.Errorf("in %q: %v, want %v", cluster, got, want)
		}
	}
	if list := b.For("us-east").Storage("", "tools").List.String(); list != "0.0002" {
		t.Errorf("storage in us-east has the list price %s", list)
	}
}
