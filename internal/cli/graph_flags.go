package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func (o *graphOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.IntVar(&o.depth, "depth", 0, "how many levels to show below each root (0: all)")
	f.BoolVar(&o.up, "up", false, "follow the other direction: what owns the roots, needs them, is served by them")
	f.BoolVar(&o.connected, "connected", false, "follow both directions, up to a boundary")
	f.BoolVar(&o.boundary, "show-boundary", false, "show the boundary of the stack: nodes, classes, cluster roles")
	f.BoolVar(&o.why, "why", false, "show the field and the value behind each line")
	f.StringSliceVar(&o.relations, "relations", nil, "follow only these: owns, needs, serves")
	f.StringSliceVar(&o.kinds, "kinds", nil, "show only objects of these types")
	f.BoolVar(&o.problems, "problems", false, "show only the problems of the stack")
	f.BoolVar(&o.manifest, "helm-manifest", false, "of helm/RELEASE, also read the release's manifest from Helm's Secret, not only the annotations of its objects")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if the stack has an error or a warning")
	command.Offer(cmd, "relations", "owns", "needs", "serves")
	f.StringSliceVar(&o.include, "include", nil, "also read these, which are left out by default: events, leases")
	command.Complete(cmd, "kinds", o.CompleteWith(completion.Kinds))
	command.Offer(cmd, "include", "events", "leases")
}

// typedFlags turns flag text into values, before anything is read.
func (o *graphOptions) typedFlags() (graph.StackOptions, labels.Selector, error) {
	opts := graph.StackOptions{NoInferred: o.NoInferred, Connected: o.connected, Up: o.up}
	if o.depth < 0 {
		return opts, nil, fmt.Errorf("--depth %d: expected 0 or more", o.depth)
	}
	if o.up && o.connected {
		return opts, nil, fmt.Errorf("--up and --connected exclude each other")
	}
	if o.problems && (o.Output == "dot" || o.Output == "mermaid") {
		return opts, nil, hint.With(fmt.Errorf("--problems is a list: it has no output format %s", o.Output), "write one of tree, table, wide, json, yaml, name")
	}
	for _, name := range o.relations {
		r, ok := relation.ParseRelation(name)
		if !ok {
			return opts, nil, hint.With(fmt.Errorf("unknown relation %q", name), "write some of owns, needs, serves")
		}
		opts.Relations = append(opts.Relations, r)
	}
	selector, err := app.ParseSelector(o.selector)
	return opts, selector, err
}
