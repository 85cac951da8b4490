package cli

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What ending a run will write is listed like a plan; text of the journal is escaped.
func TestRecoveringShows(t *testing.T) {
	var out bytes.Buffer
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "view"}
	u := &installUser{installOptions: newInstallOptions(command.Env{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}, install.Uninstall)}
	r := &installer.Recovery{
		Installation: install.Installation{Name: "shop", Namespace: "apps"},
		Plan: install.RecoveryPlan{Run: install.Run{Action: install.Upgrade, By: "mallory\x1b[2J"}, What: install.RecoveredUndone, Acts: []install.RecoveryAct{
			{Verb: install.RecoverRollback, Release: helm.ReleaseName{Name: "db", Namespace: "apps"}, Revision: 3, Objects: []object.Ref{role, {Kind: "ConfigMap", Namespace: "apps", Name: "db"}}},
			{Verb: install.RecoverDelete, Object: object.Ref{Kind: "Namespace", Name: "made"}, Note: "unless it has objects of others"},
			{Verb: install.RecoverLeave, Object: role, Note: "it grants permissions"},
		}},
	}
	u.ShowRecovery(r)
	for _, want := range []string{
		"an upgrade of shop by mallory", "did not finish: it is undone",
		"  roll back release apps/db to revision 3 (2 objects)\n    with ClusterRole.rbac.authorization.k8s.io/view\n  delete Namespace/made: unless it has objects of others\n",
		"  leave ClusterRole.rbac.authorization.k8s.io/view: it grants permissions\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "/db\n    with ConfigMap") {
		t.Errorf("it shows:\n%s", out.String())
	}
}

// Ending a run that deletes data is not done on --yes alone, and nothing is written.
func TestRecoveringAsksForData(t *testing.T) {
	claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: "apps", Name: "data-db-0"}
	of := install.Installation{Name: "shop", Namespace: "apps"}
	for confirmed, wrong := range map[string]string{"": "which --yes does not confirm", askName: "no terminal to type the name", "shop": ""} {
		var out bytes.Buffer
		o := newInstallOptions(command.Env{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}, install.Rollback)
		o.yes, o.confirmed, o.dryRun = true, confirmed, "none"
		o.tellLosses(of, []object.Ref{claim})
		yes, err := o.agreed(t.Context(), of, []object.Ref{claim}, "end it?")
		if yes != (wrong == "") || (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("--delete-data=%s: %t %v", confirmed, yes, err)
		}
		if !strings.Contains(out.String(), "deleted with its data: PersistentVolumeClaim/apps/data-db-0") {
			t.Errorf("it shows:\n%s", out.String())
		}
	}
}
