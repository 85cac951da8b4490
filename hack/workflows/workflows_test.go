// Package workflows_test compares the workflows of .github with the Makefile, .ci/run and
// plugins.yaml: what they call exists, and works without them.
package workflows_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// workflows returns the files, by name, parsed by actionlint.
func workflows(t *testing.T) map[string]*actionlint.Workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*actionlint.Workflow{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		w, wrong := actionlint.Parse(b)
		for _, e := range wrong {
			t.Errorf("%s: %v", f, e)
		}
		out[filepath.Base(f)] = w
	}
	for _, name := range []string{"ci.yaml", "release.yaml"} {
		if out[name] == nil {
			t.Fatalf("there is no workflow %s", name)
		}
	}
	return out
}

// actionlint has no findings.
func TestLint(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name := range workflows(t) {
		wrong, err := linter.LintFile(filepath.Join(root, ".github", "workflows", name), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range wrong {
			t.Errorf("%s:%d:%d: %s (%s)", name, e.Line, e.Column, e.Message, e.Kind)
		}
	}
}

// steps returns the commands and the actions of a workflow's steps.
func steps(w *actionlint.Workflow) (runs, uses []string) {
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			switch e := s.Exec.(type) {
			case *actionlint.ExecRun:
				runs = append(runs, e.Run.Value)
			case *actionlint.ExecAction:
				uses = append(uses, e.Uses.Value)
			}
		}
	}
	return runs, uses
}

var (
	made   = regexp.MustCompile(`\bmake ((?:-[a-zA-Z]+ )*)([a-z][a-z-]*)`)
	target = regexp.MustCompile(`(?m)^([a-z][a-z -]*):(?:[^=]|$)`)
)

// Everything that the workflows and .ci/run make is a target of the Makefile.
func TestTargets(t *testing.T) {
	var targets []string
	for _, m := range target.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets = append(targets, strings.Fields(m[1])...)
	}
	if !slices.Contains(targets, "test") || !slices.Contains(targets, "lint") {
		t.Fatalf("targets of the Makefile: %v", targets)
	}
	texts := map[string][]string{".ci/run": {strings.ReplaceAll(read(t, ".ci/run"), "\npart ", "\nmake ")}}
	for name, w := range workflows(t) {
		texts[name], _ = steps(w)
	}
	found := 0
	for name, runs := range texts {
		for _, m := range made.FindAllStringSubmatch(strings.Join(runs, "\n"), -1) {
			found++
			if !slices.Contains(targets, m[2]) {
				t.Errorf("%s calls %q, and the Makefile has no target %s", name, m[0], m[2])
			}
		}
	}
	if found < 8 {
		t.Errorf("%d calls of make were found", found)
	}
}

// Both call .ci/run; the release makes what it uploads.
func TestCalls(t *testing.T) {
	all := workflows(t)
	for name, want := range map[string][]string{
		"ci.yaml":      {".ci/run", "make cross", "make licences", "make vuln", "make apidiff", "go test ./cmd/... ./internal/... ./pkg/..."},
		"fuzz.yaml":    {"make fuzz FUZZTIME=60s"},
		"release.yaml": {".ci/run", `make release VERSION="$VERSION"`, `make krew VERSION="$VERSION"`},
	} {
		runs, _ := steps(all[name])
		for _, w := range want {
			if !slices.Contains(runs, w) {
				t.Errorf("%s has no step that runs %s: %q", name, w, runs)
			}
		}
	}
	for _, door := range []string{"make demo", "make test"} {
		if !strings.Contains(read(t, ".ci/run"), door) {
			t.Errorf(".ci/run has no %s", door)
		}
	}
	tested := regexp.MustCompile(`(?m)^TESTS := (.*)$`).FindStringSubmatch(read(t, "Makefile"))
	if tested == nil {
		t.Fatal("the Makefile has no TESTS")
	}
	for _, part := range []string{"lint", "licences", "unit", "size", "cluster-test"} {
		if !slices.Contains(strings.Fields(tested[1]), part) {
			t.Errorf("make test leaves out %s: it has %s", part, tested[1])
		}
	}
}

// Actions are pinned; permissions are explicit, and only a release may write.
func TestLeastPower(t *testing.T) {
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	for name, w := range workflows(t) {
		_, uses := steps(w)
		for _, u := range uses {
			if !pinned.MatchString(u) {
				t.Errorf("%s uses %s: want one of GitHub's own, by its commit", name, u)
			}
		}
		if w.Permissions == nil || len(w.Permissions.Scopes) != 1 || w.Permissions.Scopes["contents"] == nil || w.Permissions.Scopes["contents"].Value.Value != "read" {
			t.Errorf("%s: permissions: want contents: read, and no more", name)
		}
		if w.Concurrency == nil {
			t.Errorf("%s has no concurrency group", name)
		}
		for id, job := range w.Jobs {
			if job.TimeoutMinutes == nil {
				t.Errorf("%s: the job %s has no timeout-minutes", name, id)
			}
			if job.Permissions != nil && (name != "release.yaml" || id != "release") {
				t.Errorf("%s: the job %s has permissions of its own", name, id)
			}
		}
	}
}

// makes returns the output of a make target.
func makes(t *testing.T, target string) []string {
	t.Helper()
	cmd := exec.Command("make", "-s", "--no-print-directory", target)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "SYSOP_CACHE="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make %s: %v", target, err)
	}
	return strings.Fields(string(out))
}

// Platforms are listed once: make reads them from plugins.yaml, and workflows have none.
func TestPlatforms(t *testing.T) {
	s, err := suite.Read(filepath.Join(root, "plugins.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, p := range s.Platforms {
		want = append(want, p.String())
	}
	if got := makes(t, "platforms"); !slices.Equal(got, want) {
		t.Errorf("make cross compiles for %v, plugins.yaml has %v", got, want)
	}
	listed := regexp.MustCompile(`\b(linux|darwin|windows)/(amd64|arm64)\b|GOARCH`)
	for name := range workflows(t) {
		if m := listed.FindString(read(t, filepath.Join(".github", "workflows", name))); m != "" {
			t.Errorf("%s names %s: plugins.yaml is the list of platforms", name, m)
		}
	}
}

// A release waits for the vulnerability check and for the run on an older Kubernetes, and only the
// uploading step has the token; CI runs every week, too.
func TestReleaseIsGated(t *testing.T) {
	release := workflows(t)["release.yaml"].Jobs["release"]
	var needs []string
	for _, n := range release.Needs {
		needs = append(needs, n.Value)
	}
	for _, job := range []string{"test", "vuln", "skew"} {
		if !slices.Contains(needs, job) {
			t.Errorf("the release needs %q: want %s, too", needs, job)
		}
	}
	for _, job := range []string{"vuln", "skew"} {
		runs, _ := steps(&actionlint.Workflow{Jobs: map[string]*actionlint.Job{job: workflows(t)["release.yaml"].Jobs[job]}})
		if !slices.Contains(runs, "make "+job) {
			t.Errorf("the job %s runs %q", job, runs)
		}
	}
	text := read(t, filepath.Join(".github", "workflows", "release.yaml"))
	if strings.Count(text, "github.token") != 1 || release.Env != nil && release.Env.Vars["gh_token"] != nil {
		t.Error("the token is given to more than one step")
	}
	last := release.Steps[len(release.Steps)-1]
	if last.Env == nil || last.Env.Vars["gh_token"] == nil {
		t.Error("the last step has no GH_TOKEN")
	}
	if !regexp.MustCompile(`cron: "\d+ \d+ \* \* \d"`).MatchString(read(t, filepath.Join(".github", "workflows", "ci.yaml"))) {
		t.Error("ci.yaml does not run every week")
	}
}

// TestWritersRunNothing: a job with write permission runs nothing from the tag: it checks out no
// code, and its one command uploads.
func TestWritersRunNothing(t *testing.T) {
	for name, w := range workflows(t) {
		for id, job := range w.Jobs {
			if job.Permissions == nil {
				continue
			}
			runs, uses := steps(&actionlint.Workflow{Jobs: map[string]*actionlint.Job{id: job}})
			for _, u := range uses {
				if strings.HasPrefix(u, "actions/checkout@") {
					t.Errorf("%s: the job %s may write, and has the code of the tag", name, id)
				}
			}
			if len(runs) != 1 || !strings.HasPrefix(runs[0], "gh release create ") {
				t.Errorf("%s: the job %s may write, and runs %q", name, id, runs)
			}
		}
	}
}

// Dependabot covers every module and the page's packages.
func TestDependabot(t *testing.T) {
	text := read(t, filepath.Join(".github", "dependabot.yml"))
	modules, err := filepath.Glob(filepath.Join(root, "test", "*", "*", "go.mod"))
	if err != nil || len(modules) < 5 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	for _, m := range modules {
		dir := filepath.Dir(m)
		if dir := fmt.Sprintf("/test/%s/%s", filepath.Base(filepath.Dir(dir)), filepath.Base(dir)); !strings.Contains(text, "- "+dir+"\n") {
			t.Errorf("dependabot does not look at %s", dir)
		}
	}
	if !strings.Contains(text, "package-ecosystem: npm\n    directory: /ui\n") {
		t.Error("dependabot does not look at the packages of the page")
	}
}
