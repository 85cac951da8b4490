package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

const keepsLeaves = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: leaves-UNIT}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps], resourceNames: [leaves]}
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: tea-UNIT}}
  validations: [{expression: "false", message: leaves must stay}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: leaves-UNIT}
spec: {policyName: leaves-UNIT, validationActions: [Deny]}
`

// An object that an upgrade drops from a release no longer exists when the run is done. Where its
// deletion is refused, the run names it with the reason, and is undone; Helm skips one that it
// cannot read.
func TestUpgradeDropsAnObject(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "drops", "")
	s.brew()
	ns := "tea-" + s.unit
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(text), "  connections:", "    - apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: leaves}\n  connections:", 1)
	write := func(text string) {
		if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(with)
	s.run(s.args("install")...).succeeds(t)
	leaves := func() error {
		_, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "leaves", metav1.GetOptions{})
		return err
	}
	if err := leaves(); err != nil {
		t.Fatal(err)
	}
	write(string(text))

	applyText(t, c, strings.ReplaceAll(keepsLeaves, "UNIT", s.unit))
	cluster.Eventually(t, limit, func() error { // the API server takes a moment
		err := admin(c).CoreV1().ConfigMaps(ns).Delete(t.Context(), "leaves", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "leaves must stay") {
			return fmt.Errorf("the policy does not deny it: %w", errors.Join(errNotYet, err))
		}
		return nil
	})
	s.failed(s.run(s.args("upgrade")...), "leaves", "leaves must stay", "all changes were undone")
	if err := leaves(); err != nil {
		t.Errorf("after an upgrade that was undone: %v", err)
	}
	policies := admin(c).AdmissionregistrationV1()
	deleted(t, policies.ValidatingAdmissionPolicyBindings().Delete(t.Context(), "leaves-"+s.unit, metav1.DeleteOptions{}))
	deleted(t, policies.ValidatingAdmissionPolicies().Delete(t.Context(), "leaves-"+s.unit, metav1.DeleteOptions{}))
	cluster.Eventually(t, limit, func() error {
		return admin(c).CoreV1().ConfigMaps(ns).Delete(t.Context(), "leaves", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	})

	written := false
	s.proxy.Reset()
	s.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: faults.Nth(1, func(q *http.Request) bool {
		written = written || q.Method == http.MethodPatch && strings.HasSuffix(q.URL.Path, "/namespaces/"+ns+"/configmaps/tea")
		return written && q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "/namespaces/"+ns+"/configmaps/leaves")
	})})
	s.run(s.args("upgrade")...).succeeds(t)
	if err := leaves(); !apierrors.IsNotFound(err) {
		t.Errorf("an object that the upgrade dropped from its release still exists: %v", err)
	}
	if got := strings.Join(s.history("tea", ns), ", "); got != "install done, upgrade undone, upgrade done" {
		t.Errorf("history: %s", got)
	}
}
