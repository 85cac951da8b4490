package systems

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// ReleaseRequest asks for the release of an adopted System; with Force also while regulation holds an
// app. DryRun is none, client or server.
type ReleaseRequest struct {
	Name   string
	Force  bool
	DryRun string
}

// Release plans the release of a System, and checks the permissions for it, unless DryRun is
// client.
func Release(ctx context.Context, in *app.Input, r ReleaseRequest) (*Change, error) {
	c, err := Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	set, before, err := c.Set(ctx, c.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	if !r.Force {
		store, err := regulate.NewStore(c.Config, set.Name, set.Namespace)
		if err != nil {
			return nil, err
		}
		if err := Unheld(ctx, store, set); err != nil {
			return nil, err
		}
	}
	carriers, err := c.Carriers(ctx, set)
	if err != nil {
		return nil, err
	}
	members := system.Release(carriers)
	parent := system.Step{Object: system.Member{Ref: set.Ref()}, Change: system.Delete}
	change := &Change{Set: set, Steps: append(slices.Clip(members), parent), apply: func(ctx context.Context) error { return c.Release(ctx, set, members, before) }}
	return change, change.prepare(ctx, in, c, r.DryRun)
}

// Set reads the set of a System that must be there.
func (c *Cluster) Set(ctx context.Context, namespace, name string) (system.Set, AdoptedParent, error) {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return system.Set{}, AdoptedParent{}, fmt.Errorf("%q is not a name of a System: %s", name, wrong[0])
	}
	o, found, err := c.Parent(ctx, namespace, name)
	if err != nil {
		return system.Set{}, AdoptedParent{}, err
	}
	if !found {
		return system.Set{}, AdoptedParent{}, c.noSuch(ctx, namespace, name)
	}
	set, err := system.ParseSet(o)
	if err != nil {
		return set, AdoptedParent{}, hint.With(fmt.Errorf("it is not managed by this tool: %w", err), "kubectl sysop system list shows the Systems there are")
	}
	return set, AdoptedParent{o.GetUID(), o.GetResourceVersion()}, nil
}

// Unheld refuses to forget a System while regulation holds something of it.
func Unheld(ctx context.Context, store regulate.Store, set system.Set) error {
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
		return hint.With(fmt.Errorf("regulation holds %s of the System %s (%s): they would stay held", counted(len(held), "app"), set.Name, strings.Join(held, ", ")), "kubectl sysop regulate recover "+held[0]+" recovers it; --force continues anyway")
	}
	return nil
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Release removes the labels, and then the parent: after an interrupt the parent still exists, and names the rest.
func (c *Cluster) Release(ctx context.Context, set system.Set, steps []system.Step, before AdoptedParent) error {
	if err := c.Marks(ctx, steps, set.ID()); err != nil {
		return err
	}
	err := c.Objects.Resource(configMaps).Namespace(set.Namespace).Delete(ctx, set.Ref().Name, metav1.DeleteOptions{
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
