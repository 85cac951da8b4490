package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// question reads the flags, before anything is read.
func (o *checkOptions) question(ctx context.Context) (*app.CheckRequest, error) {
	q := &app.CheckRequest{Args: o.args, Colocation: o.colocation, Rows: o.of.SystemRows}
	var err error
	if q.Selector, err = app.ParseSelector(o.selector); err != nil {
		return nil, err
	}
	if q.Selector != nil && len(o.args) == 0 {
		return nil, errors.New("--selector chooses among all of a TYPE: name one")
	}
	if err := o.colocated(); err != nil {
		return nil, err
	}
	if err := o.validateExclusive(); err != nil {
		return nil, err
	}
	if _, err := o.failLevel(); err != nil {
		return nil, err
	}
	if q.Rules, err = app.RulesIn(o.categories); err != nil {
		return nil, err
	}
	if q.Waivers, err = app.ReadWaivers(ctx, o.waivers); err == nil && o.of.System != nil {
		q.Waivers = slices.Concat(q.Waivers, o.of.System.Waivers)
	}
	return q, err
}

// failLevel is the level of --fail-on; 0 for none.
func (o *checkOptions) failLevel() (check.Severity, error) {
	switch o.failOn {
	case "":
		return 0, nil
	case "error":
		return check.Error, nil
	case "warning":
		return check.Warning, nil
	}
	return 0, hint.With(fmt.Errorf("unknown value %q of --fail-on", o.failOn), "write error or warning")
}

// validateExclusive refuses flags of the other mode: ignored silently, they would seem to have an
// effect.
func (o *checkOptions) validateExclusive() error {
	a := &o.atomic
	if a.on {
		given := map[string]bool{"--category": len(o.categories) > 0, "--waivers": o.waivers != "", "--selector": o.selector != "", "--all": o.all}
		for _, flag := range slices.Sorted(maps.Keys(given)) {
			if given[flag] {
				return hint.With(fmt.Errorf("%s has no effect with --atomic", flag), "leave out one of them")
			}
		}
		return nil
	}
	switch {
	case len(a.Files) > 0:
		return hint.With(errors.New("--filename needs --atomic"), "use check --atomic -f "+a.Files[0])
	case a.Recursive:
		return hint.With(errors.New("--recursive needs --atomic"), "use check --atomic -R -f DIR")
	case a.footprints != "":
		return hint.With(errors.New("--footprint needs --atomic"), "use check --atomic --footprint "+a.footprints+" -f FILE")
	case a.Autoscaler:
		return hint.With(errors.New("--assume-autoscaler needs --atomic"), "use check --atomic --assume-autoscaler -f FILE")
	}
	return nil
}

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
	case o.Output == "sarif" || o.Output == "junit":
		return hint.With(fmt.Errorf("-o %s is for findings, and --colocation has none", o.Output), "write -o tree, table, json, yaml or name")
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
	if len(found) == 0 && o.ForPeople() {
		lines = []string{"no stacks found"}
	}
	return o.Finish(c.Session, c.Graph, view.Colocation(found, view.ColocationOptions{Namespace: c.Home, Gaps: c.Graph.Gaps()}), lines...)
}
