package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/definition"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// colocated checks what else was asked beside --colocation.
func (o *checkOptions) colocated() error {
	if !o.colocation {
		return nil
	}
	switch {
	case o.atomic.on:
		return withHint(errors.New("--colocation and --atomic exclude each other"), "leave out one of them")
	case len(o.categories) > 0, o.waivers != "", o.failOn != "":
		return errors.New("--colocation evaluates no rules: leave out --category, --waivers and --fail-on")
	case o.output == "sarif" || o.output == "junit":
		return withHint(fmt.Errorf("-o %s is for findings, and --colocation has none", o.output), "write -o tree, table, json, yaml or name")
	}
	return nil
}

// colocate shows how the pods of the stacks lie.
func (c *checkRun) colocate(ctx context.Context) error {
	stop := c.o.clock.stage("colocation")
	var found []*colocation.Placement
	asked := map[object.Ref]object.Ref{} // definitions, by the custom resource
	for s := range c.eachStack() {
		found = append(found, colocation.Measure(c.world, s))
		for _, ref := range colocation.PlacedBy(c.world, s, c.isCustom) {
			t := &found[len(found)-1].Together
			t.Settable = append(t.Settable, colocation.Settable{Resource: ref, Unread: true})
			kind, _ := c.session.kinds.Kind(ref.GroupKind())
			asked[ref] = object.Ref{Group: definitionKind.Group, Kind: definitionKind.Kind, Name: kind.String()}
		}
	}
	if err := c.places(ctx, found, asked); err != nil {
		return err
	}
	stop()
	c.session.tell(c.graph)
	if err := c.o.write(view.Colocation(found, view.ColocationOptions{Namespace: c.home, Gaps: c.graph.Gaps()})); err != nil {
		return err
	}
	if len(found) == 0 && c.o.human() {
		fmt.Fprintln(c.o.env.ErrOut, "no stacks found")
	}
	c.session.printTimings(c.graph)
	return nil
}

func (c *checkRun) isCustom(r object.Ref) bool {
	kind, ok := c.session.kinds.Kind(r.GroupKind())
	return ok && kind.Custom
}

// places reads the definitions, and fills in which of their fields say where pods go.
func (c *checkRun) places(ctx context.Context, found []*colocation.Placement, asked map[object.Ref]object.Ref) error {
	var refs []object.Ref
	for _, ref := range asked {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	known := map[object.Ref]colocation.Settable{}
	var failed error
	err := c.session.readDefinitions(ctx, slices.Compact(refs), func(fields map[string]any) {
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
				s.Paths, s.Open, s.Unread = p.Paths, p.Open, false
			}
		}
	}
	return nil
}
