package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// What CRDs declare, in our annotation or in KubePlus's, is all that is said of
// their kinds; what is malformed is a warning, and changes nothing else.
func TestDeclarations(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	define(t, c, inNamespace(t, ns, "declared.definitions.yaml"))
	applied(t, c, ns, "declared.yaml")
	want := parseEdges(t, inNamespace(t, ns, "declared.edges"))
	whole := map[string]document{}
	for _, root := range []string{"portal/p", "site/s", "ingress/front"} {
		cluster.Eventually(t, limit, func() error {
			whole[root] = graph(t, c.Kubeconfig, root, "-n", ns)
			return lists(want.wholly(whole[root]))
		})
	}

	t.Run("malformed", func(t *testing.T) {
		define(t, c, inNamespace(t, ns, "malformed.definitions.yaml"))
		for root, before := range whole {
			d, said := graphSaying(t, c.Kubeconfig, root, "-n", ns)
			same(t, before, d)
			if len(d.Gaps) > 0 || strings.Count(said, "\n") != 2 {
				t.Errorf("gaps %+v, want none; stderr, want two lines:\n%s", d.Gaps, said)
			}
			for _, w := range []string{
				`warning: CRD slips.malformed.example.com: annotation resource/specproperty-relationship: column 31: unknown part "wert:"`,
				`warning: CRD slips.malformed.example.com: annotation sysop.dev/relationships: line 2, column 26: unknown relation "wants"`,
			} {
				if !strings.Contains(said, w) {
					t.Errorf("no %q in:\n%s", w, said)
				}
			}
		}
		// What is well formed beside it holds.
		r := sysop(t, c.Kubeconfig, "rules", "list", "slips", "-n", ns, "-o", "name").succeeds(t)
		if strings.TrimSpace(r.stdout) != "crd:slips.malformed.example.com:Slip:spec.secretName" {
			t.Errorf("rules of a Slip:\n%s", r.stdout)
		}
		r = sysop(t, c.Kubeconfig, "rules", "lint", "-n", ns, "--exit-code", "-o", "json")
		if r.code != 2 || len(findings(t, r, "CRD slips.malformed.example.com", "error")) != 2 {
			t.Errorf("exit code %d, want 2 and two errors of it:\n%s", r.code, r.stdout)
		}
	})

	t.Run("rules", func(t *testing.T) {
		r := sysop(t, c.Kubeconfig, "rules", "list", "portal", "--used", "--origin", "crd", "-n", ns, "-o", "json").succeeds(t)
		var list struct {
			Rules []struct {
				Relation, To, Field, Origin string
				Edges                       int
			}
		}
		decode(t, r.stdout, &list)
		edges := 0
		for _, rule := range list.Rules {
			edges += rule.Edges
			if rule.Origin != "CRD portals.declared.example.com" {
				t.Errorf("rule %+v of another origin", rule)
			}
		}
		if len(list.Rules) != 4 || edges != 5 {
			t.Errorf("%d rules with %d edges, want 4 with 5:\n%s", len(list.Rules), edges, r.stdout)
		}
		r = sysop(t, c.Kubeconfig, "rules", "explain", "portal/p", "secret/one", "-n", ns).succeeds(t)
		for _, w := range []string{"spec.users[0].secret", "CRD portals.declared.example.com", "needs"} {
			if !strings.Contains(r.stdout, w) {
				t.Errorf("no %q in:\n%s", w, r.stdout)
			}
		}
		r = sysop(t, c.Kubeconfig, "rules", "explain", "portal", "-n", ns).succeeds(t)
		if !strings.Contains(r.stdout, "spec.selector") || !strings.Contains(r.stdout, "declared.example.com/portal") {
			t.Errorf("a Portal is not explained:\n%s", r.stdout)
		}
		r = sysop(t, c.Kubeconfig, "rules", "export", "sites", "-n", ns).succeeds(t)
		for _, w := range []string{"sysop.dev/relationships", "spec.backendName", "declared.example.com/site", "sites.declared.example.com"} {
			if !strings.Contains(r.stdout, w) {
				t.Errorf("no %q in:\n%s", w, r.stdout)
			}
		}
		sysop(t, c.Kubeconfig, "rules", "export", "deployment", "-n", ns).fails(t, "built in")
	})

	t.Run("findings", func(t *testing.T) {
		r := sysop(t, c.Kubeconfig, "rules", "lint", "-n", ns, "--exit-code", "-o", "json").succeeds(t)
		if got := findings(t, r, "", "error", "warning"); len(got) > 0 {
			t.Errorf("findings:\n%s", strings.Join(got, "\n"))
		}
	})
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
}

// findings are those of rules lint -o json whose origin begins so, of some
// severities.
func findings(t *testing.T, r result, origin string, severities ...string) []string {
	t.Helper()
	var d struct {
		Findings []struct{ Severity, Origin, Message string }
	}
	decode(t, r.stdout, &d)
	var out []string
	for _, f := range d.Findings {
		if strings.HasPrefix(f.Origin, origin) && slices.Contains(severities, f.Severity) {
			out = append(out, f.Severity+" "+f.Origin+": "+f.Message)
		}
	}
	return out
}

// newer are fields that the operators have in the versions of the catalogue, and
// not yet in those that run here.
var newer = []string{
	"Alertmanager.monitoring.coreos.com v1: path \"spec.alertmanagerConfiguration.global.mattermost.webhookURL\"", // v0.95
	"Alertmanager.monitoring.coreos.com v1: path \"spec.alertmanagerConfiguration.global.telegram.botToken\"",     // v0.95
	"path \"status.bindings\"", // of what configures a Prometheus: not in the definitions that run here
}

// What the catalogue says of the operators that run here fits their definitions,
// and what they make.
func TestCatalogueFitsTheOperators(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "certificate.yaml")
	applyText(t, c, inNamespaces(t, ns, ns, "monitoring.yaml"))
	cluster.Eventually(t, limit, func() error {
		_, said := graphSaying(t, c.Kubeconfig, "prometheus/main", "alertmanager/main", "certificate/site", "-n", ns)
		d := graph(t, c.Kubeconfig, "prometheus/main", "alertmanager/main", "certificate/site", "-n", ns)
		var problems []string
		for _, p := range d.Problems {
			problems = append(problems, p.Message)
		}
		if len(problems) == 0 && (len(d.Nodes) < 25 || said != "") {
			problems = append(problems, "the operators have not made all yet", said)
		}
		return lists(problems)
	})
	r := sysop(t, c.Kubeconfig, "rules", "lint", "-A", "--exit-code", "-o", "json").succeeds(t)
	for _, operator := range []string{"catalog cert-manager", "catalog prometheus-operator"} {
		if got := findings(t, r, operator, "error", "warning"); len(got) > 0 {
			t.Errorf("%s:\n%s", operator, strings.Join(got, "\n"))
		}
		paths := slices.DeleteFunc(findings(t, r, operator, "info"), func(f string) bool {
			return !strings.Contains(f, ": path ") || slices.ContainsFunc(newer, func(n string) bool { return strings.Contains(f, n) })
		})
		if len(paths) > 0 {
			t.Errorf("%s: paths that are not in the definitions:\n%s", operator, strings.Join(paths, "\n"))
		}
	}
	for _, kind := range []string{"prometheuses", "servicemonitors", "certificates", "issuers"} {
		r := sysop(t, c.Kubeconfig, "rules", "export", kind, "-n", ns).succeeds(t)
		if !strings.Contains(r.stdout, "sysop.dev/relationships") {
			t.Errorf("nothing is exported of %s:\n%s", kind, r.stdout)
		}
	}
	r = sysop(t, c.Kubeconfig, "rules", "list", "--used", "--origin", "catalog", "-n", ns, "--no-headers").succeeds(t)
	for _, w := range []string{"prometheus-operator", "cert-manager"} {
		if !regexp.MustCompile(`catalog ` + w + ` +[1-9]`).MatchString(r.stdout) {
			t.Errorf("no rule of %s makes an edge:\n%s", w, r.stdout)
		}
	}
}
