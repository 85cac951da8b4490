package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// breakage is a way in which a stack breaks, and is mended.
type breakage struct {
	name   string // testdata/health-NAME.yaml is broken
	root   string
	health []string // the stack's: one of these
	// causes are all of them, "ID HEALTH REASON".
	causes []string
	// warned is the reason of an event about the first cause; empty for none.
	warned string
	// parts are what members say, "ID OWN/BELOW".
	parts []string
	// derived are members that say nothing of themselves, "ID FROM".
	derived []string
	// seen is an object of which the watch tells, "ID STATUS", and again when it is mended.
	seen string
	mend func(t *testing.T, c *cluster.Cluster, ns string)
}

const withoutFailing = `{"spec":{"template":{"metadata":{"annotations":{"sysop.dev/fail":null}}}}}`

func breakages() []breakage {
	return []breakage{
		{
			name: "image", root: "deployment/web", health: []string{"Degraded"},
			causes: []string{"Pod/NAMESPACE/web-* Degraded ImagePullBackOff"}, warned: "Failed",
			parts: []string{"Deployment.apps/NAMESPACE/web */Degraded", "ReplicaSet.apps/NAMESPACE/web-* */Degraded"},
			seen:  "Pod/NAMESPACE/web-* Degraded",
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				patched(t, c, deployments, ns, "web", withoutFailing)
			},
		},
		{
			name: "crash", root: "deployment/web", health: []string{"Degraded"},
			causes: []string{"Pod/NAMESPACE/web-* Degraded CrashLoopBackOff"}, warned: "Failed",
			parts: []string{"Deployment.apps/NAMESPACE/web */Degraded"},
			seen:  "Pod/NAMESPACE/web-* Degraded",
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				patched(t, c, deployments, ns, "web", withoutFailing)
			},
		},
		{
			name: "class", root: "deployment/web", health: []string{"Missing", "Degraded"},
			causes: []string{"StorageClass.storage.k8s.io/class-of-NAMESPACE Missing NotFound"}, warned: "ProvisioningFailed",
			seen:  "StorageClass.storage.k8s.io/class-of-NAMESPACE Missing",
			parts: []string{"PersistentVolumeClaim/NAMESPACE/data Progressing/Missing", "Pod/NAMESPACE/web-* */Missing"},
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				applyText(t, c, fmt.Sprintf("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: class-of-%s}\nprovisioner: kwok.x-k8s.io/volume\n", ns))
				patched(t, c, claims, ns, "data", `{"metadata":{"annotations":{"sysop.dev/fail":null}}}`)
			},
		},
		{
			name: "claim", root: "deployment/web", health: []string{"Degraded"},
			causes: []string{"PersistentVolumeClaim/NAMESPACE/data Degraded NoStorageClass"},
			parts:  []string{"Pod/NAMESPACE/web-* Degraded/Degraded"},
			seen:   "PersistentVolumeClaim/NAMESPACE/data Degraded", // it was Progressing: nothing changes but the time
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				patched(t, c, claims, ns, "data", `{"metadata":{"annotations":{"sysop.dev/fail":null}}}`)
			},
		},
		{
			name: "issuer", root: "certificate/site", health: []string{"Missing", "Degraded"},
			causes: []string{"Issuer.cert-manager.io/NAMESPACE/self Missing NotFound"},
			parts:  []string{"Certificate.cert-manager.io/NAMESPACE/site */Missing"},
			seen:   "Issuer.cert-manager.io/NAMESPACE/self Missing",
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				applyText(t, c, fmt.Sprintf("apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: self, namespace: %s}\nspec: {selfSigned: {}}\n", ns))
			},
		},
		{
			name: "prometheus", root: "prometheus/main", health: []string{"Degraded"},
			causes: []string{"Prometheus.monitoring.coreos.com/NAMESPACE/main Degraded ReconciliationFailed"},
			parts:  []string{"Prometheus.monitoring.coreos.com/NAMESPACE/main Degraded/Healthy"},
			seen:   "Prometheus.monitoring.coreos.com/NAMESPACE/main Degraded",
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				patched(t, c, prometheuses, ns, "main", `{"spec":{"version":null}}`)
			},
		},
		{
			name: "silent", root: "site/shop", health: []string{"Degraded"},
			causes: []string{"Pod/NAMESPACE/web-* Degraded ImagePullBackOff"}, warned: "Failed",
			parts: []string{"Site.silent.example.com/NAMESPACE/shop Degraded/Degraded", "Tier.silent.example.com/NAMESPACE/front Degraded/Degraded"},
			derived: []string{
				"Site.silent.example.com/NAMESPACE/shop Deployment.apps/NAMESPACE/web",
				"Tier.silent.example.com/NAMESPACE/front Deployment.apps/NAMESPACE/web",
			},
			seen: "Site.silent.example.com/NAMESPACE/shop Degraded",
			mend: func(t *testing.T, c *cluster.Cluster, ns string) {
				patched(t, c, deployments, ns, "web", withoutFailing)
			},
		},
	}
}

// Real controllers and operators are given what they cannot make work. The stack says so
// and names the cause; who watches sees it break and mend, and who waits waits until then.
func TestHealthBreaksAndMends(t *testing.T) {
	t.Parallel()
	define(t, shared.Cluster(t), inNamespace(t, "", "health-silent.definitions.yaml")) // to the end of all: a watch tells of kinds that go
	for _, b := range breakages() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			c := shared.Cluster(t)
			ns := c.Namespace(t)
			b.in(ns)
			applied(t, c, ns, "health-"+b.name+".yaml")
			watch := watchHealth(t, c.Kubeconfig, b.root, "-n", ns)
			b.broken(t, c, ns)
			waiting := start(t, c.Kubeconfig, "health", b.root, "-n", ns, "--wait", "--timeout", limit.String(), "-o", "json")
			id, status, _ := strings.Cut(b.seen, " ")
			watch.says(id, status, "")
			b.mend(t, c, ns)
			to := "Healthy"
			if strings.HasPrefix(id, "Pod/") {
				to = "" // Another one replaces it.
			}
			watch.says(id, to, "")
			if last := watch.says("", "Healthy", ""); last.Message != "" {
				t.Errorf("the stack is Healthy, and says %q", last.Message)
			}
			d := healthIn(t, waiting.wait().succeeds(t))
			if s := d.stack(t); s.Health != "Healthy" || len(s.Causes) > 0 {
				t.Errorf("waited for: %+v", s)
			}
			watch.interrupted()
			if said := watch.stderr.String(); said != "" {
				t.Errorf("the watch says on stderr:\n%s", said)
			}
			sysop(t, c.Kubeconfig, "health", b.root, "-n", ns, "--exit-code").succeeds(t)
		})
	}
}

// in writes the namespace into what is expected.
func (b *breakage) in(ns string) {
	b.seen = strings.ReplaceAll(b.seen, "NAMESPACE", ns)
	for _, list := range []*[]string{&b.causes, &b.parts, &b.derived} {
		*list = slices.Clone(*list)
		for i, s := range *list {
			(*list)[i] = strings.ReplaceAll(s, "NAMESPACE", ns)
		}
	}
}

// broken waits until a stack is broken as it should be.
func (b *breakage) broken(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		r := sysop(t, c.Kubeconfig, "health", b.root, "-n", ns, "-o", "json", "--exit-code")
		if r.code != 2 {
			return fmt.Errorf("exit code %d, want 2; stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
		d := healthIn(t, r)
		s := d.stack(t)
		if err := s.caused(b.causes...); err != nil {
			return err
		}
		if !slices.Contains(b.health, s.Health) {
			return fmt.Errorf("%s is %s, want one of %s", s.Name, s.Health, b.health)
		}
		for _, p := range b.parts {
			id, want, _ := strings.Cut(p, " ")
			if o := d.object(id); !matches(want, o.OwnHealth+"/"+o.PartsHealth) || !o.Counts {
				return fmt.Errorf("%+v, want %s", o, p)
			}
		}
		for _, p := range b.derived {
			id, from, _ := strings.Cut(p, " ")
			if o := d.object(id); o.Stage != "derived" || !slices.Equal(o.DerivedFrom, []string{from}) {
				return fmt.Errorf("%+v, want it derived from %s", o, from)
			}
		}
		for _, e := range s.Causes[0].Events {
			if e.Reason == b.warned && e.Message != "" {
				return nil
			}
		}
		if b.warned != "" {
			return fmt.Errorf("the events of %s are %+v, want one of %s", s.Causes[0].ID, s.Causes[0].Events, b.warned)
		}
		return nil
	})
}
