package regulate_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var updatePlans = flag.Bool("update-plans", false, "write what Plan says into testdata/plan")

// TestPlanCases plays stories. A file of testdata/plan is one: its first file is the system
// (a line of apps, APP=NEEDED,NEEDED, and the regulation), each of the others a moment, by
// its time, whose lines say what happens then; the lines behind > are what Plan says to it.
// What it says is done before the next moment, unless a line says otherwise.
func TestPlanCases(t *testing.T) {
	files, err := filepath.Glob("testdata/plan/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStory(t, string(a.Files[0].Data))
			for i := 1; i < len(a.Files); i++ {
				f := &a.Files[i]
				var said []string
				for line := range strings.Lines(string(f.Data)) {
					if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ">") {
						said = append(said, line)
					}
				}
				got := s.moment(t, f.Name, said)
				if *updatePlans {
					f.Data = []byte(strings.TrimPrefix(strings.Join(said, "\n")+"\n", "\n") + got)
					continue
				}
				if want := string(f.Data)[max(0, strings.Index("\n"+string(f.Data), "\n>")):]; strings.TrimSpace(want) != strings.TrimSpace(got) {
					t.Errorf("at %s (%s):\n%s\nwant:\n%s", f.Name, strings.Join(said, "; "), got, want)
				}
			}
			if *updatePlans {
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// story is a system whose apps fare in one way or another.
type story struct {
	system *system.System
	world  *regulate.SystemState
	j      *regulate.Journal
	day    time.Time
}

func newStory(t *testing.T, text string) *story {
	t.Helper()
	first, regulation, _ := strings.Cut(text, "\n")
	s := &story{world: &regulate.SystemState{}, j: &regulate.Journal{}, day: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	manifest := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: shop, namespace: shop}\nspec:\n  apps:\n"
	for word := range strings.FieldsSeq(strings.TrimPrefix(first, "apps:")) {
		app, needs, _ := strings.Cut(word, "=")
		manifest += fmt.Sprintf("  - {name: %s, roots: [deployment/%s]}\n", app, app)
		ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: app}
		a := regulate.AppState{
			Name: app, Roots: []object.Ref{ref}, Health: health.Healthy, Fingerprint: map[string]string{"Deployment/" + app: "v1"},
			Actions: map[string][]regulate.Resolved{}, Managers: map[object.Ref][]regulate.Manager{},
		}
		for _, signal := range []string{"Stop", "drain"} {
			a.Actions[signal] = []regulate.Resolved{{Name: "preset", Targets: []object.Ref{ref}}}
		}
		s.world.Apps = append(s.world.Apps, a)
		s.need(t, app, needs)
	}
	manifest += "  regulation:\n"
	for line := range strings.Lines(regulation) {
		manifest += "    " + line
	}
	var problems []string
	sys, found := system.Parse("case", []byte(manifest))
	for _, p := range found {
		problems = append(problems, fmt.Sprint(p))
	}
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", manifest, strings.Join(problems, "\n"))
	}
	s.system = sys
	return s
}

func (s *story) need(t *testing.T, app, needs string) {
	t.Helper()
	a := s.app(t, app)
	a.Needs = nil
	for _, n := range strings.FieldsFunc(needs, func(r rune) bool { return r == ',' }) {
		a.Needs = append(a.Needs, regulate.Need{App: n})
	}
}

func (s *story) app(t *testing.T, name string) *regulate.AppState {
	t.Helper()
	a, ok := s.world.App(name)
	if !ok {
		t.Fatalf("no app %s", name)
	}
	return a
}

func (s *story) at(t *testing.T, clock string) time.Time {
	t.Helper()
	at, err := time.Parse("15:04:05", clock)
	if err != nil {
		t.Fatal(err)
	}
	return s.day.Add(at.Sub(at.Truncate(24 * time.Hour)))
}

// moment lets happen what lines say, and returns what is planned then.
func (s *story) moment(t *testing.T, clock string, lines []string) string {
	t.Helper()
	now := s.at(t, clock)
	plan := func() *regulate.Plan { return regulate.NewPlan(s.world, s.system, s.j, now) }
	how := whole
	for _, line := range lines {
		words := strings.Fields(line)
		switch rest := words[1:]; words[0] {
		case "stop":
			plan = func() *regulate.Plan {
				return regulate.StopByHand(s.world, s.system, s.j, rest[0], rest[1], "bob", now)
			}
		case "recover":
			plan = func() *regulate.Plan {
				return regulate.RecoverByHand(s.world, s.system, s.j, rest[0], "bob", len(rest) > 1, now)
			}
		case "run":
			plan = func() *regulate.Plan {
				p, err := regulate.HoldForRun(s.world, s.system, s.j, rest[0], rest[1], "r1", "helm upgrade", "bob", now)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
		case "pause": // until, apps, except
			plan = func() *regulate.Plan {
				list := func(i int) []string { return strings.Split(slices.Concat(rest, []string{""})[i], ",") }
				return regulate.PauseForRun(s.world, s.system, s.j, list(1), list(2), "r1", "a backup", now, s.at(t, rest[0]))
			}
		case "endrun":
			plan = func() *regulate.Plan { return regulate.EndRun(s.world, s.system, s.j, "r1", now) }
		case "killed":
			how = killed
		case "failing":
			how = failing
		case "left":
			how = leaving
		case "looking":
			how = nothing
		case "manifest":
			s.edit(t, rest)
		default:
			s.change(t, s.app(t, words[0]), line, rest)
		}
	}
	p := plan()
	if again := plan(); !reflect.DeepEqual(p, again) {
		t.Errorf("at %s: the same plan twice is\n%+v\nand\n%+v", clock, p, again)
	}
	if before := s.j.Clone(); true {
		s.j = apply(s.j, p, how, now)
		checkSteps(t, before, p)
	}
	return planText(p)
}

// change lets something happen to an app.
func (s *story) change(t *testing.T, a *regulate.AppState, line string, words []string) {
	t.Helper()
	ref := a.Roots
	switch word := strings.TrimSuffix(words[0], ":"); word {
	case "version":
		a.Fingerprint = map[string]string{"Deployment/" + a.Name: words[1]}
	case "rollout":
		_, a.Rollout, _ = strings.Cut(line, ":")
		a.Rollout = strings.TrimSpace(a.Rollout)
	case "unread":
		a.Unread = words[1:]
	case "absent":
		a.Roots, a.Absent = nil, words[1:]
	case "needs":
		s.need(t, a.Name, strings.Join(words[1:], ","))
	case "refuses":
		_, why, _ := strings.Cut(line, ": ")
		signal := strings.TrimSuffix(words[1], ":")
		a.Actions[signal] = []regulate.Resolved{a.Actions[signal][0], {Name: "patch", Targets: ref, Refused: why}}
	case "default":
		a.Actions["Stop"][0].Default = true
	case "idle":
		delete(a.Actions, words[1])
	case "unseen":
		s.world.Apps = slices.DeleteFunc(s.world.Apps, func(o regulate.AppState) bool { return o.Name == a.Name })
	case "kept": // by, Kind/name
		kind, name, _ := strings.Cut(words[2], "/")
		a.Managers[ref[0]] = append(a.Managers[ref[0]], regulate.Manager{Ref: object.Ref{Kind: kind, Namespace: "gitops", Name: name}, Tool: words[1], Reverts: words[1] != "helm"})
	default:
		a.Health, a.Since, a.Cause = health.Status(word), time.Time{}, object.Ref{}
		_, a.Message, _ = strings.Cut(line, ": ")
		if i := slices.Index(words, "since"); i > 0 {
			a.Since = s.at(t, strings.TrimSuffix(words[i+1], ":"))
		}
		if a.Message != "" {
			a.Cause = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: a.Name}
		}
	}
}

// edit changes the manifest.
func (s *story) edit(t *testing.T, words []string) {
	t.Helper()
	switch words[0] {
	case "without-app":
		s.system.Apps = slices.DeleteFunc(s.system.Apps, func(a system.App) bool { return a.Name == words[1] })
		s.world.Apps = slices.DeleteFunc(s.world.Apps, func(a regulate.AppState) bool { return a.Name == words[1] })
	case "without-rule":
		s.system.Regulation.Rules = slices.DeleteFunc(s.system.Regulation.Rules, func(r system.Rule) bool { return r.Name == words[1] })
	case "gitops":
		s.system.Regulation.GitOps = system.GitOps(words[1])
	default:
		t.Fatalf("manifest %v", words)
	}
}

// planText writes a plan for people to read.
func planText(p *regulate.Plan) string {
	var b strings.Builder
	clock := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format("15:04:05")
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "> %d %s %s %s", s.Wave, s.Verb, s.App, s.Signal)
		if s.Hold > 0 {
			fmt.Fprintf(&b, " #%d", s.Hold)
		}
		for _, m := range s.Managers {
			fmt.Fprintf(&b, " suspending %s", m.Ref)
		}
		fmt.Fprintf(&b, " [%s]: %s\n", causesText(s.Causes), s.Why)
		for _, a := range s.Actions {
			for _, n := range a.Notes {
				fmt.Fprintf(&b, ">   note: %s\n", n)
			}
		}
	}
	for _, w := range p.Pending {
		fmt.Fprintf(&b, "> wait %s %s %s until %s: %s\n", w.Verb, w.App, w.Signal, clock(w.Until), w.Why)
	}
	for _, r := range p.Refused {
		fmt.Fprintf(&b, "> refused %s %s %s until %s: %s\n", r.App, r.Signal, r.Reason, clock(r.Until), r.Message)
	}
	for _, a := range p.Apps {
		if a.State != regulate.NotHeld || a.Why != "" {
			fmt.Fprintf(&b, "> %s is %s: %s\n", a.App, a.State, a.Why)
		}
	}
	if !p.NextCheck.IsZero() {
		fmt.Fprintf(&b, "> again %s\n", clock(p.NextCheck))
	}
	if b.Len() == 0 {
		return "> nothing\n"
	}
	return b.String()
}

func causesText(causes []regulate.Cause) string {
	var out []string
	for _, c := range causes {
		switch {
		case c.RequestedBy != "":
			out = append(out, "hand "+c.RequestedBy)
		case c.Run != "":
			out = append(out, "run "+c.Run)
		default:
			out = append(out, c.Rule+"/"+c.App)
		}
	}
	return strings.Join(out, " ")
}
