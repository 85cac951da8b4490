package system_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// hostile is text that a cluster may hold, and that is to stay in its comment.
var hostile = []string{
	"plain", "two\nlines", "\r- name: x", "nel\u0085  apps: []", "ls\u2028x: 1", "ps\u2029", "nul\x00", "\xff\xfe", "bom\ufeff", "# hash", "tab\tx", "\x1b[31m", "a: b", "\U000e0001",
}

// Whatever was found, the draft is a manifest that names every root, and nothing of a comment
// gets out of it.
func TestDraftIsAManifest(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func() string { return hostile[r.IntN(len(hostile))] }
		d := &system.Draft{Name: "shop", Found: pick()}
		if r.IntN(2) == 0 {
			d.Namespace = "123"
		}
		var want []string
		for i := range 1 + r.IntN(4) {
			a := system.DraftApp{Name: []string{"null", "1", "0x1", "true"}[i], Found: pick(), Needs: []string{pick()}, Stop: []string{pick(), pick()}, Managed: []string{pick()}, Suspend: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				a.Operator = "strimzi"
			}
			for j := range 1 + r.IntN(3) {
				root := system.Root{Type: []string{"deployment", "Kafka.kafka.strimzi.io"}[r.IntN(2)], Name: fmt.Sprintf("%s%d%d", []string{"x", "system:node#", "a'b\"c", "*&!-"}[r.IntN(4)], i, j)}
				if r.IntN(2) == 0 {
					root.Namespace = "on"
				}
				a.Roots = append(a.Roots, root)
				want = append(want, root.String())
			}
			d.Apps = append(d.Apps, a)
		}
		s, problems := system.Parse("draft", d.YAML())
		if len(problems) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, problems, d.YAML())
		}
		var got []string
		for i, a := range s.Apps {
			if a.Name != d.Apps[i].Name || a.Operator != d.Apps[i].Operator || (a.GitOps == system.Suspend) != d.Apps[i].Suspend {
				t.Fatalf("seed %d: %+v", seed, a)
			}
			for _, root := range a.Roots {
				got = append(got, root.String())
			}
		}
		if !slices.Equal(got, want) || s.Name != d.Name || s.Namespace != d.Namespace || len(s.Regulation.Rules) != 1 || len(s.Dependencies) != 0 {
			t.Fatalf("seed %d: roots %v, want %v: %+v", seed, got, want, s)
		}
	}
}

// What is written as an example is right as well.
func TestDraftExamples(t *testing.T) {
	d := &system.Draft{Name: "shop", Found: "x", Apps: []system.DraftApp{
		{Name: "db", Found: "x", Roots: []system.Root{{Type: "statefulset", Name: "db"}}}, {Name: "web", Found: "x", Roots: []system.Root{{Type: "deployment", Name: "web"}}},
	}}
	var out []string
	for line := range strings.Lines(string(d.YAML())) {
		for _, word := range []string{"dependencies:", "- {from:", "- name: upgrade", "  when: {app: any, upgrading", "  signal:", "  to:", "  recover:", "maxUnavailableApps:", "holdOff:"} {
			line = strings.Replace(line, "# "+word, word, 1)
		}
		out = append(out, line)
	}
	s, problems := system.Parse("draft", []byte(strings.Join(out, "")))
	if len(problems) > 0 || len(s.Dependencies) != 1 || len(s.Regulation.Rules) != 2 || !s.Regulation.Rules[1].Upgrading || s.Regulation.MaxUnavailableApps != 2 || s.Regulation.HoldOff != system.DefaultHoldOff {
		t.Errorf("%v\n%s\n%+v", problems, strings.Join(out, ""), s)
	}
}
