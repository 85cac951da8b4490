package cli

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// adopted is that a System is known in the cluster.
type adopted struct {
	set    system.Set
	before adoptedParent
	// carriers are the objects that carry its label.
	carriers []system.Member
}

// adoption reads whether a System is known; nil where it is not, or is no System. It is refused while
// regulation holds an app of it.
func (o *uninstallOptions) adoption(ctx context.Context, c *installCluster, of install.Installation) (*adopted, error) {
	if !of.System {
		return nil, nil //nolint:nilnil // an operator is not adopted
	}
	_, there, err := c.parent(ctx, of.Namespace, of.Name)
	if err != nil || !there {
		return nil, err
	}
	set, before, err := c.set(ctx, of.Namespace, of.Name)
	if err != nil {
		return nil, err
	}
	store, err := regulate.NewStore(c.config, set.Name, set.Namespace)
	if err != nil {
		return nil, err
	}
	if err := unheld(ctx, store, set); err != nil {
		return nil, err
	}
	carriers, err := c.carriers(ctx, set)
	return &adopted{set, before, carriers}, err
}

// forget ends that a System is known, once its apps are gone.
func (o *uninstallOptions) forget(ctx context.Context, c *installCluster, of install.Installation) error {
	a, err := o.adoption(ctx, c, of)
	if err != nil || a == nil {
		return err
	}
	if err := c.release(ctx, a.set, system.Release(a.carriers), a.before); err != nil {
		return withHint(fmt.Errorf("all apps of %s are gone, but the System is still adopted: %w", of.Name, err), "run the same command again to release it")
	}
	return nil
}

// remember gives the label of a System back to objects that were made again without it, since taking
// them away failed and was undone.
func (o *uninstallOptions) remember(ctx context.Context, c *installCluster, a *adopted) {
	ctx = context.WithoutCancel(ctx) // as the undoing
	var again []system.Step
	for _, m := range a.carriers {
		kind, ok := c.kinds.Kind(m.Ref.GroupKind())
		if !ok || m.Controlled {
			continue
		}
		is, err := c.at(kind, m.Ref.Namespace).Get(ctx, m.Ref.Name, metav1.GetOptions{})
		if err != nil || is.Labels[system.MemberLabel] != "" {
			continue // it went, or has it
		}
		again = append(again, system.Step{Object: foundOf(m.Ref, is), Change: system.AddLabel})
	}
	if err := c.marks(ctx, again, a.set.ID()); err != nil {
		fmt.Fprintf(o.env.ErrOut, "note: the System is adopted, but not all of its objects carry its label: %s\n", safe(err.Error()))
	}
}
