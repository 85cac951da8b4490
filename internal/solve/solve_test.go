package solve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

func pkg(name, version string, needs ...solve.Requirement) solve.Package {
	return solve.Package{Name: name, Version: version, Requires: needs}
}

func needs(name, versions string) solve.Requirement {
	return solve.Requirement{Package: name, Range: versions}
}

func kind(name string) solve.Requirement { return solve.Requirement{API: solve.API{Kind: name}} }

func maybe(r solve.Requirement) solve.Requirement { r.Optional = true; return r }

func brings(p solve.Package, kinds ...string) solve.Package {
	for _, k := range kinds {
		p.Provides = append(p.Provides, solve.API{Kind: k, Versions: []string{"v1"}})
	}
	return p
}

func want(r ...solve.Requirement) []solve.Want {
	var out []solve.Want
	for _, r := range r {
		out = append(out, solve.Want{Requirement: r, By: "the command line"})
	}
	return out
}

func there(p solve.Package, fixed bool) solve.Installed {
	return solve.Installed{Package: p, Fixed: fixed}
}

func told(choices []solve.Choice) string {
	var out []string
	for _, c := range choices {
		s := c.Name + "@" + c.Version
		if c.Was != "" {
			s += "<" + c.Was
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestSolve(t *testing.T) {
	certs := []solve.Package{pkg("cert-manager", "1.10.1"), pkg("cert-manager", "1.14.2"), pkg("cert-manager", "2.0.0-rc.1")}
	separate := pkg("b", "1.0.0")
	separate.Conflicts = []solve.Requirement{needs("a", ">=2")}
	newer := pkg("a", "2.0.0")
	newer.Kubernetes = ">=1.30"
	ca, cb := brings(pkg("ca", "1.0.0"), "C.x.io"), brings(pkg("cb", "1.0.0"), "C.x.io")
	for name, c := range map[string]struct {
		q           solve.Question
		want, fails string
	}{
		"newest, needs first": {
			q:    solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", ">=1.9 <2"))), Wants: want(needs("shop", ""))},
			want: "cert-manager@1.14.2 shop@1.0.0",
		},
		"what brought an API is tried otherwise": {
			q: solve.Question{
				Available: []solve.Package{
					pkg("o", "2.0.0", needs("p", "")), pkg("o", "1.0.0"), pkg("z", "1.0.0"),
					brings(pkg("p", "1.0.0"), "X.x.io"), brings(pkg("q", "1.0.0", needs("r1", "")), "X.x.io"), brings(pkg("r1", "1.0.0"), "Y.x.io"),
					brings(solve.Package{Name: "r2", Version: "1.0.0", Conflicts: []solve.Requirement{needs("z", "")}}, "Y.x.io"),
				},
				Wants: want(needs("o", ""), needs("z", ""), kind("X.x.io"), kind("Y.x.io")), Prefer: []string{"q", "r2"},
			},
			want: "o@1.0.0 r1@1.0.0 q@1.0.0 z@1.0.0",
		},
		"a prerelease by name": {
			q:    solve.Question{Available: certs, Wants: want(needs("cert-manager", ">=2.0.0-0"))},
			want: "cert-manager@2.0.0-rc.1",
		},
		"both ranges": {
			q:     solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", ">=1.14")), pkg("postgres", "2.1.0", needs("cert-manager", "<1.12"))), Wants: want(needs("shop", ""), needs("postgres", ""))},
			fails: "the command line wants shop; the command line wants postgres; postgres 2.1.0 needs cert-manager <1.12; shop 1.0.0 needs cert-manager >=1.14; no version of cert-manager is in both (there are 1.10.1, 1.14.2, 2.0.0-rc.1)",
		},
		"unknown": {
			q:     solve.Question{Available: certs, Wants: want(needs("cert-manger", ""))},
			fails: "the command line wants cert-manger; no package is called cert-manger (did you mean cert-manager?)",
		},
		"no version": {
			q:     solve.Question{Available: certs, Wants: want(needs("cert-manager", ">=3"))},
			fails: "the command line wants cert-manager >=3; no version of cert-manager is that (there are 1.10.1, 1.14.2, 2.0.0-rc.1)",
		},
		"installed stays": {
			q:    solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", ""))), Installed: []solve.Installed{there(certs[0], false)}, Wants: want(needs("shop", ""))},
			want: "cert-manager@1.10.1<1.10.1 shop@1.0.0",
		},
		"installed moves up": {
			q:    solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", ">=1.14"))), Installed: []solve.Installed{there(certs[0], false)}, Wants: want(needs("shop", ""))},
			want: "cert-manager@1.14.2<1.10.1 shop@1.0.0",
		},
		"fixed does not": {
			q:     solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", ">=1.14"))), Installed: []solve.Installed{there(certs[0], true)}, Wants: want(needs("shop", ""))},
			fails: "the command line wants shop; shop 1.0.0 needs cert-manager >=1.14; cert-manager 1.10.1 is installed and stays as it is",
		},
		"never silently down": {
			q:     solve.Question{Available: append(certs, pkg("shop", "1.0.0", needs("cert-manager", "<1.14"))), Installed: []solve.Installed{there(certs[1], false)}, Wants: want(needs("shop", ""))},
			fails: "the command line wants shop; shop 1.0.0 needs cert-manager <1.14; cert-manager 1.14.2 is installed, and is not moved to an older version unless you name it",
		},
		"down when asked for": {
			q:    solve.Question{Available: certs, Installed: []solve.Installed{there(certs[1], false)}, Wants: want(needs("cert-manager", "<1.14"))},
			want: "cert-manager@1.10.1<1.14.2",
		},
		"Kubernetes": {
			q:     solve.Question{Available: []solve.Package{newer}, Wants: want(needs("a", "")), Kubernetes: "v1.29.3-eks-1"},
			fails: "the command line wants a; a 2.0.0 runs on Kubernetes >=1.30, and the cluster has 1.29.3",
		},
		"Kubernetes, an older one does": {
			q:    solve.Question{Available: []solve.Package{newer, pkg("a", "1.0.0")}, Wants: want(needs("a", "")), Kubernetes: "1.29.3"},
			want: "a@1.0.0",
		},
		"conflict": {
			q:     solve.Question{Available: []solve.Package{pkg("a", "2.0.0"), separate}, Wants: want(needs("a", ""), needs("b", ""))},
			fails: "the command line wants a; the command line wants b; b 1.0.0 cannot be together with a >=2",
		},
		"the only provider": {
			q:    solve.Question{Available: []solve.Package{ca, pkg("x", "1.0.0", kind("C.x.io"))}, Wants: want(needs("x", ""))},
			want: "ca@1.0.0 x@1.0.0",
		},
		"served": {
			q:    solve.Question{Available: []solve.Package{ca, pkg("x", "1.0.0", kind("C.x.io"))}, Served: []solve.API{{Kind: "C.x.io"}}, Wants: want(needs("x", ""))},
			want: "x@1.0.0",
		},
		"several providers": {
			q:     solve.Question{Available: []solve.Package{ca, cb, pkg("x", "1.0.0", kind("C.x.io"))}, Wants: want(needs("x", ""))},
			fails: "several packages bring C.x.io, which x 1.0.0 needs: ca, cb: choose one of them",
		},
		"the preferred provider": {
			q:    solve.Question{Available: []solve.Package{ca, cb, pkg("x", "1.0.0", kind("C.x.io"))}, Prefer: []string{"cb"}, Wants: want(needs("x", ""))},
			want: "cb@1.0.0 x@1.0.0",
		},
		"the installed provider": {
			q:    solve.Question{Available: []solve.Package{ca, cb, pkg("x", "1.0.0", kind("C.x.io"))}, Installed: []solve.Installed{there(ca, true)}, Prefer: []string{"cb"}, Wants: want(needs("x", ""))},
			want: "ca@1.0.0<1.0.0 x@1.0.0",
		},
		"the wanted provider": {
			q:    solve.Question{Available: []solve.Package{ca, cb, pkg("x", "1.0.0", kind("C.x.io"))}, Wants: want(needs("x", ""), needs("cb", ""))},
			want: "cb@1.0.0 x@1.0.0",
		},
		"nobody brings it": {
			q:     solve.Question{Available: []solve.Package{ca}, Wants: want(kind("D.x.io"))},
			fails: "the command line wants D.x.io; no package brings D.x.io (did you mean C.x.io?)",
		},
		"optional only limits": {
			q:    solve.Question{Available: append(certs, pkg("shop", "1.0.0", maybe(needs("cert-manager", "<1.14")))), Wants: want(needs("shop", ""))},
			want: "shop@1.0.0",
		},
		"optional limits what is wanted": {
			q:    solve.Question{Available: append(certs, pkg("shop", "1.0.0", maybe(needs("cert-manager", "<1.14")))), Wants: want(needs("shop", ""), needs("cert-manager", ""))},
			want: "cert-manager@1.10.1 shop@1.0.0",
		},
		"a loop": {
			q:     solve.Question{Available: []solve.Package{pkg("a", "1.0.0", needs("b", "")), pkg("b", "1.0.0", needs("a", ""))}, Wants: want(needs("a", ""))},
			fails: "packages need each other in a circle: a 1.0.0 -> b 1.0.0 -> a 1.0.0: none of them can be first",
		},
		"a loop that an optional need closes": {
			q:    solve.Question{Available: []solve.Package{pkg("a", "1.0.0", needs("b", "")), pkg("b", "1.0.0", maybe(needs("a", "")))}, Wants: want(needs("a", ""))},
			want: "b@1.0.0 a@1.0.0",
		},
		"itself": {
			q:    solve.Question{Available: []solve.Package{brings(pkg("a", "1.0.0", needs("a", ""), kind("A.x.io")), "A.x.io")}, Wants: want(needs("a", ""))},
			want: "a@1.0.0",
		},
		"no name":     {q: solve.Question{Available: []solve.Package{{Version: "1.0.0"}}}, fails: `a package of the catalog has no name (its version is "1.0.0")`},
		"bad version": {q: solve.Question{Available: []solve.Package{pkg("a", "v1")}, Wants: want(needs("a", ""))}, fails: `package a: "v1" is not a semantic version: expected 1.0.0`},
		"nothing":     {},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := solve.Solve(t.Context(), c.q)
			if c.fails != "" {
				if err == nil || err.Error() != c.fails {
					t.Fatalf("got %s, error %v\nwant %s", told(got), err, c.fails)
				}
				return
			}
			if err != nil || told(got) != c.want {
				t.Fatalf("got %s, error %v, want %s", told(got), err, c.want)
			}
		})
	}
}

func TestSolveStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := solve.Solve(ctx, solve.Question{Available: []solve.Package{pkg("a", "1.0.0")}, Wants: want(needs("a", ""))}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// A change breaks who needs a version or an API that is gone with it; who has it of others, and
// what was not met before, it does not.
func TestBreaking(t *testing.T) {
	needs := func(name string, r ...solve.Requirement) solve.Installed {
		return solve.Installed{Package: solve.Package{Name: name, Version: "1.0.0", Requires: r}}
	}
	kettle := solve.API{Kind: "Kettle.example.com", Versions: []string{"v1"}}
	installed := []solve.Installed{
		{Package: solve.Package{Name: "kettle", Version: "1.0.0", Provides: []solve.API{kettle}}},
		needs("saucer", solve.Requirement{Package: "kettle", Range: ">=1 <2"}),
		needs("teapot", solve.Requirement{API: kettle}),
		needs("tray", solve.Requirement{Package: "kettle", Range: ">=1"}),
		needs("spoon", solve.Requirement{API: solve.API{Kind: "Sugar.example.com"}}),
		needs("cloth", solve.Requirement{Package: "kettle", Range: "<2", Optional: true}),
	}
	names := func(changed ...solve.Package) string {
		t.Helper()
		all, err := solve.Breaking(installed, changed)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, d := range all {
			text += d.Name + ">" + d.Of + " "
		}
		return text
	}
	if got := names(solve.Package{Name: "kettle", Version: "1.1.0", Provides: []solve.API{kettle}}); got != "" {
		t.Errorf("in the range: %q", got)
	}
	if got := names(solve.Package{Name: "kettle", Version: "2.0.0", Provides: []solve.API{kettle}}); got != "saucer>kettle " {
		t.Errorf("out of the range: %q", got)
	}
	if got := names(solve.Package{Name: "kettle", Version: "2.0.0", Provides: []solve.API{{Kind: kettle.Kind, Versions: []string{"v2"}}}}); got != "saucer>kettle teapot>kettle " {
		t.Errorf("without the API: %q", got)
	}
	installed = append(installed, solve.Installed{Package: solve.Package{Name: "urn", Version: "1.0.0", Provides: []solve.API{kettle}}})
	if got := names(solve.Package{Name: "kettle", Version: "1.2.0"}); got != "" {
		t.Errorf("another one brings it: %q", got)
	}
	if got := names(solve.Package{Name: "kettle", Version: "1.2.0"}, solve.Package{Name: "saucer", Version: "2.0.0"}, solve.Package{Name: "urn", Version: "2.0.0"}); got != "teapot>kettle teapot>urn " {
		t.Errorf("both change: %q", got)
	}
}
