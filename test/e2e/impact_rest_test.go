package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// atRest waits until all that is made in namespaces has been made: pods run, Deployments are
// available, Services have EndpointSlices, claims are bound, Certificates are issued.
func atRest(t *testing.T, c *cluster.Cluster, namespaces ...string) {
	t.Helper()
	for _, ns := range namespaces {
		for _, rests := range []func(context.Context, *cluster.Cluster, string) ([]string, error){workloadsRest, servicesRest, claimsRest, certificatesRest} {
			cluster.Eventually(t, limit, func() error {
				not, err := rests(t.Context(), c, ns)
				if err == nil && len(not) > 0 {
					err = fmt.Errorf("not there yet: %q", not)
				}
				return err
			})
		}
	}
}

func workloadsRest(ctx context.Context, c *cluster.Cluster, ns string) (not []string, err error) {
	deployments, err := admin(c).AppsV1().Deployments(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range deployments.Items {
		if d := &deployments.Items[i]; !available(d) {
			not = append(not, d.Name)
		}
	}
	pods, err := admin(c).CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase != corev1.PodRunning {
			not = append(not, p.Name)
		}
	}
	return not, nil
}

func servicesRest(ctx context.Context, c *cluster.Cluster, ns string) (not []string, err error) {
	services, err := admin(c).CoreV1().Services(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range services.Items {
		name := services.Items[i].Name
		endpoints, err := admin(c).DiscoveryV1().EndpointSlices(ns).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + name})
		if err != nil {
			return nil, err
		}
		if len(endpoints.Items) == 0 {
			not = append(not, name)
		}
	}
	return not, nil
}

func claimsRest(ctx context.Context, c *cluster.Cluster, ns string) (not []string, err error) {
	claims, err := admin(c).CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		volume, err := admin(c).CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
		if claim.Status.Phase != corev1.ClaimBound || err != nil || volume.Status.Phase != corev1.VolumeBound {
			not = append(not, claim.Name)
		}
	}
	return not, nil
}

func certificatesRest(ctx context.Context, c *cluster.Cluster, ns string) (not []string, err error) {
	issued, err := dynamic.NewForConfigOrDie(c.Config()).Resource(certificates).Namespace(ns).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil // a cluster without cert-manager
	}
	if err != nil {
		return nil, err
	}
	for i := range issued.Items {
		if !apply.Condition(&issued.Items[i], "Ready") {
			not = append(not, issued.Items[i].GetName())
		}
	}
	return not, nil
}

func available(d *appsv1.Deployment) bool {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == wanted && d.Status.ReadyReplicas == wanted && d.Status.Replicas == wanted
}

// collectsKind returns when the garbage collector knows a kind, of which this is an object: it
// asks for new ones twice a minute.
func collectsKind(t *testing.T, c *cluster.Cluster, ns, text string) {
	t.Helper()
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	maps, ctx := admin(c).CoreV1().ConfigMaps(ns), t.Context()
	owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := objects[0]
	owned.SetName(owner.Name)
	owned.SetNamespace(ns)
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}})
	if _, err := c.Apply(ctx, objects); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gvk := owned.GroupVersionKind()
	resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
	at := dynamic.NewForConfigOrDie(c.Config()).Resource(resource).Namespace(ns)
	cluster.Eventually(t, 2*limit, func() error {
		_, err := at.Get(ctx, owned.GetName(), metav1.GetOptions{})
		return absent(owned.GetName(), err)
	})
}
