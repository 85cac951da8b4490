package cli

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// adopted is that a System is known in the cluster.
type adopted struct {
	set    system.Set
	before systems.AdoptedParent
}

// adoption reads whether a System is known; nil where it is not, or is no System. It is refused while
// regulation holds an app of it.
func (o *uninstallOptions) adoption(ctx context.Context, c *installCluster, installation install.Installation) (*adopted, error) {
	if !installation.System {
		return nil, nil //nolint:nilnil // an operator is not adopted
	}
	_, found, err := c.Parent(ctx, installation.Namespace, installation.Name)
	if err != nil || !found {
		return nil, err
	}
	set, before, err := c.Set(ctx, installation.Namespace, installation.Name)
	if err != nil {
		return nil, err
	}
	store, err := regulate.NewStore(c.Config, set.Name, set.Namespace)
	if err != nil {
		return nil, err
	}
	return &adopted{set, before}, systems.Unheld(ctx, store, set)
}

// forget ends that a System is known, once its apps are gone.
func (o *uninstallOptions) forget(ctx context.Context, c *installCluster, installation install.Installation) error {
	a, err := o.adoption(ctx, c, installation)
	if err != nil || a == nil {
		return err
	}
	carriers, err := c.Carriers(ctx, a.set)
	if err == nil {
		err = c.Release(ctx, a.set, system.Release(carriers), a.before)
	}
	if err != nil {
		return hint.With(fmt.Errorf("all apps of %s are gone, but the System is still adopted: %w", installation.Name, err), "run the same command again to release it")
	}
	return nil
}

// remember restores the label of an adopted System on objects that an undo created again without
// it, for every command that undoes.
func (o *installOptions) remember(ctx context.Context, c *installCluster, r *install.Runner, installation install.Installation, report install.Report) {
	if !installation.System || report.Result != install.ResultUndone && report.Result != install.ResultPartlyUndone {
		return
	}
	if err := c.labelAgain(context.WithoutCancel(ctx), r, installation, report.Steps); err != nil { // as the undoing
		fmt.Fprintf(o.env.ErrOut, "note: the System is adopted, but not all of its objects carry its label: %s\n", safe(err.Error()))
	}
}

// labelAgain labels the roots that the manifest which is kept of a System names. Who may write that
// manifest could name anything: only objects of the releases that were brought back are labelled.
func (c *installCluster) labelAgain(ctx context.Context, r *install.Runner, installation install.Installation, steps []install.StepState) error {
	parent, found, err := c.Parent(ctx, installation.Namespace, installation.Name)
	if err != nil || !found {
		return err
	}
	sys, err := system.ParseParent(parent)
	if err != nil {
		return err
	}
	restored, err := r.ReleasedObjects(ctx, steps)
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
	return c.Marks(ctx, again, system.SetID(system.ParentRef(installation.Namespace, installation.Name)))
}
