package install

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Claims returns the releases whose records claim to belong to a package, from metadata alone; an
// empty namespace means all. Write access to Secrets is enough to make such a claim, so the caller
// decides which ones to trust.
func Claims(ctx context.Context, reader Reader, namespace string) ([]LiveRelease, error) {
	return labeledReleases(ctx, reader, namespace, helm.PackageLabel)
}

// Releases returns the releases whose records claim that our runs created them, as Claims does.
func Releases(ctx context.Context, reader Reader, namespace string) ([]LiveRelease, error) {
	return labeledReleases(ctx, reader, namespace, helm.RunLabel)
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
