package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func newInstall(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := &cobra.Command{
		Use:   "install OPERATOR[@VERSION]... | -f SYSTEM",
		Short: "Install operators or a whole System, all or nothing",
		Long: `Install operators of the catalog with their requirements, or the System of a manifest:
its operators, then its apps in dependency order, with values passed between them
(spec.connections). Each is a Helm release.

The plan is shown first and has to be confirmed. Permissions, the Kubernetes version,
objects of other managers, CRDs that cannot be upgraded and pods that would not start
are checked before the first write. If a step fails or is interrupted, everything is
undone in reverse. The next run resumes or undoes a run that was killed.

What cannot be undone is listed first: data that an operator changed, and objects stored
in a new version.`,
		Example: `  # what would be installed?
  kubectl sysop install cert-manager --dry-run=client

  # a version of an operator, with values
  kubectl sysop install cert-manager@1.21.2 --set replicaCount=2

  # a System, from a bundle, without a network
  kubectl sysop install -f shop.yaml --offline --bundle shop.tar`,
		ValidArgsFunction: o.completeInstallable(o.common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func newUpgrade(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Upgrade)
	cmd := &cobra.Command{
		Use:   "upgrade OPERATOR[@VERSION]... | -f SYSTEM",
		Short: "Upgrade operators or a whole System, all or nothing",
		Long: `Upgrade operators to the newest version of the catalog or the one you name, or a System
to its manifest: what it adds is installed, what it drops is removed (custom resources
and claims only with --delete-data). CRDs are upgraded if that is safe; else nothing is
done, and the field and version that block it are listed.

With spec.upgrade.regulate, dependents are held until what is upgraded is Healthy. If a
step fails, everything is rolled back.`,
		Example: `  # what would change?
  kubectl sysop diff cert-manager
  kubectl sysop upgrade cert-manager --dry-run=client

  # do it
  kubectl sysop upgrade cert-manager@1.21.2 --yes`,
		ValidArgsFunction: o.completeUpgrades,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func (o *installOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.change(ctx, o)
}

var errDeclined = errors.New("nothing was done")

func (o *installOptions) agree(ctx context.Context, p *installPlan, open *recovering) (bool, error) {
	if p.sys != nil && p.sys.Upgrade.Regulate {
		o.noteHeld(ctx, p.sys, p.planned)
	}
	if err := o.showPlan(p.planned, p.made.fetched); err != nil {
		return false, err
	}
	p.cats.tell(o.common)
	if refused := refusalError(p.planned); refused != nil {
		return false, refused
	}
	if len(p.planned.Steps) == 0 && p.journal.Run != nil && o.dryRun == "none" {
		return true, nil // The run that was killed had done all of it: it is closed.
	}
	if len(p.planned.Steps) == 0 {
		fmt.Fprintf(o.env.ErrOut, "%s is up to date: nothing to do\n", safe(p.of.Name))
		if p.sys == nil || o.dryRun != "none" {
			return false, nil
		}
		return false, p.adopt(ctx) // It may have been killed just before.
	}
	if o.dryRun == "server" {
		fmt.Fprintln(o.env.ErrOut, "the API server accepts all of it: nothing was stored")
	}
	return o.consent(ctx, p.of, p.planned, fmt.Sprintf("%s %s: %s. Do it?", o.action, p.of.Name, plural(len(p.planned.Steps), "step")), open.continuedLosses()...)
}

// showPlan writes a plan: for people with its notes.
func (o *installOptions) showPlan(planned *install.Plan, fetched map[string]string) error {
	fresh, rest := view.GrantLines(planned)
	o.lines(fresh) // in front of all, so that they are seen
	if o.human() || o.dryRun != "none" || len(planned.Refusals) > 0 {
		if err := o.write(view.InstallPlanned(view.InstallPlan{Plan: planned, DryRun: o.dryRun, Fetched: fetched})); err != nil {
			return err
		}
	}
	o.lines(view.ChangeLines(planned))
	o.lines(rest)
	for _, n := range planned.Notes {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(n))
	}
	return nil
}

// lines tells people of a plan, a line each: documents have it all themselves.
func (o *installOptions) lines(all []string) {
	if !o.human() {
		return
	}
	for _, line := range all {
		fmt.Fprintln(o.env.ErrOut, safe(line))
	}
}

// refusalError is why a plan is not done; nil where nothing stands against it.
func refusalError(planned *install.Plan) error {
	if len(planned.Refusals) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	var hints []string
	for _, r := range planned.Refusals {
		text := r.Message
		if r.Object != (object.Ref{}) && !strings.Contains(text, r.Object.Name) {
			text = r.Object.String() + ": " + text
		}
		if r.Part != "" && !strings.Contains(text, r.Part) {
			text = r.Part + ": " + text
		}
		lines.Lines = append(lines.Lines, text)
		if r.Hint != "" && !slices.Contains(hints, r.Hint) {
			hints = append(hints, r.Hint)
		}
	}
	lines.Lines = append(lines.Lines, "nothing was written")
	return hint.With(lines, strings.Join(hints, "\n"))
}

// apply does the plan, and makes the System known.
func (o *installOptions) apply(ctx context.Context, p *installPlan) error {
	if p.sys != nil && p.sys.Upgrade.Regulate {
		p.runner.Hold = o.holding(p.sys, p.of)
	}
	report, err := p.do(ctx)
	if err == nil && p.sys != nil {
		err = p.adopt(ctx)
	}
	if failed := o.finish(p.of, report, err); failed != nil {
		return failed
	}
	p.notes()
	return nil
}

// finish reports the result of a run.
func (o *installOptions) finish(installation install.Installation, report install.Report, err error) error {
	if report.Run != "" || err == nil {
		if !o.human() || len(report.Left()) > 0 {
			if wrong := o.write(view.InstallDone(installation, report)); wrong != nil {
				return errors.Join(err, wrong)
			}
		}
	}
	if hint := (*hint.Error)(nil); errors.As(err, &hint) {
		return err // it has a way out of its own
	}
	if err != nil {
		return hint.With(err, fmt.Sprintf("kubectl sysop history %s -n %s shows what was done", installation.Name, installation.Namespace))
	}
	if r := report.Restored; r != nil && !r.Healthy {
		return hint.With(fmt.Errorf("what was restored is not Healthy: %s", r.Message), strings.Join(r.Help, "; "))
	}
	if o.human() {
		fmt.Fprintf(o.env.ErrOut, "%s: %s\n", safe(installation.Name), map[install.Action]string{
			install.Install: "installed", install.Upgrade: "upgraded", install.Rollback: "rolled back", install.Uninstall: "uninstalled",
		}[o.action])
	}
	return nil
}

// notes are what charts say to who has installed them.
func (p *installPlan) notes() {
	if !p.o.env.Talk || !p.o.human() {
		return
	}
	for _, part := range p.planned.Parts {
		if part.Rendered != nil && strings.TrimSpace(part.Rendered.Notes) != "" && !slices.Contains(p.planned.Unchanged, part.Name) {
			fmt.Fprintf(p.o.env.ErrOut, "\nnotes of %s:\n%s\n", safe(part.Name), safeLines(strings.TrimSpace(part.Rendered.Notes)))
		}
	}
}

func safeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = safe(lines[i])
	}
	return strings.Join(lines, "\n")
}

// adopt makes an installed System known.
func (p *installPlan) adopt(ctx context.Context) error {
	p.o.forgetKinds()
	if err := systems.AdoptInstalled(ctx, &p.o.Input, p.sys, p.text); err != nil {
		return fmt.Errorf("all of %s is installed, but the System could not be adopted: %w", p.sys.Name, err)
	}
	return nil
}

// role writes the roles that the plan takes, and ending the run that is open, if there is one.
func (p *installPlan) role(open *recovering) error {
	var missing []string
	for _, s := range p.planned.Steps {
		if s.Kind == install.MakeNamespace {
			missing = append(missing, s.Namespace)
		}
	}
	rights := install.Permissions(p.planned, p.state, p.cluster.Kinds)
	if open != nil {
		rights = append(rights, install.RecoveryRights(p.of, open.plan, p.cluster.Kinds)...)
	}
	for _, r := range install.Role("sysop-install-"+p.of.Name, rights, missing...) {
		text, err := yaml.Marshal(r.Object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.o.env.Out, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}
