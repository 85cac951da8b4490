package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// A Secret that cert-manager is to make is told with the Certificate that makes it and the
// Issuer that lacks; when there is one, the Secret is there, below it the Certificate, and all
// is well.
func TestMakers(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "makers.yaml")
	var (
		web         = "Deployment.apps/" + ns + "/web"
		secret      = "Secret/" + ns + "/web-tls"
		certificate = "Certificate.cert-manager.io/" + ns + "/web"
		issuer      = "Issuer.cert-manager.io/" + ns + "/self"
	)
	provenance := map[string]bool{certificate: true, issuer: true}

	cluster.Eventually(t, limit, func() error {
		d := healthIn(t, sysop(t, c.Kubeconfig, "health", "deployment/web", "-n", ns, "-o", "json"))
		s := d.stack(t)
		if err := s.caused(issuer + " Missing NotFound"); err != nil {
			return err
		}
		if got := s.Causes[0].Parent; got != certificate {
			return fmt.Errorf("the cause is of %s, want %s", got, certificate)
		}
		if o := d.object(secret); o.OwnHealth != "Missing" || !o.Counts || !strings.Contains(o.Message, certificate+" creates it") {
			return fmt.Errorf("%+v, want it told with who makes it", o)
		}
		return nil
	})
	t.Run("problems", func(t *testing.T) { makersMissing(t, c, ns, web, certificate) })
	t.Run("path", func(t *testing.T) {
		r := sysop(t, c.Kubeconfig, "path", "deployment/web", "issuer/self", "-n", ns, "-o", "name").succeeds(t)
		if got, want := strings.Fields(r.stdout), []string{web, secret, certificate, issuer}; !slices.Equal(got, want) {
			t.Errorf("path %q, want %q", got, want)
		}
	})
	t.Run("stack", func(t *testing.T) { hasMakers(t, c, ns, "missing", provenance) })

	applyText(t, c, fmt.Sprintf("apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: self, namespace: %s}\nspec: {selfSigned: {}}\n", ns))
	sysop(t, c.Kubeconfig, "health", "deployment/web", "-n", ns, "--wait", "--timeout", limit.String()).succeeds(t)
	t.Run("made", func(t *testing.T) {
		hasMakers(t, c, ns, "present", provenance)
		if list, code := problems(t, c.Kubeconfig, "deployment/web", "-n", ns); code != 0 || len(list) > 0 {
			t.Errorf("exit code %d, problems %q", code, list)
		}
		tree := sysop(t, c.Kubeconfig, "graph", "deployment/web", "-n", ns).succeeds(t).stdout
		if i, j := strings.Index(tree, "Secret/web-tls"), strings.Index(tree, "Certificate/web "); i < 0 || j < i || !strings.Contains(tree, "made by") {
			t.Errorf("the Certificate does not hang below its Secret:\n%s", tree)
		}
	})
}

func makersMissing(t *testing.T, c *cluster.Cluster, ns, web, certificate string) {
	t.Helper()
	var d document
	r := sysop(t, c.Kubeconfig, "graph", "deployment/web", "-n", ns, "--problems", "-o", "json").succeeds(t)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	i := slices.IndexFunc(d.Problems, func(p problem) bool { return p.Object == web })
	if i < 0 || !slices.ContainsFunc(d.Problems, func(p problem) bool { return p.Object == certificate && p.Reason == "ReferenceMissing" }) {
		t.Fatalf("problems %+v, want those of %s and %s", d.Problems, web, certificate)
	}
	for _, words := range []string{"Secret/web-tls, which does not exist", "Certificate.cert-manager.io/web creates it", "Issuer.cert-manager.io/self, which that needs, is missing"} {
		if !strings.Contains(d.Problems[i].Message, words) {
			t.Errorf("no %q in: %s", words, d.Problems[i].Message)
		}
	}
}

// hasMakers looks for who made the Secret in the stack, which has it in a state.
func hasMakers(t *testing.T, c *cluster.Cluster, ns, state string, want map[string]bool) {
	t.Helper()
	var d struct {
		Nodes []struct {
			ID, State  string
			Provenance bool
		}
	}
	r := sysop(t, c.Kubeconfig, "graph", "deployment/web", "-n", ns, "-o", "json").succeeds(t)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	got := map[string]bool{}
	for _, n := range d.Nodes {
		if n.Provenance {
			got[n.ID] = true
		}
		if n.ID == "Secret/"+ns+"/web-tls" && n.State != state {
			t.Errorf("the Secret is %s, want it %s", n.State, state)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("makers %v, want %v", got, want)
	}
}
