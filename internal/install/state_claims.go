package install

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Claims returns the releases whose records say of themselves that they are of a package,
// by metadata alone: in a namespace, or in all where that is empty. Whoever may write a Secret
// may say so: it is the caller who decides which of them are believed.
func Claims(ctx context.Context, reader Reader, namespace string) ([]LiveRelease, error) {
	return labeledReleases(ctx, reader, namespace, PackageLabel)
}

// Releases returns those whose records say that a run of ours made them, as Claims does.
func Releases(ctx context.Context, reader Reader, namespace string) ([]LiveRelease, error) {
	return labeledReleases(ctx, reader, namespace, RunLabel)
}

func labeledReleases(ctx context.Context, reader Reader, namespace, label string) ([]LiveRelease, error) {
	secrets := object.Resource{Version: "v1", Kind: secretKind.Kind, Plural: "secrets", Namespaced: true}
	list, err := reader.ListMetadata(ctx, secrets, namespace, "owner=helm,"+label)
	if err != nil {
		return nil, err
	}
	in := map[string][]*unstructured.Unstructured{}
	for _, u := range list {
		in[u.GetNamespace()] = append(in[u.GetNamespace()], u)
	}
	var out []LiveRelease
	for _, ns := range slices.Sorted(maps.Keys(in)) {
		out = append(out, releasesIn(ns, in[ns])...)
	}
	return out, nil
}
