package annotations_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func Example() {
	kinds := object.NewKinds([]object.Resource{
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Plural: "ingresses", Singular: "ingress", Namespaced: true},
		{Group: "cert-manager.io", Version: "v1", Kind: "ClusterIssuer", Plural: "clusterissuers", Singular: "clusterissuer", Custom: true},
	})
	crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "clusterissuers.cert-manager.io",
		Annotations: map[string]string{
			"resource/annotation-relationship": "on:Ingress;Certificat, key:cert-manager.io/cluster-issuer, value:INSTANCE.metadata.name",
		},
	}}
	d, findings := annotations.Parse(crd, kinds)
	for _, f := range findings {
		fmt.Println("finding:", f.Message)
	}

	ingress := object.Object{
		Ref:  object.Ref{Group: "networking.k8s.io", Kind: "Ingress", Namespace: "shop", Name: "web"},
		Meta: &metav1.ObjectMeta{Annotations: map[string]string{"cert-manager.io/cluster-issuer": "letsencrypt"}},
	}
	relation.NewSet(d.Rules...).Links(ingress, func(rule int, l relation.Link) {
		fmt.Printf("%s %s %s %s\n", ingress, d.Rules[rule].Relation, l.Target.Kind, l.Target.Name)
		fmt.Printf("because %s = %s\n", l.Field, l.Value)
	})
	// Output:
	// finding: unknown kind "Certificat": expected a kind that the cluster serves, as Kind or Kind.group
	// Ingress.networking.k8s.io/shop/web needs ClusterIssuer.cert-manager.io letsencrypt
	// because metadata.annotations["cert-manager.io/cluster-issuer"] = letsencrypt
}
