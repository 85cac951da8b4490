package cli

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

// drawPage writes the page of what the command is about, and says on stderr what is not in it.
func (c *common) drawPage(ctx context.Context, v *app.Page) error {
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
	if err := c.write(view.Output{UIState: p}); err != nil {
		return err
	}
	c.say(summary.Page(v)...)
	if held := len(p.Nodes); held < p.Objects {
		c.Warn(fmt.Sprintf("%d of %d objects are in it", held, p.Objects))
	}
	l.Session.PrintTimings(l.Graph)
	return nil
}
