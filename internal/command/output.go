package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// AddOutputFlags adds the flags of how it is shown.
func (c *Common) AddOutputFlags(cmd *cobra.Command) {
	c.AddFormatFlags(cmd)
	cmd.Flags().BoolVar(&c.NoHeaders, "no-headers", false, "leave out column headers")
}

// AddFormatFlags adds those of them that also an answer without columns has.
func (c *Common) AddFormatFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.Output, "output", "o", c.Formats[0], "output format: "+strings.Join(c.Formats, ", "))
	f.StringVar(&c.color, "color", "auto", "color: auto, always or never")
	Offer(cmd, "output", c.Formats...)
	Offer(cmd, "color", "auto", "always", "never")
}

// ForPeople says whether the answer is laid out for people.
func (c *Common) ForPeople() bool {
	return c.Output == "tree" || c.Output == "table" || c.Output == "wide"
}

// Write writes an answer.
func (c *Common) Write(a view.Output) error { return c.WriteUnder(a, !c.NoHeaders) }

// Finish writes an answer, prints the lines beside it, and the timings of a session.
func (c *Common) Finish(s *app.Session, g *graph.Graph, a view.Output, lines ...string) error {
	if err := c.Write(a); err != nil {
		return err
	}
	c.Say(lines...)
	s.PrintTimings(g)
	return nil
}

// WriteUnder writes an answer with the heads of its columns, or what follows it without.
func (c *Common) WriteUnder(a view.Output, heads bool) error {
	defer c.Clock.Stage("write")()
	o := render.Options{Width: c.Env.Width, NoHeaders: !heads}
	o.Color = c.Colored()
	return render.Write(c.Env.Out, c.Output, a, o)
}

// Colored reports whether the answer has colors.
func (c *Common) Colored() bool {
	return c.color == "always" || c.color != "never" && c.Env.Color
}
