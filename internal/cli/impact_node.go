package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// drain shows what a drain of a node would hit. Pods of every namespace may be there.
func (o *impactOptions) drain(ctx context.Context, name string) error {
	facts := o.facting()
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	opts := graph.StackOptions{NoInferred: o.noInferred}
	g, err := s.read(ctx, source.Query{All: true}, func(*graph.Graph) []graph.ID { return nil }, opts)
	if err != nil {
		return err
	}
	node, err := s.kinds.Find("nodes")
	if err != nil {
		return err
	}
	root := rootArg{text: "node/" + name, kind: node, name: name}
	if err := s.missing(g, []rootArg{root}, nil); err != nil {
		return err
	}
	stop := o.clock.stage("drain")
	w := s.checkWorld(g, facts, s.kinds, s.inv)
	var stacks []*check.Stack
	for _, f := range g.FindStacks("", opts).Stacks {
		stacks = append(stacks, &check.Stack{World: w, Ref: f.Ref(g), Stack: g.Stack(f.Roots, opts)})
	}
	d := drain.Predict(w, name, stacks)
	elsewhere := drain.Elsewhere(w, d)
	d.Elsewhere = &elsewhere
	stop()
	s.tell(g)
	if o.output == "table" {
		o.output = "tree" // A pod has lines of its own for what is to be said of it.
	}
	if err := o.write(view.Drain(d, g.Gaps())); err != nil {
		return err
	}
	if !s.inv.Covered(podKind, "") {
		fmt.Fprintln(o.env.ErrOut, "warning: cannot list pods in all namespaces: the node may run more")
	}
	s.printTimings(g)
	return nil
}
