package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/fill"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// TestPages runs each page that needs a cluster, one after the other: each is a guest that
// leaves the cluster as it was, so they can be read, and run, in any order.
func TestPages(t *testing.T) {
	all, err := pages.All(root)
	if err != nil {
		t.Fatal(err)
	}
	var some []string
	for _, p := range all {
		if !p.Cluster() {
			continue
		}
		some = append(some, p.Path)
		t.Run(strings.TrimSuffix(p.Path, ".md"), func(t *testing.T) { testPage(t, p) })
	}
	for _, want := range []string{"README.md", "docs/adopting.md", "docs/catalog.md", "docs/install.md", "docs/regulation.md", "docs/sharing.md", "docs/tutorial-bad-upgrade.md"} {
		if !slices.Contains(some, want) {
			t.Errorf("no block of %s says that it needs a cluster", want)
		}
	}
}

func testPage(t *testing.T, p pages.Page) {
	c := sandbox(t)
	before := there(t, c)
	name, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	runner := pages.Runner{
		Plugin: name, Kubectl: c.Binaries().Path(build.Kubectl), Kubeconfig: c.Kubeconfig,
		Timeout: timeout.Scaled(4 * time.Minute), Update: *update,
	}
	result, err := runner.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Error(f)
	}
	for _, f := range result.Updated {
		t.Log(f)
	}
	if result.Ran == 0 {
		t.Errorf("%s: nothing was run", p.Path)
	}
	leftBehind(t, c, before)
}

// TestSandboxFiles: the cluster of these tests has what that of make sandbox has.
func TestSandboxFiles(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	want := "$(SANDBOX) up"
	for _, file := range fill.SandboxFiles(root) {
		want += " -f " + strings.TrimPrefix(filepath.ToSlash(file), root+"/")
	}
	if !strings.Contains(string(makefile), want+"\n") {
		t.Errorf("make sandbox does not run %q", want)
	}
}
