package solve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

func ExampleSolve() {
	choices, err := solve.Solve(context.Background(), solve.Question{
		Available: []solve.Package{
			{Name: "cert-manager", Version: "1.14.2", Provides: []solve.API{{Kind: "Certificate.cert-manager.io", Versions: []string{"v1"}}}},
			{Name: "shop", Version: "1.0.0", Requires: []solve.Requirement{{API: solve.API{Kind: "Certificate.cert-manager.io"}}}},
		},
		Wants: []solve.Want{{Requirement: solve.Requirement{Package: "shop"}, By: "the command line"}},
	})
	for _, c := range choices {
		fmt.Println(c.Name, c.Version, "for", strings.Join(c.Why, ", "))
	}
	fmt.Println(err)
	// Output:
	// cert-manager 1.14.2 for shop 1.0.0 (Certificate.cert-manager.io)
	// shop 1.0.0 for the command line
	// <nil>
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		within, version string
		want            bool
	}{
		{"", "1.0.0", true},
		{"", "1.0.0-rc.1", false},
		{">=1.14 <2", "1.14.0", true},
		{">=1.14 <2", "2.0.0", false},
		{">=1.14, <2", "1.99.0", true},
		{"~1.2 || ^2.1", "2.9.0", true},
		{"~1.2 || ^2.1", "1.3.0", false},
		{">=1", "2.0.0-rc.1", false},
		{">=2.0.0-0", "2.0.0-rc.1", true},
	} {
		r, err := solve.ParseRange(c.within)
		if err != nil {
			t.Fatal(err)
		}
		v, err := solve.ParseVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		if r.Contains(v) != c.want {
			t.Errorf("%q contains %s: got %t", c.within, c.version, !c.want)
		}
	}
	for _, text := range []string{"nonsense", ">= ", "||", ">=1 ||", strings.Repeat(">=1 ", 100)} {
		if _, err := solve.ParseRange(text); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for _, text := range []string{"", "1", "1.2", "v1.2.3", "01.2.3", strings.Repeat("1", 1000)} {
		if _, err := solve.ParseVersion(text); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func FuzzRange(f *testing.F) {
	for _, text := range []string{"", ">=1.14 <2", "~1.2 || ^2", "1.x", ">=2.0.0-0", "1 - 2", "||", "*"} {
		f.Add(text, "1.2.3")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		v, err := solve.ParseVersion(version)
		if err != nil {
			return
		}
		r, err := solve.ParseRange(text)
		if err != nil {
			return
		}
		if c, err := semver.NewConstraint(text); err == nil && strings.TrimSpace(text) != "" && c.Check(v) != r.Contains(v) {
			t.Fatalf("%q and %s: got %t", text, version, r.Contains(v))
		}
	})
}

func TestRemovable(t *testing.T) {
	all := []solve.Installed{
		there(brings(pkg("ca", "1.0.0"), "C.x.io"), false),
		there(brings(pkg("cb", "1.0.0"), "C.x.io"), false),
		there(pkg("db", "1.0.0", maybe(needs("ca", ""))), false),
		there(pkg("shop", "1.0.0", kind("C.x.io"), needs("db", ">=1")), false),
	}
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"another one brings it": {[]string{"ca"}, ""},
		"nobody else does":      {[]string{"ca", "cb"}, "shop>ca:C.x.io shop>cb:C.x.io "},
		"by its name":           {[]string{"db"}, "shop>db:>=1 "},
		"together":              {[]string{"db", "shop"}, ""},
	} {
		dependants, err := solve.Removable(all, c.names)
		got := ""
		for _, d := range dependants {
			got += d.Name + ">" + d.Of + ":" + d.Needs.API.String() + d.Needs.Range + " "
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := solve.Removable(all, []string{"shup"}); err == nil || err.Error() != "shup is not installed (did you mean shop?)" {
		t.Errorf("got %v", err)
	}
}
