package docs_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
)

var update = flag.Bool("update", false, "write what commands write into the pages")

// demoVariable names where the example is as JSON, which is read much faster.
const demoVariable = "SYSOP_TEST_DEMO"

// TestMain makes the test binary the plugin, where it is called by its name.
func TestMain(m *testing.M) {
	plugin := func() {
		demo := examples.Demo()
		if dir := os.Getenv(demoVariable); dir != "" {
			demo = os.DirFS(dir)
		}
		os.Exit(cli.Main(context.Background(), command.Process(demo), os.Args[1:]))
	}
	// A page may install links to the plugin under names of their own: those are the plugin
	// too, and never the tests.
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "kubectl-") || strings.HasPrefix(name, "kubectl_") {
		plugin()
	}
	os.Exit(m.Run())
}

// TestPages holds the links and blocks of every page of the checkout to what is there, and
// runs the pages that need no cluster.
func TestPages(t *testing.T) {
	all, err := pages.All("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 25 {
		t.Fatalf("%d pages", len(all))
	}
	for _, f := range pages.Check("..", all) {
		t.Error(f)
	}
	demo := t.TempDir()
	if err := os.CopyFS(demo, demotest.FS()); err != nil {
		t.Fatal(err)
	}
	plugin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := pages.Runner{Plugin: plugin, Env: []string{demoVariable + "=" + demo}, Update: *update}
	for _, p := range all {
		if !p.Cluster() && len(p.Findings) == 0 {
			t.Run(p.Path, func(t *testing.T) {
				t.Parallel()
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
			})
		}
	}
}
