package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// drawings are the formats of a UIState.
var drawings = []string{"html", "svg"}

// drawn says that the answer is a UIState.
func (c *common) drawn() bool { return slices.Contains(drawings, c.output) }

// unsupportedFlags are flags of a command that a UIState cannot honour, with whether they are set.
type unsupportedFlags []struct {
	flag string
	set  bool
}

// refuse is an error for the first of them that is set: a page that leaves a flag out would say
// another thing than was asked.
func (c *common) refuse(flags unsupportedFlags, wayOut string) error {
	for _, f := range flags {
		if f.set {
			return hint.With(fmt.Errorf("%s: not supported with -o %s", f.flag, c.output), cmp.Or(wayOut, "leave it out: the page can be sorted, filtered and folded"))
		}
	}
	return nil
}

// inFile gives the remedy for each thing that a file lacks.
func inFile() map[string]string {
	const live = "a file has no server: "
	return map[string]string{
		"history":    live + "kubectl sysop ui --prometheus URL shows costs over time",
		"checks":     live + "kubectl sysop ui, or kubectl sysop check",
		"regulation": live + "kubectl sysop ui, or kubectl sysop regulate status",
		"manifest":   live + "kubectl sysop ui, or kubectl get -o yaml",
		"compose":    live + "kubectl sysop ui, or kubectl sysop system init",
	}
}

// drawPage writes the page of what the command is about, and says on stderr what is not in it.
func (c *common) drawPage(ctx context.Context, v *app.Page) error {
	v.Mode, v.MissingSources, v.Members = "file", inFile(), true
	if err := v.Open(ctx); err != nil {
		return err
	}
	p, err := v.Observe(ctx)
	if err != nil {
		return err
	}
	l := v.Last
	l.Session.ReportGaps(l.Graph)
	if l.EventsGap != nil {
		c.Gaps([]object.Gap{*l.EventsGap})
	}
	if err := c.write(view.Output{UIState: p}); err != nil {
		return err
	}
	c.tellFigures(v, l)
	if held := len(p.Nodes); held < p.Objects {
		c.Warn(fmt.Sprintf("%d of %d objects are in it", held, p.Objects))
	}
	l.Session.PrintTimings(l.Graph)
	return nil
}

// tellFigures says on stderr what the figures leave out: all of it, if they were asked for.
func (c *common) tellFigures(v *app.Page, l *app.PageState) {
	if v.ByPods {
		c.tellMetrics(l.MetricsResult)
		return
	}
	if len(l.Found) == 0 {
		fmt.Fprintln(c.env.ErrOut, "none found")
	}
	for _, n := range l.Reading.Notes {
		if n.LowersFigures {
			c.tellNote(n)
		}
	}
}

// drawnFrom makes the survey of a command that is not about figures.
func (c *common) drawnFrom(ctx context.Context, args []string, selector, prices string, rules *app.HealthRuleOptions) (*app.Page, error) {
	q := &app.MetricsRequest{Args: args, By: cost.ByStack, Options: cost.Options{Sharing: cost.ShareEven}, Brief: true}
	chosen, err := app.ParseSelector(selector)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		q.Selector = chosen
	}
	own, err := rules.Read(ctx)
	if err != nil {
		return nil, err
	}
	if q.Book, err = readPrices(ctx, prices); err != nil {
		return nil, err
	}
	v := c.NewPage(q, own)
	v.Selector = chosen
	return v, nil
}

func (o *graphOptions) draw(ctx context.Context) error {
	err := o.refuse(unsupportedFlags{
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
	v, err := o.drawnFrom(ctx, o.args, o.selector, "", nil)
	if err != nil {
		return err
	}
	v.Shown = "stack"
	return o.drawPage(ctx, v)
}

func (o *healthOptions) draw(ctx context.Context) error {
	err := o.refuse(unsupportedFlags{{"--all", o.all}, {"--since", o.since != 0}, {"--exit-code", o.exitCode}}, "")
	if err == nil {
		err = o.refuse(unsupportedFlags{{"--watch", o.watch}, {"--wait", o.wait != ""}}, "kubectl sysop ui shows a page that follows the cluster")
	}
	if err != nil {
		return err
	}
	v, err := o.drawnFrom(ctx, o.args, o.selector, "", &o.rules)
	if err != nil {
		return err
	}
	if len(o.args) > 0 {
		v.Shown = "stack"
	}
	return o.drawPage(ctx, v)
}

func (o *stacksOptions) draw(ctx context.Context) error {
	if err := o.refuse(unsupportedFlags{{"--sort-by", o.sortBy != "name"}}, "leave it out: the page sorts by a click on the head of a column"); err != nil {
		return err
	}
	v, err := o.drawnFrom(ctx, nil, o.selector, o.prices, &o.rules)
	if err != nil {
		return err
	}
	v.Ground, v.All, v.Shown = o.all, o.all, "stacks"
	return o.drawPage(ctx, v)
}

func (o *metricsOptions) draw(ctx context.Context, q *app.MetricsRequest) error {
	err := o.refuse(unsupportedFlags{{"--by", q.By != cost.ByStack}, {"--sort-by", o.sortBy != ""}, {"--top", o.top != 0}, {"--depth", o.depth != 0}, {"--containers", o.containers}}, "")
	if err == nil {
		err = o.refuse(unsupportedFlags{{"--watch", o.watch}, {"--listen", o.listen != ""}}, "kubectl sysop ui shows a page that follows the cluster")
	}
	if err != nil {
		return err
	}
	v := o.NewPage(q, nil)
	v.ByPods, v.Shown = true, "costs"
	return o.drawPage(ctx, v)
}
