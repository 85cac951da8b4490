package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestUnserved: a rule of a kind that nobody serves is told, with what comes near;
// where it is not known what is served (a dump, a group that failed), it is not.
func TestUnserved(t *testing.T) {
	specs := []declare.Spec{{From: []string{"Moodel.moodlecontroller.kubeplus"}, To: []string{"Secret", declare.Any}, Line: 4, Column: 3}, {From: []string{"Issuer.certmanager.k8s.io"}, To: []string{"Secret"}, Line: 5, Column: 3}}
	kinds := func() *object.Kinds {
		return object.NewKinds([]object.Resource{{Kind: "Secret", Plural: "secrets"}, {Group: "moodlecontroller.kubeplus", Kind: "Moodle", Plural: "moodles"}, {Group: "cert-manager.io", Kind: "Issuer", Plural: "issuers"}})
	}
	got := Unserved(specs, kinds())
	if len(got) != 2 || got[0].Line != 4 || !strings.Contains(got[0].Message, "did you mean Moodle.moodlecontroller.kubeplus?") || !strings.Contains(got[1].Message, "did you mean Issuer.cert-manager.io?") {
		t.Errorf("got %v", got)
	}
	failed := kinds()
	failed.Fail("moodlecontroller.kubeplus")
	if got := Unserved(specs, failed); len(got) != 1 {
		t.Errorf("a group that failed: got %v", got)
	}
	dump := kinds()
	dump.Fail()
	if got := Unserved(specs, dump); len(got) != 0 {
		t.Errorf("a dump: got %v", got)
	}
}

// TestReadRulesFile: what is huge is not read.
func TestReadRulesFile(t *testing.T) {
	huge := filepath.Join(t.TempDir(), "huge.yaml")
	if err := os.WriteFile(huge, make([]byte, maxRuleBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRulesFile(t.Context(), huge); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("a huge file: %v", err)
	}
}
