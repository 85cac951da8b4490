package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// trial is what a dry run of an installation says.
type trial struct {
	// Steps are the rows of the plan under their columns; Lines what it changes and grants, and notes.
	Columns []string   `json:"columns"`
	Steps   [][]string `json:"steps"`
	Lines   []string   `json:"lines"`
	// Refused are the reasons why nothing would be written, Hints the ways out; Accepted is the result
	// where nothing is refused.
	Refused  []string `json:"refused"`
	Hints    []string `json:"hints"`
	Accepted string   `json:"accepted,omitempty"`
}

// dryRun answers what install -f --dry-run=server says of a manifest.
func (a *API) dryRun(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
	var given struct {
		YAML string `json:"yaml"`
	}
	if err := json.Unmarshal(body, &given); err != nil || given.YAML == "" {
		return nil, Bad("expected {yaml}")
	}
	t := trial{Columns: []string{}, Steps: [][]string{}, Lines: []string{}, Refused: []string{}, Hints: []string{}}
	plan, open, err := a.DryRun(ctx, given.YAML)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if plan != nil && plan.Planned != nil {
		t.show(plan, open)
		if err == nil {
			err = plan.Refused()
		}
	}
	if err == nil {
		t.Accepted = view.DryRunAccepted(plan.Planned)
		return json.Marshal(t)
	}
	t.Refused = []string{err.Error()}
	if lines, ok := errors.AsType[*hint.Lines](err); ok {
		t.Refused = lines.Lines
	}
	if text := hint.For(err); text != "" {
		t.Hints = strings.Split(text, "\n")
	}
	return json.Marshal(t)
}

// show fills in what the command shows of a plan, and of the open run that ends first.
func (t *trial) show(plan *installer.Plan, open *installer.Recovery) {
	p := plan.Planned
	table := view.InstallPlanned(view.InstallPlan{Plan: p, DryRun: installer.DryRunServer, Fetched: plan.Fetched()}).Table
	for _, c := range table.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	for _, row := range table.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		t.Steps = append(t.Steps, cells)
	}
	fresh, rest := view.GrantLines(p)
	losses := p.Losses()
	if open != nil {
		t.Lines = summary.Recovery(open)
		losses = append(losses, slices.DeleteFunc(slices.Clone(open.Losses), func(ref object.Ref) bool { return slices.Contains(losses, ref) })...)
	}
	t.Lines = slices.Concat(t.Lines, fresh, view.ChangeLines(p), rest, view.LossLines(losses, p.Installation.Name))
	for _, n := range p.Notes {
		t.Lines = append(t.Lines, "note: "+n)
	}
}
