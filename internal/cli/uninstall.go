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
	name   string
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
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.deleteDefinitions, "delete-crds", false, "delete the CRDs if no custom resource of them is left in any namespace")
	f.BoolVar(&o.orphan, "orphan", false, "leave custom resources without their operator")
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.named(o.name); err != nil {
		return err
	}
	return o.change(ctx, o)
}

// wasUninstalled says that the last run on an installation removed it whole. A System of roots alone
// has nothing to remove, and no such run.
func wasUninstalled(j *install.Journal) bool {
	if len(j.Runs) == 0 {
		return false
	}
	last := j.Runs[len(j.Runs)-1]
	return last.Action == install.Uninstall && last.Result == install.ResultDone
}

// apply removes what was planned. A System is known until all of it is gone: where that fails, and
// is undone, it is as it was.
func (o *uninstallOptions) apply(ctx context.Context, p *installPlan) error {
	report, err := p.do(ctx)
	if err == nil {
		err = o.forget(ctx, p.cluster, p.of)
	}
	return o.finish(p.of, report, err)
}

// propose makes the plan of the removal.
func (o *uninstallOptions) propose(ctx context.Context) (*installPlan, error) {
	p, err := o.installation(ctx, o.name)
	if err != nil {
		return nil, err
	}
	f := p.at
	parts := f.parts()
	p.state, err = install.ReadState(ctx, p.cluster.reader, install.StateRequest{Installation: p.of, Action: install.Uninstall, Parts: parts, Kinds: p.cluster.Kinds, Before: f.last()})
	if err != nil {
		return nil, err
	}
	data := o.confirmed != "" && !o.orphan // With --orphan it is about what goes with the release.
	m := install.PlanOptions{
		Timeout: o.timeout, DeleteDefinitions: o.deleteDefinitions || data, DeleteData: data, Orphan: o.orphan, TakeOwnership: o.takeOwnership,
		Arguments: digestOf(struct{ Orphan bool }{o.orphan}),
	}
	if p.journal.Run != nil {
		m.Resume = p.journal.Run.ID
	}
	if p.of.System {
		m.Set = system.SetID(system.ParentRef(p.of.Namespace, p.of.Name))
	}
	p.planned = install.NewPlan(install.Uninstall, p.of, parts, p.state, m)
	p.planned.MadeOf(p.journal)
	p.planned.Needs = p.journal.NeedsWithout(parts)
	if p.of.System {
		operatorsStay(p.planned, f)
		return p, nil
	}
	return p, o.dependants(ctx, p.cluster, p.planned, f, p.state)
}

// dependants refuse that an operator goes that others need: packages, and Systems.
func (o *uninstallOptions) dependants(ctx context.Context, c *installCluster, planned *install.Plan, f *foundInstallation, state install.State) error {
	namespaces := []string{c.Namespace, f.of.Namespace}
	for _, current := range f.there {
		namespaces = append(namespaces, current.namespace)
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

func (o *uninstallOptions) agree(ctx context.Context, p *installPlan, open *recovering) (bool, error) {
	planned := p.planned
	if err := o.showPlan(planned, nil); err != nil {
		return false, err
	}
	if refused := refusalError(planned); refused != nil {
		return false, refused
	}
	if _, err := o.adoption(ctx, p.cluster, p.of); err != nil {
		return false, err
	}
	if len(planned.Steps) > 0 {
		return o.consent(ctx, p.of, planned, fmt.Sprintf("uninstall %s: %s. Do it?", p.of.Name, plural(len(planned.Steps), "step")), open.continuedLosses()...)
	}
	if p.journal.Run != nil && o.dryRun == "none" {
		return true, nil // The run that was killed had done all of it: it is closed.
	}
	fmt.Fprintf(o.env.ErrOut, "%s: nothing is left to remove\n", safe(p.of.Name))
	if o.dryRun == "none" && wasUninstalled(p.journal) { // It was killed just before.
		return false, o.forget(ctx, p.cluster, p.of)
	}
	return false, nil
}
