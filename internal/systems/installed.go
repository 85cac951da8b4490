package systems

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Installed is the record of adopted Systems, as an installer needs it.
type Installed struct{ In *app.Input }

// Adopt records a System whose apps are installed.
func (r Installed) Adopt(ctx context.Context, sys *system.System, manifest string) error {
	return AdoptInstalled(ctx, r.In, sys, manifest)
}

// Releasable returns an error if regulation holds an app of an adopted System.
func (r Installed) Releasable(ctx context.Context, target install.Installation) error {
	c, err := Connect(ctx, r.In)
	if err != nil {
		return err
	}
	_, _, _, err = c.releasable(ctx, target)
	return err
}

// releasable reads an adopted System; false if it is not adopted.
func (c *Cluster) releasable(ctx context.Context, target install.Installation) (set system.Set, before AdoptedParent, found bool, err error) {
	if _, found, err = c.Parent(ctx, target.Namespace, target.Name); err != nil || !found {
		return set, before, false, err
	}
	if set, before, err = c.Set(ctx, target.Namespace, target.Name); err != nil {
		return set, before, true, err
	}
	store, err := regulate.NewStore(c.Config, set.Name, set.Namespace)
	if err != nil {
		return set, before, true, err
	}
	return set, before, true, Unheld(ctx, store, set)
}

// Release deletes the record of a System whose apps are gone.
func (r Installed) Release(ctx context.Context, target install.Installation) error {
	c, err := Connect(ctx, r.In)
	if err != nil {
		return err
	}
	set, before, found, err := c.releasable(ctx, target)
	if err != nil || !found {
		return err
	}
	carriers, err := c.Carriers(ctx, set)
	if err == nil {
		err = c.Release(ctx, set, system.Release(carriers), before)
	}
	if err != nil {
		return hint.With(fmt.Errorf("all apps of %s are gone, but the System is still adopted: %w", target.Name, err), "run the same command again to release it")
	}
	return nil
}

// Relabel labels the roots that the stored manifest of a System names. Who may write that manifest
// could name anything: only restored objects are labelled.
func (r Installed) Relabel(ctx context.Context, target install.Installation, restored []object.Ref) error {
	c, err := Connect(ctx, r.In)
	if err != nil {
		return err
	}
	parent, found, err := c.Parent(ctx, target.Namespace, target.Name)
	if err != nil || !found {
		return err
	}
	sys, err := system.ParseParent(parent)
	if err != nil {
		return err
	}
	var again []system.Step
	for i := range sys.Apps {
		for _, root := range sys.Apps[i].Roots {
			ref, err := c.RefOf(sys, root)
			if err != nil || !slices.Contains(restored, ref) {
				continue
			}
			m, err := c.Find(ctx, ref)
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				return fmt.Errorf("read %s: %w", ref, err)
			case m.Labels[system.MemberLabel] == "" && !m.Controlled:
				again = append(again, system.Step{Object: m, Change: system.AddLabel})
			}
		}
	}
	return c.Marks(ctx, again, system.SetID(system.ParentRef(target.Namespace, target.Name)))
}
