package app

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/definition"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Colocations returns how the pods of each stack are placed.
func (c *CheckRun) Colocations(ctx context.Context) ([]*colocation.Placement, error) {
	defer c.in.Clock.Stage("colocation")()
	var found []*colocation.Placement
	asked := map[object.Ref]object.Ref{} // definitions, by the custom resource
	for s := range c.eachStack() {
		found = append(found, colocation.Measure(c.world, s))
		for _, ref := range colocation.PlacedBy(c.world, s, c.isCustom) {
			t := &found[len(found)-1].Together
			t.Settable = append(t.Settable, colocation.Settable{Resource: ref})
			kind, _ := c.Session.Kinds.Kind(ref.GroupKind())
			asked[ref] = object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: kind.String()}
		}
	}
	return found, c.places(ctx, found, asked)
}

func (c *CheckRun) isCustom(r object.Ref) bool {
	kind, ok := c.Session.Kinds.Kind(r.GroupKind())
	return ok && kind.Custom
}

// places reads the definitions, and finds which of their fields place pods.
func (c *CheckRun) places(ctx context.Context, found []*colocation.Placement, asked map[object.Ref]object.Ref) error {
	var refs []object.Ref
	for _, ref := range asked {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	known := map[object.Ref]colocation.Settable{}
	var failed error
	err := c.Session.readDefinitions(ctx, slices.Compact(refs), func(fields map[string]any) {
		d, err := check.NewDefinition(c.world, fields)
		if err != nil {
			failed = err
			return
		}
		var p colocation.Settable
		p.Paths, p.Open = definition.Places(d)
		known[d.Ref] = p
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, f := range found {
		for i := range f.Together.Settable {
			s := &f.Together.Settable[i]
			if p, ok := known[asked[s.Resource]]; ok {
				s.Paths, s.Open, s.Read = p.Paths, p.Open, true
			}
		}
	}
	return nil
}
