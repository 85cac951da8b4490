package catalog_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestCrossplane: kinds that nobody could list beforehand are known by their
// categories, in both versions of Crossplane.
func TestCrossplane(t *testing.T) {
	kind := func(group, name, category string, namespaced bool) object.Resource {
		r := object.Resource{Group: group, Kind: name, Version: "v1", Plural: name + "s", Namespaced: namespaced, Custom: true}
		if category != "" {
			r.Categories = []string{"crossplane", category}
		}
		return r
	}
	kinds := object.NewKinds([]object.Resource{
		kind("apiextensions.crossplane.io", "Composition", "", false),
		kind("acme.org", "Database", "claim", true),
		kind("acme.org", "XDatabase", "composite", false),
		kind("acme.org", "App", "composite", true),
		kind("rds.aws.upbound.io", "Instance", "managed", false),
		kind("s3.aws.m.upbound.io", "Bucket", "managed", true),
		kind("aws.upbound.io", "ProviderConfig", "", false),
		kind("aws.m.upbound.io", "ProviderConfig", "", true),
		kind("aws.m.upbound.io", "ClusterProviderConfig", "", false),
		kind("acme.org", "Other", "", true),
		{Kind: "Secret", Version: "v1", Plural: "secrets", Namespaced: true},
	})
	set := relation.NewSet(catalog.Rules(kinds)...)
	for _, tt := range []struct {
		id, fields string
		want       []string
	}{
		{
			"Database.acme.org/shop/db", "spec: {resourceRef: {apiVersion: acme.org/v1, kind: XDatabase, name: db-x}, compositionRef: {name: aws}, writeConnectionSecretToRef: {name: conn}}",
			[]string{"Database.acme.org/shop/db needs Composition.apiextensions.crossplane.io/aws", "Database.acme.org/shop/db owns Secret/shop/conn", "Database.acme.org/shop/db owns XDatabase.acme.org/db-x"},
		},
		{
			"XDatabase.acme.org/db-x", "spec: {claimRef: {apiVersion: acme.org/v1, kind: Database, name: db, namespace: shop}, resourceRefs: [{apiVersion: rds.aws.upbound.io/v1, kind: Instance, name: db-1}, {apiVersion: v1, kind: Secret}]}",
			[]string{"Database.acme.org/shop/db owns XDatabase.acme.org/db-x", "XDatabase.acme.org/db-x owns Instance.rds.aws.upbound.io/db-1"},
		},
		{
			"App.acme.org/shop/web", "spec: {crossplane: {compositionRef: {name: web}, resourceRefs: [{apiVersion: s3.aws.m.upbound.io/v1, kind: Bucket, name: b}]}}",
			[]string{"App.acme.org/shop/web needs Composition.apiextensions.crossplane.io/web", "App.acme.org/shop/web owns Bucket.s3.aws.m.upbound.io/shop/b"},
		},
		{"Instance.rds.aws.upbound.io/db-1", "spec: {providerConfigRef: {name: default}}", []string{"Instance.rds.aws.upbound.io/db-1 needs ProviderConfig.aws.upbound.io/default"}},
		{"Bucket.s3.aws.m.upbound.io/shop/b", "spec: {providerConfigRef: {kind: ClusterProviderConfig, name: default}}", []string{"Bucket.s3.aws.m.upbound.io/shop/b needs ClusterProviderConfig.aws.m.upbound.io/default"}},
		{"Other.acme.org/shop/o", "spec: {resourceRef: {apiVersion: acme.org/v1, kind: XDatabase, name: x}, providerConfigRef: {name: default}}", nil},
	} {
		ref, err := object.ParseRef(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(tt.fields), &u.Object); err != nil {
			t.Fatal(err)
		}
		var got []string
		set.Links(object.Object{Ref: ref, Meta: u, Body: u}, func(i int, l relation.Link) {
			from, to := ref, object.Ref{Group: l.Target.Kind.Group, Kind: l.Target.Kind.Kind, Namespace: l.Target.Namespace, Name: l.Target.Name}
			if l.Backward {
				from, to = to, from
			}
			got = append(got, from.String()+" "+set.Rules()[i].Relation.String()+" "+to.String())
		})
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.id, got, tt.want)
		}
	}
}
