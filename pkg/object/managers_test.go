package object_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestApplication(t *testing.T) {
	deployment := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	service := object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "web"}
	for _, c := range []struct {
		ref        object.Ref
		mark, want string
		namespace  string
	}{
		{deployment, "app:apps/Deployment:shop/web", "app", ""},
		{deployment, "team_app:apps/Deployment:shop/web", "app", "team"},
		{service, "app:/Service:shop/web", "app", ""},
		{role, "app:rbac.authorization.k8s.io/ClusterRole:shop/web", "app", ""},
		{deployment, "app:apps/ReplicaSet:shop/web", "", ""},
		{deployment, "app:apps/Deployment:other/web", "", ""},
		{deployment, "app:apps/Deployment:shop/api", "", ""},
		{deployment, "app", "", ""},
		{deployment, "app:apps/Deployment", "", ""},
		{deployment, "", "", ""},
	} {
		o := object.Object{Ref: c.ref, Meta: &metav1.ObjectMeta{Annotations: map[string]string{object.TrackingAnnotation: c.mark}}}
		if got := o.Application(); got.Name != c.want || got.Namespace != c.namespace {
			t.Errorf("%s marked %q: %v, want %q", c.ref, c.mark, got, c.want)
		}
	}
}

// Flux's labels name who keeps an object, also where that one is in another cluster; what a
// controller made has them by copy.
func TestFluxManager(t *testing.T) {
	yes := true
	kustomization := map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
	for name, c := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"kustomization": {metav1.ObjectMeta{Labels: kustomization}, "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps"},
		"release": {
			metav1.ObjectMeta{Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "shop"}},
			"HelmRelease.helm.toolkit.fluxcd.io/shop/web",
		},
		"half":   {metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}}, ""},
		"copied": {metav1.ObjectMeta{Labels: kustomization, OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", Name: "web", UID: "1", Controller: &yes}}}, ""},
		"none":   {metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, ""},
	} {
		got := object.Object{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Meta: &c.meta}.FluxManager()
		if want := c.want; got != (object.Ref{}) && got.String() != want || got == (object.Ref{}) && want != "" {
			t.Errorf("%s: %v, want %q", name, got, want)
		}
	}
}
