package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// deletion is one that is foretold and then done: what goes is what was foretold.
type deletion struct {
	name string
	file string // of testdata: the word NAMESPACE is replaced, there and below
	// more are further namespaces in it.
	more []string
	// object is who is deleted, a pattern; args are further arguments of impact.
	object string
	args   []string
	// says are all lines of what is foretold, as patterns.
	says []string
	// besides is what goes for other reasons, as patterns.
	besides []string
	// then is what is so afterwards.
	then func(t *testing.T, r *realm, ns string)
}

// run makes the objects in a namespace, asks, deletes and compares.
func (d deletion) run(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ns := c.Namespace(t)
	applied(t, c, ns, d.file)
	spaces := []string{ns}
	for _, m := range d.more {
		spaces = append(spaces, strings.ReplaceAll(m, "NAMESPACE", ns))
	}
	atRest(t, c, spaces...)
	r := newRealm(t, c, spaces...)
	im := r.asks(r.find(d.object), d.says, d.args...)
	r.deletes(im, d.besides...)
	if d.then != nil {
		d.then(t, r, ns)
	}
}

// What goes along with an object is what was foretold, and nothing else goes.
func TestImpactDeletes(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	collectsKind(t, c, c.Namespace(t), "{apiVersion: cert-manager.io/v1, kind: Issuer, spec: {selfSigned: {}}}")
	for _, d := range deletions() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.run(t, c)
		})
	}
}

func deletions() []deletion {
	released := func(t *testing.T, r *realm, ns string) { phases(t, r.c, ns+"-kept", corev1.VolumeReleased) }
	ofNamespace := []string{
		"deleted */NAMESPACE-gone/* by namespace", "deleted PersistentVolume/pvc-* by reclaim policy", "kept PersistentVolume/NAMESPACE-kept: retained",
	}
	return slices.Concat([]deletion{
		{
			name: "namespace", file: "impact-namespace.yaml", object: "Namespace/NAMESPACE-gone", more: []string{"NAMESPACE-gone"}, args: []string{"-A"},
			says: append([]string{"deleted IPAddress.networking.k8s.io/10.96.* by controller"}, ofNamespace...), then: released,
		},
		{
			// Without -A what is in it is read, and the volumes of its claims.
			name: "namespace, by itself", file: "impact-namespace.yaml", object: "Namespace/NAMESPACE-gone", more: []string{"NAMESPACE-gone"},
			says: ofNamespace, besides: []string{"IPAddress.networking.k8s.io/10.96.*"}, then: released,
		},
		{
			name: "volume of a provisioner", file: "impact-claims.yaml", object: "PersistentVolumeClaim/NAMESPACE/provisioned",
			says: []string{"deleted PersistentVolume/pvc-* by reclaim policy"},
		},
		{
			name: "volume of a plugin", file: "impact-claims.yaml", object: "PersistentVolumeClaim/NAMESPACE/deleted",
			says: []string{"deleted PersistentVolume/NAMESPACE-deleted by reclaim policy"},
		},
		{
			name: "volume that is kept", file: "impact-claims.yaml", object: "PersistentVolumeClaim/NAMESPACE/kept",
			says: []string{"kept PersistentVolume/NAMESPACE-kept: retained"}, then: released,
		},
		{
			name: "children of a custom resource", file: "impact-owners.yaml", object: "PrometheusRule.monitoring.coreos.com/NAMESPACE/root",
			says: []string{
				"deleted ConfigMap/NAMESPACE/child by owner", "deleted Secret/NAMESPACE/grandchild by owner",
				"kept ConfigMap/NAMESPACE/shared: another owner",
			},
		},
		{
			name: "a child of a wrong group", file: "impact-owners.yaml", object: "ConfigMap/NAMESPACE/misnamed",
			then: func(t *testing.T, r *realm, ns string) {
				list, _ := problems(t, r.c.Kubeconfig, "configmap/claims-to-be-owned", "-n", ns)
				if !slices.ContainsFunc(list, func(l string) bool { return strings.Contains(l, "Owner") }) {
					t.Errorf("no problem of its owner in %q", list)
				}
			},
		},
		{
			name: "a Secret", file: "deployment.yaml", object: "Secret/NAMESPACE/web-password",
			says: []string{"breaks on restart Deployment.apps/NAMESPACE/web"},
		},
		{
			name: "a ConfigMap", file: "deployment.yaml", object: "ConfigMap/NAMESPACE/web-settings",
			says: []string{"breaks on restart Deployment.apps/NAMESPACE/web"},
		},
	}, deletionsOfWorkloads(), deletionsOfCertificates())
}

func deletionsOfWorkloads() []deletion {
	again := func(t *testing.T, r *realm, ns string) { atRest(t, r.c, ns) }
	return []deletion{
		{
			name: "a Deployment", file: "deployment.yaml", object: "Deployment.apps/NAMESPACE/web",
			says: []string{
				"deleted ReplicaSet.apps/NAMESPACE/web-* by owner", "deleted Pod/NAMESPACE/web-* by owner",
				"breaks HorizontalPodAutoscaler.autoscaling/NAMESPACE/web",
			},
		},
		{
			name: "a pod", file: "deployment.yaml", object: "Pod/NAMESPACE/web-*-*", then: again,
			says: []string{"loses a replica Deployment.apps/NAMESPACE/web: 1 of 2 left", "anew by ReplicaSet.apps/NAMESPACE/web-*"},
		},
		{
			name: "an autoscaler", file: "deployment.yaml", object: "HorizontalPodAutoscaler.autoscaling/NAMESPACE/web", then: again,
			says: []string{"loses it Deployment.apps/NAMESPACE/web"},
		},
		{
			name: "a Service", file: "deployment.yaml", object: "Service/NAMESPACE/web", args: []string{"-A"},
			says: []string{
				"deleted EndpointSlice.discovery.k8s.io/NAMESPACE/web-* by owner", "deleted IPAddress.networking.k8s.io/10.96.* by controller",
				"breaks Ingress.networking.k8s.io/NAMESPACE/web", "loses it Deployment.apps/NAMESPACE/web",
			},
		},
	}
}

func deletionsOfCertificates() []deletion {
	return []deletion{
		{
			name: "the Secret of a Certificate", file: "certificate.yaml", object: "Secret/NAMESPACE/site-tls",
			says: []string{"degrades? Certificate.cert-manager.io/NAMESPACE/site", "anew* by Certificate.cert-manager.io/NAMESPACE/site"},
			// Of the requests of a Certificate cert-manager keeps the latest: one is made for the new Secret.
			besides: []string{"CertificateRequest.cert-manager.io/NAMESPACE/site-1"},
			then: func(t *testing.T, r *realm, ns string) {
				cluster.Eventually(t, limit, func() error {
					_, err := admin(r.c).CoreV1().Secrets(ns).Get(t.Context(), "site-tls", metav1.GetOptions{})
					return err
				})
			},
		},
		{
			name: "a Certificate", file: "certificate.yaml", object: "Certificate.cert-manager.io/NAMESPACE/site",
			says: []string{"deleted CertificateRequest.cert-manager.io/NAMESPACE/site-1 by owner", "kept Secret/NAMESPACE/site-tls: not cleared"},
		},
	}
}

// phases waits until a volume is in a phase.
func phases(t *testing.T, c *cluster.Cluster, volume string, want corev1.PersistentVolumePhase) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		v, err := admin(c).CoreV1().PersistentVolumes().Get(t.Context(), volume, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if v.Status.Phase != want {
			return fmt.Errorf("%s is %s, want %s", volume, v.Status.Phase, want)
		}
		return nil
	})
}
