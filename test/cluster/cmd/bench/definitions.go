//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

// define loads n definitions: of the kinds that the catalogue knows, each with a
// schema of about the size that real ones have, and of made-up kinds where these
// are not enough. Where instances are wanted there is one of the first kind of every
// entry, and of ten made-up kinds, in the namespace that is asked about.
func (b *bench) define(ctx context.Context, n int, instances bool) error {
	if n == 0 {
		return nil
	}
	var definitions, objects []*unstructured.Unstructured
	for i, depth := 0, longest(); i < depth; i++ {
		// The first kind of every entry comes before the second of any.
		for _, e := range catalog.All() {
			if i >= len(e.Kinds) || len(definitions) == n {
				continue
			}
			k := e.Kinds[i]
			gk := declare.GroupKind(k.Kind)
			definitions = append(definitions, definition(gk.Group, gk.Kind, k.Versions[0], k.ClusterScoped))
			if i == 0 && !k.ClusterScoped {
				objects = append(objects, instance(gk.Group, gk.Kind, k.Versions[0]))
			}
		}
	}
	for i := range max(0, n-len(definitions)) {
		kind := fmt.Sprintf("Thing%d", i)
		definitions = append(definitions, definition("things.example.com", kind, "v1", false))
		if i < 10 {
			objects = append(objects, instance("things.example.com", kind, "v1"))
		}
	}
	if _, err := b.cluster.Apply(ctx, definitions); err != nil {
		return fmt.Errorf("load definitions: %w", err)
	}
	if !instances {
		return nil
	}
	if _, err := b.cluster.Apply(ctx, objects); err != nil {
		return fmt.Errorf("load custom resources: %w", err)
	}
	return nil
}

func longest() int {
	n := 0
	for _, e := range catalog.All() {
		n = max(n, len(e.Kinds))
	}
	return n
}

func definition(group, kind, version string, cluster bool) *unstructured.Unstructured {
	plural := strings.ToLower(kind) + "s"
	scope := "Namespaced"
	if cluster {
		scope = "Cluster"
	}
	// Sixty fields with a sentence each: about 15 kB.
	properties := map[string]any{}
	for i := range 60 {
		properties[fmt.Sprintf("field%d", i)] = map[string]any{
			"type": "string", "description": strings.Repeat("What this field is for, said at the length at which such things are said. ", 3),
		}
	}
	spec := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": properties}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name":        plural + "." + group,
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a benchmark"},
		},
		"spec": map[string]any{
			"group": group, "scope": scope,
			"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": spec}}},
			}},
		},
	}}
}

func instance(group, kind, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": kind,
		"metadata": map[string]any{"name": strings.ToLower(kind), "namespace": fixed + "-0"},
		"spec": map[string]any{
			"secretName": "login", "replicas": int64(3), "url": "https://example.com", "image": "example.com/app:1",
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/app:1"}}}},
		},
	}}
}
