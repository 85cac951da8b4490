package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type releaseOptions struct {
	keepingOptions
	force bool
}

func newSystemRelease(env Env) *cobra.Command {
	o := &releaseOptions{keepingOptions: keepingOptions{common: newCommon(env, "table", "json", "yaml", "name")}}
	cmd := &cobra.Command{
		Use:   "release NAME",
		Short: "Undo the adoption of a System",
		Long: `Undo system adopt: the members of the System lose the label
applyset.kubernetes.io/part-of, and then the ConfigMap sysop-NAME is deleted. Nothing
else of the applications changes. The changes are shown first, and have to be confirmed.

It is refused while regulation holds an application of the System: recover it first
(kubectl sysop regulate recover). The journal of regulation is kept.`,
		Example: `  # what would change?
  kubectl sysop system release shop --dry-run=client

  # do it, without being asked
  kubectl sysop system release shop --yes`,
		Args:              exactly(1, "the NAME of a System"),
		ValidArgsFunction: o.completeSystem,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "also while regulation holds an application, which then stays held")
	return cmd
}

func (o *releaseOptions) run(ctx context.Context, name string) error {
	if err := o.validate(); err != nil {
		return err
	}
	c, err := o.systems(ctx)
	if err != nil {
		return err
	}
	set, before, err := c.set(ctx, c.namespace, name)
	if err != nil {
		return err
	}
	if !o.force {
		store, err := regulate.NewStore(c.config, set.Name, set.Namespace)
		if err != nil {
			return err
		}
		if err := unheld(ctx, store, set); err != nil {
			return err
		}
	}
	carriers, err := c.carriers(ctx, set)
	if err != nil {
		return err
	}
	steps := system.Release(carriers)
	change := view.SystemChange{System: set.Name, Namespace: set.Namespace, Action: "release", Set: set.ID(), DryRun: o.dryRun}
	for _, m := range steps {
		change.Steps = append(change.Steps, view.SystemStep{Object: m.Object.Ref, Change: string(m.Change), Why: m.Why})
	}
	change.Steps = append(change.Steps, view.SystemStep{Object: set.Ref(), Change: string(system.Delete)})
	if o.dryRun != "client" {
		ref := set.Ref()
		rights := append(rightsOf(steps, c.kinds), regulate.Permission{Verb: "delete", Resource: "configmaps", Namespace: ref.Namespace, Name: ref.Name})
		if err := o.demand(ctx, c.config, set.Name, rights); err != nil {
			return err
		}
	}
	goOn, err := o.agree(ctx, change, len(change.Steps))
	if err != nil || !goOn {
		return err
	}
	if o.dryRun == "server" {
		c.dry = []string{"All"}
	}
	if err := c.release(ctx, set, steps, before); err != nil {
		return err
	}
	o.tell(&system.System{Name: set.Name}, "is no longer adopted")
	return nil
}

// set reads the set of a System that must be there.
func (c *systemCluster) set(ctx context.Context, namespace, name string) (system.Set, adoptedParent, error) {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return system.Set{}, adoptedParent{}, fmt.Errorf("%q is not a name of a System: %s", name, wrong[0])
	}
	o, found, err := c.parent(ctx, namespace, name)
	if err != nil {
		return system.Set{}, adoptedParent{}, err
	}
	if !found {
		return system.Set{}, adoptedParent{}, c.noSuch(ctx, namespace, name)
	}
	set, err := system.ParseSet(o)
	if err != nil {
		return set, adoptedParent{}, hint.With(fmt.Errorf("it is not managed by this tool: %w", err), "kubectl sysop system list shows the Systems there are")
	}
	return set, adoptedParent{o.GetUID(), o.GetResourceVersion()}, nil
}

// unheld refuses to forget a System while regulation holds something of it.
func unheld(ctx context.Context, store regulate.Store, set system.Set) error {
	j, err := store.Load(ctx)
	if err != nil {
		return hint.With(err, "--force continues without it")
	}
	var held []string
	for _, h := range j.Holds {
		held = append(held, h.App)
	}
	slices.Sort(held)
	if held = slices.Compact(held); len(held) > 0 {
		return hint.With(fmt.Errorf("regulation holds %s of the System %s (%s): they would stay held", plural(len(held), "app"), set.Name, strings.Join(held, ", ")), "kubectl sysop regulate recover "+held[0]+" recovers it; --force continues anyway")
	}
	return nil
}

// release takes the labels away, and then the parent: who is interrupted finds it again.
func (c *systemCluster) release(ctx context.Context, set system.Set, steps []system.Step, before adoptedParent) error {
	if err := c.marks(ctx, steps, set.ID()); err != nil {
		return err
	}
	err := c.objects.Resource(configMaps).Namespace(set.Namespace).Delete(ctx, set.Ref().Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &before.uid, ResourceVersion: &before.version}, DryRun: c.dry,
	})
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return hint.With(fmt.Errorf("delete %s: it was changed concurrently: %w", set.Ref(), err), "run it again to resume")
	}
	return fmt.Errorf("delete %s: %w", set.Ref(), err)
}
