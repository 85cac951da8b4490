// Command secret-users prints who needs a Secret, directly and through whom, with the
// field and value that say so. It reads no cluster, but what kubectl wrote of one:
//
//	kubectl get all,secrets,ingresses,serviceaccounts -A -o yaml > snapshot.yaml
//	go run ./examples/secret-users SECRET -n NAMESPACE < snapshot.yaml
//
// It is there to be copied: pkg/graph and what that stands on are all that it uses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

func main() {
	secret, err := asked(os.Args[1:])
	if err == nil {
		err = users(context.Background(), secret, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "secret-users:", err)
		os.Exit(1)
	}
}

// asked parses the command line. The name may be before the flag, or after it.
func asked(args []string) (object.Ref, error) {
	flags := flag.NewFlagSet("secret-users", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error is enough
	namespace := flags.String("n", "default", "namespace of the Secret")
	err := flags.Parse(args)
	name := flags.Arg(0)
	if err == nil && flags.NArg() > 1 {
		err = flags.Parse(flags.Args()[1:])
	}
	if err == nil && (name == "" || flags.NArg() > 0 && flags.Arg(0) != name) {
		err = errors.New("want one name")
	}
	if err != nil {
		return object.Ref{}, fmt.Errorf("%w: SECRET [-n NAMESPACE] < snapshot.yaml", err)
	}
	return object.Ref{Kind: "Secret", Namespace: *namespace, Name: name}, nil
}

// users writes the objects that need a Secret, from a snapshot.
func users(ctx context.Context, secret object.Ref, in io.Reader, out io.Writer) error {
	g, err := read(ctx, in)
	if err != nil {
		return fmt.Errorf("read the snapshot: %w", err)
	}
	// An object that does not exist is a node as well, if another one refers to it.
	node, ok := g.Find(secret)
	if !ok {
		return fmt.Errorf("%s is not in the snapshot, and nothing in it names one", secret)
	}
	if g.State(node) != graph.Present {
		fmt.Fprintln(out, secret, "is", g.State(node))
	}
	impact := g.Impact(node, graph.ImpactOptions{})
	for _, d := range impact.Direct {
		fmt.Fprintf(out, "%s needs it: %s\n", g.Ref(d.ID), d.Edge.Why())
	}
	for _, d := range impact.Indirect {
		fmt.Fprintf(out, "%s through %s: %s\n", g.Ref(d.ID), g.Ref(d.Cause), d.Edge.Why())
	}
	if len(impact.Direct) == 0 {
		fmt.Fprintln(out, "nothing in the snapshot needs", secret)
	}
	return nil
}

// read returns the graph of a snapshot: Extract collects links, Build resolves their targets.
func read(ctx context.Context, in io.Reader) (*graph.Graph, error) {
	snapshot, err := source.Open("-", in, nil)
	if err != nil {
		return nil, err
	}
	kinds, err := snapshot.Kinds(ctx, nil)
	if err != nil {
		return nil, err
	}
	// catalog.Rules(kinds) would add the rules for custom resources of known operators.
	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, b.Extract)
	if err := snapshot.Read(ctx, source.Query{All: true}, inv); err != nil {
		return nil, err
	}
	return b.Build(inv), nil
}
