package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apitypes "k8s.io/apimachinery/pkg/types"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// AdoptRequest asks for the adoption of the System of a manifest. DryRun is none, client or server.
type AdoptRequest struct {
	File   string
	DryRun string
}

// Adopt plans the adoption of a System, and checks the permissions for it, unless DryRun is
// client.
func Adopt(ctx context.Context, in *app.Input, r AdoptRequest) (*Change, error) {
	c, err := Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	s, text, err := readText(ctx, in, r.File)
	if err != nil {
		return nil, err
	}
	if err := Place(s, c.Namespace, app.Given(in.Config.Namespace)); err != nil {
		return nil, err
	}
	change, err := c.plan(ctx, s, text)
	if err != nil {
		return nil, err
	}
	return change, change.prepare(ctx, in, c, r.DryRun)
}

// AdoptInstalled adopts a System whose apps were just installed: the kinds that the cluster serves are
// read again.
func AdoptInstalled(ctx context.Context, in *app.Input, s *system.System, text string) error {
	c, err := Connect(ctx, in)
	if err != nil {
		return err
	}
	change, err := c.plan(ctx, s, text)
	if err != nil || change.Count() == 0 {
		return err
	}
	return change.Apply(ctx)
}

// plan plans the adoption of a System.
func (c *Cluster) plan(ctx context.Context, s *system.System, text string) (*Change, error) {
	a, before, err := c.adoption(ctx, s, text)
	if err != nil {
		return nil, err
	}
	parent := system.Step{Object: system.Member{Ref: a.Set.Ref()}, Change: a.Parent, Why: "it stores the manifest, and names the members"}
	return &Change{Set: a.Set, Steps: append([]system.Step{parent}, a.Members...), apply: func(ctx context.Context) error { return c.adopt(ctx, a, before) }}, nil
}

// Change is a planned adoption or release of a System.
type Change struct {
	Set   system.Set
	Steps []system.Step // of the parent and the members, in their order
	apply func(context.Context) error
}

// Count is how many objects would be written.
func (m *Change) Count() int {
	n := 0
	for _, s := range m.Steps {
		if s.Change != system.Nothing && s.Change != system.NotAMember {
			n++
		}
	}
	return n
}

// Apply writes it to the cluster.
func (m *Change) Apply(ctx context.Context) error { return m.apply(ctx) }

// prepare checks the permissions, except for a dry run that asks no server.
func (m *Change) prepare(ctx context.Context, in *app.Input, c *Cluster, dryRun string) error {
	switch dryRun {
	case "client":
		return nil
	case "server":
		c.dry = []string{metav1.DryRunAll}
	}
	var needed []permission.Permission
	ref := m.Set.Ref()
	for _, s := range m.Steps {
		switch s.Change {
		case system.Delete:
			needed = append(needed, permission.Permission{Verb: "delete", Resource: "configmaps", Namespace: ref.Namespace, Name: ref.Name})
		case system.Create, system.Update:
			needed = append(needed, permission.Permission{Verb: "patch", Resource: "configmaps", Namespace: ref.Namespace, Name: ref.Name})
			if s.Change == system.Create {
				needed = append(needed, permission.Permission{Verb: "create", Resource: "configmaps", Namespace: ref.Namespace})
			}
		case system.AddLabel, system.RemoveLabel:
			if kind, ok := c.Kinds.Kind(s.Object.Ref.GroupKind()); ok {
				needed = append(needed, permission.Permission{Verb: "patch", Group: kind.Group, Resource: kind.Plural, Namespace: s.Object.Ref.Namespace, Name: s.Object.Ref.Name})
			}
		}
	}
	return RequirePermissions(ctx, in, c.Config, m.Set.Name, needed)
}

// AdoptedParent is a parent as it was read; zero where there is none.
type AdoptedParent struct {
	uid     apitypes.UID
	version string
}

// adoption reads what exists, and plans.
func (c *Cluster) adoption(ctx context.Context, s *system.System, text string) (system.Adoption, AdoptedParent, error) {
	var a system.Adoption
	var before AdoptedParent
	if i := slices.IndexFunc(s.Apps, func(a system.App) bool { return a.BringsSecret() }); i >= 0 {
		return a, before, hint.With(fmt.Errorf("app %s includes a Secret: the manifest is stored in a ConfigMap, which more users may read", s.Apps[i].Name), "name the Secret among its roots instead")
	}
	roots, err := c.rootsOf(ctx, s)
	if err != nil {
		return a, before, err
	}
	refs := make([]object.Ref, 0, len(roots))
	for _, r := range roots {
		refs = append(refs, r.Ref)
	}
	want := system.NewSet(s.Name, s.Namespace, text, refs)
	o, found, err := c.Parent(ctx, s.Namespace, s.Name)
	if err != nil {
		return a, before, err
	}
	var carriers []system.Member
	var was *system.Set
	if found {
		existing, err := system.ParseSet(o)
		if err != nil {
			return a, before, hint.With(fmt.Errorf("it is not managed by this tool: %w", err), "give the System another name")
		}
		was, before = &existing, AdoptedParent{o.GetUID(), o.GetResourceVersion()}
		if carriers, err = c.Carriers(ctx, want.With(existing)); err != nil {
			return a, before, err
		}
	}
	var errs []error
	if a, errs = system.Adopt(want, was, roots, carriers); len(errs) > 0 {
		return a, before, hint.With(linesOf(errs), "nothing was written")
	}
	if found && want.Matches(o, c.version) {
		a.Parent = system.Nothing
	}
	return a, before, nil
}

func linesOf(errs []error) error {
	lines := &hint.Lines{}
	for _, err := range errs {
		lines.Lines = append(lines.Lines, err.Error())
	}
	return lines
}

// rootsOf finds the roots of all apps, in the order of the manifest. Missing roots are one error
// that names all of them.
func (c *Cluster) rootsOf(ctx context.Context, s *system.System) ([]system.Member, error) {
	type root struct {
		app  string
		root system.Root
		at   int
	}
	var all []root
	for _, a := range s.Apps {
		for _, r := range a.Roots {
			all = append(all, root{a.Name, r, len(all)})
		}
	}
	found := make([]system.Member, len(all))
	errs := each(all, func(r root) error {
		ref, err := c.RefOf(s, r.root)
		if err == nil {
			found[r.at], err = c.Find(ctx, ref)
		}
		if apierrors.IsNotFound(err) {
			err = errors.New("it does not exist")
		}
		if err != nil {
			return fmt.Errorf("%s:%d: app %s: root %s%s: %w", s.Origin, r.root.Line, r.app, r.root, inNamespace(ref.Namespace), err)
		}
		return nil
	})
	if len(errs) > 0 {
		return nil, hint.With(linesOf(errs), "nothing was written; a System is adopted when all of its roots exist")
	}
	return found, nil
}

// adopt does what was planned: the parent with the kinds and namespaces of before and after,
// the labels, the parent as it stays.
func (c *Cluster) adopt(ctx context.Context, a system.Adoption, before AdoptedParent) error {
	if a.Parent != system.Nothing {
		o, err := c.apply(ctx, a.Wide, before)
		if err != nil {
			return err
		}
		before = AdoptedParent{o.GetUID(), o.GetResourceVersion()}
	}
	if err := c.Marks(ctx, a.Members, a.Set.ID()); err != nil {
		return err
	}
	if slices.Equal(a.Wide.Kinds, a.Set.Kinds) && slices.Equal(a.Wide.Namespaces, a.Set.Namespaces) {
		return nil
	}
	_, err := c.apply(ctx, a.Set, before)
	return err
}

// Marks does what is planned of members.
func (c *Cluster) Marks(ctx context.Context, steps []system.Step, id string) error {
	errs := each(steps, func(m system.Step) error {
		if m.Change != system.AddLabel && m.Change != system.RemoveLabel {
			return nil
		}
		return c.mark(ctx, m.Object, id, m.Change == system.AddLabel)
	})
	if len(errs) > 0 {
		return hint.With(linesOf(errs), "run it again to resume")
	}
	return nil
}
