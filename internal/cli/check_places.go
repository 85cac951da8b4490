package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// colocations says of each stack how its pods are placed.
func (c *checkRun) colocations(ctx context.Context) ([]*check.Colocation, error) {
	defer c.in.Clock.Stage("colocation")()
	var found []*check.Colocation
	asked := map[object.Ref]object.Ref{} // definitions, by the custom resource
	for s := range c.eachStack() {
		found = append(found, c.world.Colocation(s))
		for _, ref := range c.world.PlacedBy(s, c.isCustom) {
			t := &found[len(found)-1].Together
			t.Settable = append(t.Settable, check.SettablePlaces{Resource: ref, Unread: true})
			kind, _ := c.session.Kinds.Kind(ref.GroupKind())
			asked[ref] = object.Ref{Group: app.DefinitionKind.Group, Kind: app.DefinitionKind.Kind, Name: kind.String()}
		}
	}
	return found, c.places(ctx, found, asked)
}

func (c *checkRun) isCustom(r object.Ref) bool {
	kind, ok := c.session.Kinds.Kind(r.GroupKind())
	return ok && kind.Custom
}

// places reads the definitions, and fills in which of their fields say where pods go.
func (c *checkRun) places(ctx context.Context, found []*check.Colocation, asked map[object.Ref]object.Ref) error {
	var refs []object.Ref
	for _, ref := range asked {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	known := map[object.Ref]check.SettablePlaces{}
	var failed error
	err := c.session.ReadDefinitions(ctx, slices.Compact(refs), func(fields map[string]any) {
		d, err := check.NewDefinition(c.world, fields)
		if err != nil {
			failed = err
			return
		}
		var p check.SettablePlaces
		p.Paths, p.Open = d.Places()
		known[d.Ref] = p
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, f := range found {
		for i := range f.Together.Settable {
			s := &f.Together.Settable[i]
			if p, ok := known[asked[s.Resource]]; ok {
				s.Paths, s.Open, s.Unread = p.Paths, p.Open, false
			}
		}
	}
	return nil
}
