package e2e

import (
	"context"
	"fmt"
	"maps"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// A ServiceAccount that goes: its pods run on, its tokens are refused, the Secret with one goes
// along, and no pod of it can be made.
func TestImpactOfServiceAccount(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	applyText(t, c, fmt.Sprintf(`
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: web-token, namespace: %s, annotations: {kubernetes.io/service-account.name: web}}
`, ns))
	atRest(t, c, ns)
	r := newRealm(t, c, ns)
	token, err := admin(c).CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "web", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { return accepted(t.Context(), c, token.Status.Token, true) })
	signed(t, c, ns, "web-token")
	// What type a Secret has is not read.
	im := r.asks("ServiceAccount/NAMESPACE/web", []string{"deleted? Secret/NAMESPACE/web-token by controller", "breaks on restart Deployment.apps/NAMESPACE/web"})
	was := alive(t, c, ns)
	r.deletes(im, "Secret/NAMESPACE/web-token")
	cluster.Eventually(t, limit, func() error { return accepted(t.Context(), c, token.Status.Token, false) })
	if is := alive(t, c, ns); !maps.Equal(was, is) {
		t.Errorf("what was there changed from %v to %v", was, is)
	}
	r.delete(r.find("Pod/NAMESPACE/web-*-*"), "background")
	cluster.Eventually(t, limit, func() error {
		return refusedPod(t, c, ns, `serviceaccount "web" not found`)
	})
}

// accepted is an error unless the API server takes a token, or refuses it.
func accepted(ctx context.Context, c *cluster.Cluster, token string, want bool) error {
	r, err := admin(c).AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if r.Status.Authenticated != want {
		return fmt.Errorf("the token is accepted: %t, want %t (%s)", r.Status.Authenticated, want, r.Status.Error)
	}
	return nil
}

// signed waits until the controller has put a token into a Secret.
func signed(t *testing.T, c *cluster.Cluster, ns, name string) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		s, err := admin(c).CoreV1().Secrets(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) == 0 {
			return fmt.Errorf("no token in %s yet", name)
		}
		return err
	})
}
