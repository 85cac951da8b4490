package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// colocated checks what else was asked beside --colocation.
func (o *checkOptions) colocated() error {
	if !o.colocation {
		return nil
	}
	switch {
	case o.atomic.on:
		return hint.With(errors.New("--colocation and --atomic exclude each other"), "leave out one of them")
	case len(o.categories) > 0, o.waivers != "", o.failOn != "":
		return errors.New("--colocation evaluates no rules: leave out --category, --waivers and --fail-on")
	case o.output == "sarif" || o.output == "junit":
		return hint.With(fmt.Errorf("-o %s is for findings, and --colocation has none", o.output), "write -o tree, table, json, yaml or name")
	}
	return nil
}

// showColocation writes how the pods of the stacks are placed.
func (o *checkOptions) showColocation(ctx context.Context, c *app.CheckRun) error {
	found, err := c.Colocations(ctx)
	if err != nil {
		return err
	}
	c.Session.ReportGaps(c.Graph)
	var lines []string
	if len(found) == 0 && o.human() {
		lines = []string{"no stacks found"}
	}
	return o.finish(c.Session, c.Graph, view.Colocation(found, view.ColocationOptions{Namespace: c.Home, Gaps: c.Graph.Gaps()}), lines...)
}
