package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
)

func demo() *app.Input {
	now := func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) }
	return (&app.Input{From: "demo", AllNamespaces: true, Demo: demotest.FS(), Now: now, Config: genericclioptions.NewConfigFlags(true)}).Another("")
}

func TestList(t *testing.T) {
	all, err := List(t.Context(), demo(), &ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	used, err := List(t.Context(), demo(), &ListRequest{Kind: "deployment", Origins: []string{view.BuiltIn}, Used: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(used.Rules) == 0 || len(used.Rules) >= len(all.Rules) || slices.ContainsFunc(used.Rules, func(r view.CountedRule) bool { return r.Edges == 0 || r.Origin != "" }) {
		t.Errorf("%d of %d rules", len(used.Rules), len(all.Rules))
	}
	if _, err := List(t.Context(), demo(), &ListRequest{Origins: []string{"nowhere"}}); err == nil {
		t.Error("an unknown origin is taken")
	}
}

// TestLint: an unknown path is an error at its place, and comes before the notes.
func TestLint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	text := "apiVersion: sysop.dev/v1alpha1\nkind: Relationships\nrelations:\n- from: Moodle.moodlecontroller.kubeplus\n  to: Secret\n  relation: needs\n  field: spec.noSuchField\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Lint(t.Context(), demo(), &LintRequest{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Findings) == 0 || found.Findings[0].Severity != "error" || found.Findings[0].Origin != file || found.Findings[0].Line == 0 || !strings.Contains(found.Findings[0].Message, "noSuchField") {
		t.Errorf("%+v", found.Findings)
	}
}

func TestExport(t *testing.T) {
	for _, kubeplus := range []bool{false, true} {
		found, err := Export(t.Context(), demo(), "moodle", kubeplus)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Annotations) == 0 || (found.Annotations[0].Key == annotations.Relationships) == kubeplus {
			t.Errorf("kubeplus %v: %+v", kubeplus, found.Annotations)
		}
	}
	if _, err := Export(t.Context(), demo(), "deployment", false); err == nil || !strings.Contains(err.Error(), "built in") {
		t.Errorf("a built-in kind: %v", err)
	}
}
