package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// module returns the directory of a module that one of the test cluster's modules requires.
// The operators' own manifests lie there, as they are published.
func module(t *testing.T, below, path string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", path)
	cmd.Dir = filepath.Join("..", "cluster", below)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("find module %s: %v\n%s", path, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m.Dir
}

// prometheusOperator is what the project publishes to install it, without the definitions.
func prometheusOperator(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(module(t, "prometheus-operator", "github.com/prometheus-operator/prometheus-operator"), "example", "rbac", "prometheus-operator")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", dir, err)
	}
	var docs []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, strings.TrimPrefix(string(text), "---\n"))
	}
	return strings.Join(docs, "\n---\n")
}

// certManager is the chart that the project publishes, rendered with its defaults for a
// release in a namespace, without the definitions and hooks.
func certManager(t *testing.T, namespace string) string {
	t.Helper()
	dir := module(t, "certmanager", "github.com/cert-manager/cert-manager")
	c, err := loader.LoadDir(filepath.Join(dir, "deploy", "charts", "cert-manager"))
	if err != nil {
		t.Fatal(err)
	}
	return rendered(t, c, "cert-manager", namespace)
}

func rendered(t *testing.T, c *chart.Chart, release, namespace string) string {
	t.Helper()
	values, err := util.ToRenderValues(c, map[string]any{}, common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, values)
	if err != nil {
		t.Fatal(err)
	}
	var docs []string
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") && !strings.Contains(text, "helm.sh/hook") && !strings.Contains(text, "kind: CustomResourceDefinition") && strings.TrimSpace(text) != "" {
			docs = append(docs, text)
		}
	}
	slices.Sort(docs)
	return strings.Join(docs, "\n---\n")
}
