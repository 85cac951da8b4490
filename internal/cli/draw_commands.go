package cli

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/stackmap"
)

func (o *graphOptions) draw(ctx context.Context) error {
	err := o.RefuseFlags(command.UnsupportedFlags{
		{"--up", o.up},
		{"--connected", o.connected},
		{"--relations", len(o.relations) > 0},
		{"--kinds", len(o.kinds) > 0},
		{"--depth", o.depth != 0},
		{"--show-boundary", o.boundary},
		{"--include", len(o.include) > 0},
		{"--helm-manifest", o.manifest},
		{"--problems", o.problems},
		{"--exit-code", o.exitCode},
	}, "")
	if err != nil {
		return err
	}
	args, among := o.args, []string(nil)
	if o.AllNamespaces && o.selector == "" {
		args, among = nil, o.args
	}
	v, err := o.StacksPage(ctx, args, o.selector, "", nil)
	if err != nil {
		return err
	}
	v.Shown, v.Among = "stack", among
	return o.WritePage(ctx, v)
}

func (o *healthOptions) draw(ctx context.Context) error {
	err := o.RefuseFlags(command.UnsupportedFlags{{"--all", o.all}, {"--since", o.since != 0}, {"--exit-code", o.exitCode}}, "")
	if err == nil {
		err = o.RefuseFlags(command.UnsupportedFlags{{"--prometheus", o.server.Address != ""}}, "kubectl sysop health -o tree shows what it says below each stack")
	}
	if err == nil {
		err = o.RefuseFlags(command.UnsupportedFlags{{"--watch", o.watch}, {"--wait", o.wait != ""}}, "kubectl sysop ui shows a page that follows the cluster")
	}
	if err != nil {
		return err
	}
	v, err := o.StacksPage(ctx, o.args, o.selector, "", &o.rules)
	if err != nil {
		return err
	}
	if len(o.args) > 0 {
		v.Shown = "stack"
	}
	return o.WritePage(ctx, v)
}

func (o *stacksOptions) draw(ctx context.Context) error {
	if err := o.RefuseFlags(command.UnsupportedFlags{{"--sort-by", o.sortBy != "name"}}, "leave it out: the page sorts by a click on the head of a column"); err != nil {
		return err
	}
	v, err := o.StacksPage(ctx, nil, o.selector, o.prices, &o.rules)
	if err != nil {
		return err
	}
	v.Ground, v.All, v.Shown = o.all, o.all, "stacks"
	v.Address = stackmap.Choice{ByApp: o.by == "app", Tone: o.tone == "cost", Cluster: o.all}.Address()
	return o.WritePage(ctx, v)
}
