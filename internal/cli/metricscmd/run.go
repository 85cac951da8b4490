package metricscmd

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

func (o *metricsOptions) run(ctx context.Context) error {
	var err error
	if o.args, err = o.of.Read(ctx, &o.Input, o.args); err != nil {
		return err
	}
	q, err := o.question(ctx)
	if err != nil {
		return err
	}
	switch {
	case o.IsDrawing() && !o.invoiced():
		return o.draw(ctx, q)
	case o.listen != "":
		return o.serving(ctx, q)
	case o.watch:
		return o.watching(ctx, q)
	}
	m, err := o.MeasureAll(ctx, q)
	if err != nil {
		return err
	}
	if err := o.show(ctx, m); err != nil {
		return err
	}
	o.Say(summary.Metrics(m)...)
	m.PrintTimings()
	return nil
}

func (o *metricsOptions) show(ctx context.Context, m *app.MetricsResult) error {
	a, err := o.answer(ctx, m)
	if err != nil {
		return err
	}
	return o.Write(a)
}

// invoiced says that a page is an invoice: that of groups, of a window, of a filter, or of several
// clusters.
func (o *metricsOptions) invoiced() bool {
	return o.Output == "html" && (o.byChosen || o.window != "" || len(o.filter) > 0 || len(o.froms.all)+len(o.contexts.all) > 1)
}

// answer is what is shown.
func (o *metricsOptions) answer(ctx context.Context, m *app.MetricsResult) (view.Output, error) {
	shape, shown, divided := render.ShapeOf(o.Output), m.Report, m.Divided
	if divided != nil && shape != view.UIShape {
		shown, divided = divided, nil
	}
	if shape == view.FocusShape {
		table, err := focus.Table(ctx, m, o.focus.Options)
		return view.Output{Focus: table}, err
	}
	m.DropCharges()
	switch shape {
	case view.CSVShape:
		return view.Output{CSV: export.CSV(cost.Limit(shown, 0, o.depth), m.Readings(), m.Periods)}, nil
	case view.FamiliesShape:
		return view.Output{Families: export.Families(m.Report, m.Readings())}, nil
	}
	return view.Metrics(shown, view.MetricsOptions{
		Reading: m.Reading, Prices: m.Request.Book.Name, Sharing: m.Request.Options.Sharing, Tenant: m.Request.Rows.Tenant(), Depth: o.depth, Namespace: m.Home, Gaps: m.Gaps(),
		Shape: shape, Every: m.Request.Every, Periods: m.Periods, Divided: divided, SharedAmong: m.SharedAmong(),
	}), nil
}

func (o *metricsOptions) draw(ctx context.Context, q *app.MetricsRequest) error {
	err := o.RefuseFlags(command.UnsupportedFlags{{"several --from or --context", len(q.Clusters) > 1}, {"--by", len(q.Keys) > 1 || q.Keys[0].By != cost.ByStack}, {"--filter", len(q.Filter) > 0}, {"--sort-by", o.sortBy != ""}, {"--top", o.top != 0}, {"--depth", o.depth != 0}, {"--containers", o.containers}}, "")
	if err == nil {
		err = o.RefuseFlags(command.UnsupportedFlags{{"--watch", o.watch}, {"--listen", o.listen != ""}}, "kubectl sysop ui shows a page that follows the cluster")
	}
	if err != nil {
		return err
	}
	v := o.NewPage(q, nil)
	v.ByPods, v.Shown = true, "costs"
	return o.WritePage(ctx, v)
}
