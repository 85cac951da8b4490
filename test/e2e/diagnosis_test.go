package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// problems are what graph --problems says, as SEVERITY OBJECT REASON RELATED.
func problems(t *testing.T, kubeconfig string, args ...string) (list []string, code int) {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"graph", "--problems", "--exit-code", "-o", "json"}, args...)...)
	var d document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v in:\n%s%s", args, err, r.stdout, r.stderr)
	}
	for _, p := range d.Problems {
		list = append(list, strings.TrimSpace(p.Severity+" "+p.Object+" "+p.Reason+" "+p.Related))
	}
	return list, r.code
}

// What is wrong is told, with an exit code that says so, until it is mended.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "wrong.yaml")
	roots := []string{"deployments,services,persistentvolumeclaims", "-n", ns}
	expect := func(want []string, wantCode int, roots ...string) {
		t.Helper()
		for i, w := range want {
			want[i] = strings.ReplaceAll(w, "NS", ns)
		}
		slices.Sort(want)
		cluster.Eventually(t, limit, func() error {
			got, code := problems(t, c.Kubeconfig, roots...)
			for i, l := range got { // the name of a volume is made up
				if before, _, ok := strings.Cut(l, " PersistentVolume/pvc-"); ok {
					got[i] = before + " PersistentVolume/pvc-*"
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) || code != wantCode {
				return fmt.Errorf("exit code %d, want %d; problems:\n%s\nwant:\n%s", code, wantCode, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			return nil
		})
	}
	const (
		optional  = "info Deployment.apps/NS/shop ReferenceMissingOptional ConfigMap/NS/not-needed"
		unmounted = "warning PersistentVolumeClaim/NS/spare ClaimUnmounted PersistentVolume/pvc-*"
	)
	expect([]string{
		optional, unmounted,
		"error Deployment.apps/NS/shop ReferenceMissing Secret/NS/password",
		"warning Service/NS/shop ServiceSelectsNothing",
	}, 2, roots...)

	t.Run("for people", func(t *testing.T) {
		r := sysop(t, c.Kubeconfig, append([]string{"graph", "--problems"}, roots...)...).succeeds(t)
		for _, word := range []string{"password", "ServiceSelectsNothing", "app=shopp", "spare", "ClaimUnmounted", "does not exist"} {
			if !strings.Contains(r.stdout, word) {
				t.Errorf("no %q in:\n%s", word, r.stdout)
			}
		}
		r = sysop(t, c.Kubeconfig, "graph", "ingress/shop", "-n", ns, "--exit-code")
		if r.code != 2 || !strings.Contains(r.stderr, "warning: Service/"+ns+"/shop: selects no pod") {
			t.Errorf("exit code %d, want 2 and a warning about the Service behind it:\n%s", r.code, r.stderr)
		}
	})

	if _, err := admin(c).CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"spec": {"selector": {"app": "shop"}}}`)
	if _, err := admin(c).CoreV1().Services(ns).Patch(t.Context(), "shop", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	expect([]string{optional, unmounted}, 2, roots...)

	applyText(t, c, strings.ReplaceAll(`
apiVersion: v1
kind: Pod
metadata: {name: guest, namespace: NAMESPACE}
spec:
  containers: [{name: guest, image: registry.example.com/guest}]
  volumes: [{name: spare, persistentVolumeClaim: {claimName: spare}}]
`, "NAMESPACE", ns))
	// What is of note is no failure.
	expect([]string{optional}, 0, roots...)
}
