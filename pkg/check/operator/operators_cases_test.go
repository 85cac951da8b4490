package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// TestOperatorsDecide holds single cases: who is taken for the operator, and who is not.
func TestOperatorsDecide(t *testing.T) {
	widgets := checktest.Definition("widgets.acme.example.org", "Widget", "")
	for name, c := range map[string]struct {
		world  string
		unread []string
		// want is the operator's name and its workloads, or no workload and words of why.
		want string
		why  string
	}{
		"status rights": {
			world: widgets + checktest.Deployment("ops/runner", "acme/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs),
			want:  "runner: ops/runner",
		},
		"the group by a wildcard, and nobody else": {
			world: widgets + checktest.Deployment("ops/runner", "acme/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "'*'", "'*'"),
			want:  "runner: ops/runner",
		},
		"all statuses of the group": {
			world: widgets + checktest.Deployment("ops/runner", "acme/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "'*/status'", "update"),
			want:  "runner: ops/runner",
		},
		"a named kind of any group": {
			world: widgets + checktest.Deployment("ops/runner", "acme/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "*", "widgets/status", "patch"),
			want:  "runner: ops/runner",
		},
		"cluster-admin, under the name of the kind": {
			world: widgets + checktest.Deployment("ops/widget-operator", "acme/widget-operator:1", "default", "") + checktest.Grant("all", "ops/default", "*", "'*'", "'*'"),
			want:  "widget-operator: ops/widget-operator",
		},
		"cluster-admin, under another name": {
			world: widgets + checktest.Deployment("ops/backups", "tools/backups:1", "backups", "") + checktest.Grant("all", "ops/backups", "*", "'*'", "'*'"),
			want:  "acme.example.org: ", why: "no workload of the cluster may write the status",
		},
		"who makes them does not run them": {
			world: widgets + checktest.Deployment("ci/pipeline", "acme/ci:1", "pipeline", "") + checktest.Grant("pipeline", "ci/pipeline", "acme.example.org", "widgets", "create, get, delete"),
			want:  "acme.example.org: ",
		},
		"who changes them, alone, does not either": {
			world: widgets + checktest.Deployment("ci/pipeline", "tools/ci:1", "pipeline", "") + checktest.Grant("pipeline", "ci/pipeline", "acme.example.org", "widgets", "update, get"),
			want:  "acme.example.org: ", why: "no workload is clearly the one that acts",
		},
		"only some names": {
			world: widgets + checktest.Deployment("ops/runner", "tools/runner:1", "runner", "") +
				strings.Replace(checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets/status", "update"), "verbs: [update]", "verbs: [update], resourceNames: [one]", 1),
			want: "acme.example.org: ",
		},
		"reading the status is nothing": {
			world: widgets + checktest.Deployment("ops/board", "tools/board:1", "board", "") + checktest.Grant("board", "ops/board", "acme.example.org", "widgets, widgets/status", "get, list, watch"),
			want:  "acme.example.org: ",
		},
		"a role for people": {
			world: widgets + checktest.Deployment("ops/portal", "tools/portal:1", "portal", "") +
				strings.Replace(checktest.Grant("widgets-edit", "ops/portal", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs), "{name: widgets-edit}", "{name: widgets-edit, labels: {rbac.authorization.k8s.io/aggregate-to-edit: 'true'}}", 1),
			want: "acme.example.org: ",
		},
		"two of equal right": {
			world: widgets + checktest.Deployment("a/left", "tools/left:1", "left", "") + checktest.Deployment("b/right", "tools/right:1", "right", "") +
				checktest.Grant("left", "a/left", "acme.example.org", "widgets/status", checktest.AllVerbs) + checktest.Grant("right", "b/right", "acme.example.org", "widgets/status", checktest.AllVerbs),
			want: "acme.example.org: ", why: "several workloads act on it, and none stands out: Deployment a/left, Deployment b/right",
		},
		"the same twice": {
			world: widgets + checktest.Deployment("a/runner", "registry.example.org:5000/acme/runner:1", "runner", "") + checktest.Deployment("b/runner", "acme/runner:2@sha256:00", "runner", "") +
				checktest.Grant("left", "a/runner", "acme.example.org", "widgets/status", checktest.AllVerbs) + checktest.Grant("right", "b/runner", "acme.example.org", "widgets/status", checktest.AllVerbs),
			want: "runner: a/runner b/runner",
		},
		"the default account is everybody's": {
			world: widgets + checktest.Deployment("ops/widget-operator", "acme/widget-operator:1", "default", "") + checktest.Deployment("ops/shop", "tools/shop:1", "default", "") +
				checktest.Grant("widgets", "ops/default", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs),
			want: "widget-operator: ops/widget-operator",
		},
		"one Helm release, and rights that name nothing": {
			world: checktest.Definition("widgets.acme.example.org", "Widget", ", annotations: {meta.helm.sh/release-name: acme, meta.helm.sh/release-namespace: ops}") +
				checktest.Deployment("ops/runner", "acme/runner:1", "runner", ", annotations: {meta.helm.sh/release-name: acme, meta.helm.sh/release-namespace: ops}") + checktest.Grant("all", "ops/runner", "*", "'*'", "'*'"),
			want: "runner: ops/runner",
		},
		"roles were not read": {
			world:  widgets + checktest.Deployment("ops/runner", "acme/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs),
			unread: []string{"ClusterRole", "Role"},
			want:   "acme.example.org: ", why: "roles and their bindings were not all read",
		},
		"it runs to its end": {
			world: widgets + strings.Replace(strings.Replace(checktest.Deployment("ops/runner", "acme/runner:1", "runner", ""), "apps/v1\nkind: Deployment", "batch/v1\nkind: Job", 1), "spec: {serviceAccountName", "spec: {restartPolicy: Never, serviceAccountName", 1) +
				checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs),
			want: "acme.example.org: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ops := operatorsWorld(t, c.world, c.unread...).Operators()
			if len(ops) != 1 {
				t.Fatalf("found %d operators, want one", len(ops))
			}
			var workloads []string
			for _, wl := range ops[0].Workloads {
				workloads = append(workloads, wl.Ref.Namespace+"/"+wl.Ref.Name)
			}
			if got := ops[0].Name + ": " + strings.Join(workloads, " "); got != c.want {
				t.Errorf("found %q, want %q (%s, %s)", got, c.want, ops[0].Unknown, ops[0].Evidence)
			}
			if (len(workloads) == 0) != (ops[0].Unknown != "") || !strings.Contains(ops[0].Unknown, c.why) {
				t.Errorf("why it is not known: %q, want words of %q", ops[0].Unknown, c.why)
			}
		})
	}
}

// TestOperatorsOfManyDomains: an account that may write the status of everybody's kinds, each
// by name, takes none of them from its operator, nor where that is not there.
func TestOperatorsOfManyDomains(t *testing.T) {
	var world strings.Builder
	for i := range domains + 1 {
		group := fmt.Sprintf("org%d.io", i)
		world.WriteString(checktest.Definition("things."+group, "Thing", ""))
		world.WriteString(checktest.Grant(fmt.Sprintf("sweeper-%d", i), "ops/sweeper", group, "things, things/status", checktest.AllVerbs))
	}
	world.WriteString(checktest.Deployment("ops/sweeper", "tools/sweeper:1", "sweeper", ""))
	world.WriteString(checktest.Deployment("ops/runner", "tools/runner:1", "runner", "") + checktest.Grant("runner", "ops/runner", "org3.io", "things, things/status", checktest.AllVerbs))
	for _, o := range operatorsWorld(t, world.String()).Operators() {
		known := len(o.Workloads) > 0
		if own := slices.Contains(groups(o), "org3.io"); own != known || known && o.Workloads[0].Ref.Name != "runner" {
			t.Errorf("%s acts on %s: %v", o.Name, o.Kinds, o.Evidence)
		}
	}
}

// TestFindOperator finds operators by what people call them.
func TestFindOperator(t *testing.T) {
	w := operatorsWorld(t, operatorsText(t, "istio")+"\n---\n"+operatorsText(t, "cert-manager"))
	for asked, want := range map[string]string{
		"istio": "istio", "Istio": "istio", "istiod": "istio", "istio-system/istiod": "istio", "security.istio.io": "istio", "cert-manager-webhook": "cert-manager",
		"acme.cert-manager.io": "cert-manager", "flagger": "flagger", "kiali": "", "cert": "",
	} {
		var got []string
		for _, o := range Named(w, asked) {
			got = append(got, o.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s means %q, want %q", asked, got, want)
		}
	}
	if near := Near(w, "cert-manger"); !slices.Contains(near, "cert-manager") {
		t.Errorf("near cert-manger are %q", near)
	}
	for _, o := range w.Operators() {
		for _, gk := range o.Kinds {
			if w.OperatorOf(gk) != o {
				t.Errorf("%s is of %s, and OperatorOf says otherwise", gk, o.Name)
			}
		}
	}
}

// TestOperatorsSameBytes: in whatever order the objects come, the answer is the same.
func TestOperatorsSameBytes(t *testing.T) {
	var docs []string
	for name := range published {
		docs = append(docs, strings.Split(operatorsText(t, name), "\n---\n")...)
	}
	slices.Sort(docs)
	tell := func() string {
		var out strings.Builder
		for _, o := range operatorsWorld(t, strings.Join(docs, "\n---\n")).Operators() {
			fmt.Fprintln(&out, o.Name, o.Ref(), o.Kinds, o.Unknown, strings.Join(o.Evidence, "\n"))
		}
		return out.String()
	}
	first := tell()
	slices.Reverse(docs)
	if second := tell(); first != second {
		t.Errorf("the other way round it says\n%s\nand not\n%s", second, first)
	}
}

// TestOperatorsHaveEvery definition exactly once, and are in order.
func TestOperatorsHaveEvery(t *testing.T) {
	for name := range published {
		w := operatorsWorld(t, operatorsText(t, name))
		seen := map[string]int{}
		for _, o := range w.Operators() {
			for _, d := range o.Definitions {
				seen[d.Name]++
			}
		}
		for _, ref := range w.Instances(check.DefinitionKind) {
			if seen[ref.Name] != 1 {
				t.Errorf("%s: %s is of %d operators", name, ref.Name, seen[ref.Name])
			}
		}
		if !slices.IsSortedFunc(w.Operators(), compareOperators) {
			t.Errorf("%s: the operators are not in order", name)
		}
	}
}
