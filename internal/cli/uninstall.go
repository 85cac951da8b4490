package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type uninstallOptions struct {
	*installOptions
	orphan bool
}

func newUninstall(env Env) *cobra.Command {
	o := &uninstallOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Uninstall an operator or a System; data is kept unless you ask to delete it",
		Long: `Uninstall an operator or the apps of a System. It is refused while other operators,
Systems or custom resources need it. CRDs stay unless you ask:

  --delete-crds    delete them, if no custom resource of them is left in any namespace
  --delete-data    delete the custom resources too, with their data
  --orphan         leave the custom resources without their operator, and ignore
                   requirements of installations in namespaces that no catalog names

Custom resources, claims and CRDs that will be deleted are listed. To confirm, type the
name of what you uninstall, or pass --delete-data=NAME; --yes is not enough.

Custom resources are deleted first, while their operator still runs; then the operator;
CRDs last. A stuck finalizer is named. The operators of a System stay, since others may
need them.`,
		Example: `  # what would be deleted?
  kubectl sysop uninstall cert-manager --dry-run=client

  # with its CRDs, if no custom resource is left
  kubectl sysop uninstall cert-manager --delete-crds --delete-data=cert-manager --yes`,
		Args:              exactly(1, "the NAME of an operator, or of a System"),
		ValidArgsFunction: o.completeInstalled,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.deleteDefinitions, "delete-crds", false, "delete the CRDs if no custom resource of them is left in any namespace")
	f.BoolVar(&o.orphan, "orphan", false, "leave custom resources without their operator")
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.named(name); err != nil {
		return err
	}
	c, err := o.installCluster(ctx)
	if err != nil {
		return err
	}
	f, err := o.find(ctx, c, name)
	if err != nil {
		return err
	}
	f, died, err := o.settle(ctx, c, f, name)
	if err != nil {
		return err
	}
	planned, state, err := o.plan(ctx, c, f)
	if err != nil {
		return err
	}
	open, err := o.openRun(ctx, c, f, died, planned.Fingerprint)
	if err != nil {
		return err
	}
	p := &installPlan{o: o.installOptions, cluster: c, of: f.of, state: state, planned: planned}
	if o.printRBAC {
		return p.role(open)
	}
	decide := func() (bool, error) { return o.agree(ctx, f, p, open) }
	if open != nil && o.dryRun == "none" {
		if goOn, err := open.agree(ctx, p, decide); err != nil || !goOn {
			return err
		}
		if f, err = o.recovered(ctx, open, name); err != nil {
			return err
		}
		if p.planned, p.state, err = o.plan(ctx, c, f); err != nil { // over what is there now
			return err
		}
	}
	goOn := open.covers(p.planned)
	if !goOn {
		if err := p.review(ctx); err != nil {
			return err
		}
		if goOn, err = decide(); err != nil {
			return err
		}
	}
	switch {
	case goOn:
		return o.do(ctx, c, f, p.planned)
	case len(p.planned.Steps) == 0 && o.dryRun == "none" && wasUninstalled(f.journal): // It was killed just before.
		return o.forget(ctx, c, f.of)
	}
	return nil
}

// wasUninstalled says that the last run on an installation removed it whole. One that has nothing to
// remove, such as a System of roots alone, is not meant.
func wasUninstalled(j *install.Journal) bool {
	if len(j.Runs) == 0 {
		return false
	}
	last := j.Runs[len(j.Runs)-1]
	return last.Action == install.Uninstall && last.Result == install.ResultDone
}

// recovered ends, or sorts out, the run that was not ended, and finds what is there then.
func (o *installOptions) recovered(ctx context.Context, open *recovering, name string) (*foundInstallation, error) {
	if _, _, err := open.end(ctx); err != nil {
		return nil, err
	}
	f, err := o.find(ctx, open.cluster, name)
	if err != nil {
		return nil, err
	}
	o.wire(f.runner, open.cluster)
	return f, nil
}

// do takes away what was planned. A System is known until all of it is gone: where that fails, and
// is undone, it is as it was.
func (o *uninstallOptions) do(ctx context.Context, c *installCluster, f *foundInstallation, planned *install.Plan) error {
	report, err := f.runner.Do(ctx, planned, o.runOptions(c))
	if err == nil {
		err = o.forget(ctx, c, f.of)
	} else {
		o.remember(ctx, c, f.runner, f.of, report)
	}
	return o.finish(f.of, report, err)
}

func (o *installOptions) runOptions(c *installCluster) install.Options {
	return install.Options{KeepFailed: o.keepFailed, NoWait: o.noWait, TakeOwnership: o.takeOwnership, ForceConflicts: o.takeOwnership, Kubernetes: c.kubernetes, APIs: c.apis(), Timeout: o.timeout, StatusTimeout: max(o.timeout, undoing), Look: min(o.timeout, undoing)}
}

// plan says what goes.
func (o *uninstallOptions) plan(ctx context.Context, c *installCluster, f *foundInstallation) (*install.Plan, install.State, error) {
	parts := f.parts()
	state, err := install.ReadState(ctx, c.reader, install.StateRequest{Installation: f.of, Action: install.Uninstall, Parts: parts, Kinds: c.kinds, Before: f.last()})
	if err != nil {
		return nil, state, err
	}
	data := o.confirmed != "" && !o.orphan // With --orphan it is about what goes with the release.
	m := install.PlanOptions{
		Timeout: o.timeout, DeleteDefinitions: o.deleteDefinitions || data, DeleteData: data, Orphan: o.orphan, TakeOwnership: o.takeOwnership,
		Arguments: digestOf(struct{ Orphan bool }{o.orphan}),
	}
	if f.journal.Run != nil {
		m.Resume = f.journal.Run.ID
	}
	if f.of.System {
		m.Set = system.SetID(system.ParentRef(f.of.Namespace, f.of.Name))
	}
	planned := install.NewPlan(install.Uninstall, f.of, parts, state, m)
	planned.MadeOf(f.journal)
	planned.Needs = f.journal.NeedsWithout(parts)
	if !f.of.System {
		if err := o.dependants(ctx, c, planned, f, state); err != nil {
			return nil, state, err
		}
	} else {
		operatorsStay(planned, f)
	}
	return planned, state, nil
}

// dependants refuse that an operator goes that others need: packages, and Systems.
func (o *uninstallOptions) dependants(ctx context.Context, c *installCluster, planned *install.Plan, f *foundInstallation, state install.State) error {
	namespaces := []string{c.namespace, f.of.Namespace}
	for _, is := range f.there {
		namespaces = append(namespaces, is.namespace)
	}
	d, err := c.readDependants(ctx, f.cats, f.there, distinctTexts(namespaces))
	if err != nil {
		return err
	}
	all, err := d.needing(f.of.Name, f.is.marks.SystemNamespace+"/"+f.is.marks.System, state.Serves(f.of.Name), nil)
	if err != nil {
		return err
	}
	refuseDependants(planned, all, f.of.Name, "--orphan", o.orphan)
	d.refuseHidden(planned, f.of.Name, "--orphan", o.orphan)
	planned.Notes = append(planned.Notes, d.notes...)
	return nil
}

// operatorsStay tells which operators a System leaves behind.
func operatorsStay(planned *install.Plan, f *foundInstallation) {
	var stay []string
	for _, r := range f.last() {
		if !r.App {
			stay = append(stay, r.Part)
		}
	}
	if len(stay) > 0 {
		planned.Notes = append(planned.Notes, "its operators stay, since others may need them: "+strings.Join(stay, ", "))
	}
}

// agree shows what goes, and asks; open is the run that it continues, if there is one.
func (o *uninstallOptions) agree(ctx context.Context, f *foundInstallation, p *installPlan, open *recovering) (bool, error) {
	planned := p.planned
	if err := o.showPlan(planned, nil); err != nil {
		return false, err
	}
	if refused := refusalError(planned); refused != nil {
		return false, refused
	}
	if _, err := o.adoption(ctx, p.cluster, f.of); err != nil {
		return false, err
	}
	if len(planned.Steps) == 0 && f.journal.Run != nil && o.dryRun == "none" {
		return true, nil // The run that was killed had done all of it: it is closed.
	}
	if len(planned.Steps) == 0 {
		fmt.Fprintf(o.env.ErrOut, "%s: nothing is left to remove\n", safe(f.of.Name))
		return false, nil
	}
	return o.consent(ctx, f.of, planned, fmt.Sprintf("uninstall %s: %s. Do it?", f.of.Name, plural(len(planned.Steps), "step")), open.continuedLosses()...)
}
