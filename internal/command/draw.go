package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// drawings are the formats of a UIState.
var drawings = []string{"html", "svg"}

// IsDrawing says that the answer is a UIState.
func (c *Common) IsDrawing() bool { return slices.Contains(drawings, c.Output) }

// UnsupportedFlags are flags of a command that a UIState cannot honour, with whether they are set.
type UnsupportedFlags []struct {
	Flag string
	Set  bool
}

// RefuseFlags is an error for the first of them that is set: a page that leaves a flag out would say
// another thing than was asked.
func (c *Common) RefuseFlags(flags UnsupportedFlags, wayOut string) error {
	for _, f := range flags {
		if f.Set {
			return hint.With(fmt.Errorf("%s: not supported with -o %s", f.Flag, c.Output), cmp.Or(wayOut, "leave it out: the page can be sorted, filtered and folded"))
		}
	}
	return nil
}

// WritePage writes the page of what the command is about, and says on stderr what is not in it.
func (c *Common) WritePage(ctx context.Context, v *app.Page) error {
	v.Mode, v.MissingSources, v.Members = "file", app.MissingInFile(), true
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
	if err := c.Write(view.Output{UIState: p}); err != nil {
		return err
	}
	c.Say(summary.Page(v)...)
	if held := len(p.Nodes); held < p.Objects {
		c.Warn(fmt.Sprintf("%d of %d objects are in it", held, p.Objects))
	}
	l.Session.PrintTimings(l.Graph)
	return nil
}
