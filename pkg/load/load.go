// Package load makes the graph of a snapshot in one call, for programs that need nothing between
// the objects and the graph. A program that reads a cluster, follows it, or has rules of its own
// wires source, relation, inventory and graph itself: examples/secret-users is one.
package load

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Snapshot reads a file or a directory of manifests, as kubectl get -o yaml or kubectl sysop
// snapshot write them, or stdin if name is "-", and builds the graph of all objects in it, by the
// built-in rules and those that CustomResourceDefinitions declare in annotations. What is named
// and not in it is a node too: Missing if its kind is in the snapshot, else Unread.
func Snapshot(ctx context.Context, name string, stdin io.Reader) (*graph.Graph, error) {
	from, err := source.Open(name, stdin, nil)
	if err != nil {
		return nil, err
	}
	gaps := inventory.New(nil)
	kinds, err := from.Kinds(ctx, gaps)
	if err != nil {
		return nil, fmt.Errorf("find the kinds of %s: %w", name, err)
	}
	definitions, err := from.Definitions(ctx, gaps)
	if err != nil {
		return nil, fmt.Errorf("read the definitions of %s: %w", name, err)
	}
	rules := relation.BuiltIn()
	for _, crd := range definitions {
		declared, _ := annotations.Parse(crd, kinds)
		rules = append(rules, declared.Rules...)
	}
	set := relation.NewSet(rules...)
	builder := graph.NewBuilder(set, kinds)
	inv := inventory.New(append(set.Annotations(), graph.HelmName, graph.HelmNamespace), builder.Extract)
	if err := from.Read(ctx, source.Query{All: true}, inv); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return builder.Build(inv), nil
}
