package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// DriftDocument is a field of a held target that was changed since, with the values as JSON text
// and the ways to resolve it.
type DriftDocument struct {
	App    string `json:"app"`
	Signal string `json:"signal"`
	Hold   int    `json:"hold"`
	Target string `json:"target"`
	// Path is a JSON pointer; Held is what the hold wrote there and Current what is there, as JSON,
	// each absent where there is no field.
	Path    string `json:"path,omitempty"`
	Held    string `json:"held,omitempty"`
	Current string `json:"current,omitempty"`
	// Manager is the field manager that owns it now, At when that wrote.
	Manager string            `json:"manager,omitempty"`
	At      string            `json:"at,omitempty"`
	Message string            `json:"message"`
	Choices []regulate.Choice `json:"choices"`
}

func (o RegulationOptions) drifts() []DriftDocument {
	var out []DriftDocument
	for i := range o.Drifts {
		d := &o.Drifts[i]
		now := changeDocuments([]patch.Change{{Path: d.Change.Path, ExistedBefore: d.Change.ExistsAfter, Before: d.Change.After, ExistsAfter: d.Has, After: d.Is}})[0]
		out = append(out, DriftDocument{
			App: d.App, Signal: d.Signal, Hold: d.Hold, Path: now.Path, Held: now.Before, Current: now.After, Manager: d.By, At: Moment(d.At), Message: d.Text(),
			Target:  object.Ref{Kind: d.Target.Kind, Group: groupOf(d.Target.APIVersion), Namespace: d.Target.Namespace, Name: d.Target.Name}.String(),
			Choices: d.Choices(o.System),
		})
	}
	return out
}

// driftLine is a drift with what can be done about it, in a tree of so many cells.
func (o RegulationOptions) driftLine(d *regulate.Drift, cells int) *TreeRow {
	fill := func(first, last Cell) []Cell {
		out := make([]Cell, cells)
		out[0], out[cells-1] = first, last
		return out
	}
	line := &TreeRow{
		Name:  Cell{"△ " + Written(object.Ref{Kind: d.Target.Kind, Namespace: d.Target.Namespace, Name: d.Target.Name}, o.Namespace, nil), Warn},
		Cells: fill(Cell{"changed since", Warn}, Cell{d.Text(), Plain}),
	}
	for _, c := range d.Choices(o.System) {
		line.Children = append(line.Children, &TreeRow{Name: Cell{c.What, Faint}, Cells: fill(Cell{}, Cell{c.Command, Plain})})
	}
	return line
}
