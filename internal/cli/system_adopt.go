package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// keepingOptions are those of what makes a System known, and takes that back.
type keepingOptions struct {
	*common
	yes    bool
	dryRun string
}

func (o *keepingOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.dryRun, "dry-run", "none", "none, client (show what would change) or server (dry run on the API server; nothing is stored)")
	must(cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *keepingOptions) validate() error {
	if err := o.common.validate(); err != nil {
		return err
	}
	if o.AllNamespaces {
		return errors.New("-A: a System is in one namespace")
	}
	var err error
	if o.dryRun, err = oneOf("--dry-run", o.dryRun, dryRuns); err != nil {
		return err
	}
	if !o.yes && o.dryRun == "none" && o.From == "" {
		return o.env.canAsk("labels and a ConfigMap would be written")
	}
	return nil
}

// agree shows what is to be done, and says whether it is to be done now.
func (o *keepingOptions) agree(ctx context.Context, c view.SystemChange, changes int) (bool, error) {
	if err := o.write(view.SystemChanges(c)); err != nil || changes == 0 || o.dryRun == "client" {
		return false, err
	}
	if o.yes || o.dryRun == "server" {
		return true, nil
	}
	return o.env.ask(ctx, fmt.Sprintf("%s of namespace %s: %s of the cluster would change. Do it?", c.System, c.Namespace, plural(changes, "object")))
}

type adoptOptions struct {
	keepingOptions
	file string
}

func newSystemAdopt(env Env) *cobra.Command {
	o := &adoptOptions{keepingOptions: keepingOptions{common: newCommon(env, "table", "json", "yaml", "name")}}
	cmd := &cobra.Command{
		Use:   "adopt -f FILE",
		Short: "Adopt a System in the cluster, so that system/NAME is a root",
		Long: `Make the System of a manifest known in the cluster. Nothing of its applications changes
but a label: the roots that the manifest names become the members of an ApplySet (label
applyset.kubernetes.io/part-of), as kubectl apply --prune --applyset uses it, and the
ConfigMap sysop-NAME in the System's namespace becomes its parent, which stores the
manifest. From then on system/NAME is a ROOT for every command.

The changes are shown first, and have to be confirmed. Every root must exist, and be in
no other ApplySet; all permissions are checked before the first write. Run it again,
with the same manifest or with another, to update the set: objects that the manifest no
longer names lose the label. If it was interrupted, run it again.

kubectl sysop system release NAME undoes all of it.`,
		Example: `  # what would change?
  kubectl sysop system adopt -f shop.yaml --dry-run=client

  # have the API server try it
  kubectl sysop system adopt -f shop.yaml --dry-run=server

  # do it, without being asked
  kubectl sysop system adopt -f shop.yaml --yes`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.flags(cmd)
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", `the manifest: FILE or "-"`)
	return cmd
}

func (o *adoptOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.file == "" {
		return hint.With(errors.New("name the manifest: -f FILE"), "kubectl sysop system init writes one")
	}
	c, err := o.systems(ctx)
	if err != nil {
		return err
	}
	s, text, err := o.readSystemText(ctx, o.file)
	if err != nil {
		return err
	}
	if err := placeSystem(s, c.namespace, app.Given(o.Config.Namespace)); err != nil {
		return err
	}
	a, before, err := c.adoption(ctx, s, text)
	if err != nil {
		return err
	}
	if o.dryRun != "client" {
		if err := o.demand(ctx, c.config, s.Name, a.permissions(c.kinds)); err != nil {
			return err
		}
	}
	change := o.shown(s, a)
	goOn, err := o.agree(ctx, change, a.changes())
	switch {
	case err != nil:
		return err
	case a.changes() == 0:
		fmt.Fprintf(o.env.ErrOut, "%s is up to date: nothing to do\n", safe(s.Name))
	case goOn:
		if o.dryRun == "server" {
			c.dry = []string{"All"}
		}
		if err := c.adopt(ctx, a, before); err != nil {
			return err
		}
		o.tell(s, "is adopted: system/"+s.Name+" is a root")
	}
	return nil
}

func (o *keepingOptions) tell(s *system.System, subject string) {
	if o.dryRun == "server" {
		subject = "passed the dry run of the API server: nothing was stored"
	}
	fmt.Fprintf(o.env.ErrOut, "%s %s\n", safe(s.Name), safe(subject))
}

func (o *adoptOptions) shown(s *system.System, a adoptionPlan) view.SystemChange {
	change := view.SystemChange{System: s.Name, Namespace: s.Namespace, Action: "adopt", Set: a.Set.ID(), DryRun: o.dryRun}
	change.Steps = append(change.Steps, view.SystemStep{Object: a.Set.Ref(), Change: string(a.Parent), Why: "it stores the manifest, and names the members"})
	for _, m := range a.Members {
		change.Steps = append(change.Steps, view.SystemStep{Object: m.Object.Ref, Change: string(m.Change), Why: m.Why})
	}
	return change
}

// readSystemText reads a manifest, and returns its text as well. Any problem refuses all.
func (c *common) readSystemText(ctx context.Context, file string) (*system.System, string, error) {
	text, err := c.systemText(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "", fmt.Errorf("read the manifest: %w", err)
	}
	s, problems := system.Parse(systemName(file), text)
	if len(problems) > 0 {
		return nil, "", hint.With(&hint.Lines{Lines: hint.Placed(systemName(file), problems)}, systemHint)
	}
	return s, string(text), nil
}

// placeSystem gives a System that names no namespace that of the user.
func placeSystem(s *system.System, namespace string, named bool) error {
	if named && s.Namespace != "" && s.Namespace != namespace {
		return fmt.Errorf("-n %s: the manifest says that the System is in namespace %s", namespace, s.Namespace)
	}
	s.Namespace = cmp.Or(s.Namespace, namespace)
	return nil
}

// adoptionPlan is a plan with what it was made from.
type adoptionPlan struct {
	system.Adoption
	was *system.Set
}

// adoptedParent is a parent as it was read; zero where there is none.
type adoptedParent struct {
	uid     apitypes.UID
	version string
}

// adoption reads what there is, and plans.
func (c *systemCluster) adoption(ctx context.Context, s *system.System, text string) (adoptionPlan, adoptedParent, error) {
	if i := slices.IndexFunc(s.Apps, bringsSecrets); i >= 0 {
		return adoptionPlan{}, adoptedParent{}, hint.With(fmt.Errorf("app %s includes a Secret: the manifest is stored in a ConfigMap, which more users may read", s.Apps[i].Name), "name the Secret among its roots instead")
	}
	roots, err := c.rootsOf(ctx, s)
	if err != nil {
		return adoptionPlan{}, adoptedParent{}, err
	}
	refs := make([]object.Ref, 0, len(roots))
	for _, r := range roots {
		refs = append(refs, r.Ref)
	}
	want := system.NewSet(s.Name, s.Namespace, text, refs)
	var a adoptionPlan
	var before adoptedParent
	o, found, err := c.parent(ctx, s.Namespace, s.Name)
	if err != nil {
		return a, before, err
	}
	var carriers []system.Member
	if found {
		was, err := system.ParseSet(o)
		if err != nil {
			return a, before, hint.With(fmt.Errorf("it is not managed by this tool: %w", err), "give the System another name")
		}
		a.was, before = &was, adoptedParent{o.GetUID(), o.GetResourceVersion()}
		if carriers, err = c.carriers(ctx, want.With(was)); err != nil {
			return a, before, err
		}
	}
	var errs []error
	if a.Adoption, errs = system.Adopt(want, a.was, roots, carriers); len(errs) > 0 {
		return a, before, hint.With(linesOf(errs), "nothing was written")
	}
	if found && want.Matches(o, buildVersion()) {
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

func bringsSecrets(a system.App) bool {
	for _, o := range a.Resources {
		if o.GetKind() == "Secret" && o.GroupVersionKind().Group == "" {
			return true
		}
	}
	return false
}

// rootsOf finds the roots of all apps, in the order of the manifest. Missing roots are one error
// that names all of them.
func (c *systemCluster) rootsOf(ctx context.Context, s *system.System) ([]system.Member, error) {
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
		ref, err := c.refOf(s, r.root)
		if err == nil {
			found[r.at], err = c.find(ctx, ref)
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

// changes is how many objects are to be written.
func (a *adoptionPlan) changes() int {
	n := 0
	if a.Parent != system.Nothing {
		n++
	}
	for _, m := range a.Members {
		if m.Change == system.AddLabel || m.Change == system.RemoveLabel {
			n++
		}
	}
	return n
}

// permissions are the permissions that an adoption needs.
func (a *adoptionPlan) permissions(kinds *object.Kinds) []regulate.Permission {
	var out []regulate.Permission
	if ref := a.Set.Ref(); a.Parent != system.Nothing {
		out = append(out, regulate.Permission{Verb: "patch", Resource: "configmaps", Namespace: ref.Namespace, Name: ref.Name})
		if a.Parent == system.Create {
			out = append(out, regulate.Permission{Verb: "create", Resource: "configmaps", Namespace: ref.Namespace})
		}
	}
	return append(out, rightsOf(a.Members, kinds)...)
}

// rightsOf are those that the changes of members take.
func rightsOf(steps []system.Step, kinds *object.Kinds) []regulate.Permission {
	var out []regulate.Permission
	for _, m := range steps {
		if kind, ok := kinds.Kind(m.Object.Ref.GroupKind()); ok && (m.Change == system.AddLabel || m.Change == system.RemoveLabel) {
			out = append(out, regulate.Permission{Verb: "patch", Group: kind.Group, Resource: kind.Plural, Namespace: m.Object.Ref.Namespace, Name: m.Object.Ref.Name})
		}
	}
	return out
}

// adopt does what was planned: the parent with the kinds and namespaces of before and after,
// the labels, the parent as it stays.
func (c *systemCluster) adopt(ctx context.Context, a adoptionPlan, before adoptedParent) error {
	if a.Parent != system.Nothing {
		o, err := c.apply(ctx, a.Wide, before)
		if err != nil {
			return err
		}
		before = adoptedParent{o.GetUID(), o.GetResourceVersion()}
	}
	if err := c.marks(ctx, a.Members, a.Set.ID()); err != nil {
		return err
	}
	if slices.Equal(a.Wide.Kinds, a.Set.Kinds) && slices.Equal(a.Wide.Namespaces, a.Set.Namespaces) {
		return nil
	}
	_, err := c.apply(ctx, a.Set, before)
	return err
}

// marks does what is planned of members.
func (c *systemCluster) marks(ctx context.Context, steps []system.Step, id string) error {
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
