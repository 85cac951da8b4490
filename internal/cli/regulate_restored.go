package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const (
	// recoverTimeout is how long regulate recover waits until what it recovered is Healthy.
	recoverTimeout = time.Minute
	// glance is how long to wait without a request to wait; noLook does not wait.
	glance = 5 * time.Second
	noLook = -1
	// unknownFor is how long an app may be Unknown, without progress, before the wait ends.
	unknownFor = 10 * time.Second
	// whatWasLetGo is what reports are about.
	whatWasLetGo = "what recovered"
)

// lookAtRestored waits until the apps of restored objects are Healthy. It returns the unhealthy
// ones with the commands that help, and deletes pods that a StatefulSet among the objects waits
// for. It returns nil if nothing was restored, or the wait was interrupted.
func (o *applyOptions) lookAtRestored(ctx context.Context, b *systemSession, out *regulate.Outcome, timeout time.Duration) (*restored.Report, error) {
	if out == nil || len(out.Restored) == 0 || o.dryRun != "none" {
		return nil, nil //nolint:nilnil // nothing to say is no error
	}
	var apps []string
	var refs []object.Ref
	for _, r := range out.Restored {
		if !slices.Contains(apps, r.App) {
			apps = append(apps, r.App)
		}
		if r.Template {
			refs = append(refs, r.Object)
		}
	}
	slices.Sort(apps)
	i, err := o.inspector(b)
	if err != nil {
		return nil, err
	}
	freed := newLetGo(out)
	i.Gate = func(ctx context.Context, _ []object.Ref, timeout time.Duration) error {
		return o.waitForApps(ctx, b, apps, freed, timeout)
	}
	report, err := i.Inspect(ctx, refs, timeout)
	if ctx.Err() != nil {
		fmt.Fprintf(o.env.ErrOut, "interrupted: whether %s is Healthy is unknown; see kubectl sysop regulate status\n", whatWasLetGo)
		return nil, nil //nolint:nilnil // it was let go all the same
	}
	if err != nil {
		return nil, err
	}
	if !report.Healthy {
		for _, name := range apps {
			if app, ok := b.State.App(name); ok && !freed.isWell(b, app) {
				report.Help = append(report.Help, appHelp(b, app))
			}
		}
	}
	fmt.Fprintln(o.env.ErrOut, safe(report.Text(fmt.Sprintf("%s (%s)", whatWasLetGo, strings.Join(apps, ", ")))))
	return &report, nil
}

// inspector inspects objects of the cluster of a System.
func (o *applyOptions) inspector(b *systemSession) (*restored.Inspector, error) {
	objects, err := install.NewObjects(b.config)
	if err != nil {
		return nil, err
	}
	return &restored.Inspector{
		Objects: install.InspectedObjects(objects),
		Note:    func(text string) { fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(text)) },
	}, nil
}

// waitForApps waits until apps are Healthy, or says which are not.
func (o *applyOptions) waitForApps(ctx context.Context, b *systemSession, apps []string, freed letGo, timeout time.Duration) error {
	patience, stop := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer stop()
	w := newRegulateWatcher(o, b)
	w.idle = true
	began := o.env.Now()
	var bad []string
	err := w.run(patience, func(*regulate.Plan) bool {
		bad = bad[:0]
		moving := false
		for _, name := range apps {
			app, ok := b.State.App(name)
			if !ok {
				bad = append(bad, name+" is no longer in the manifest: its health is unknown")
				continue
			}
			if freed.isWell(b, app) {
				continue
			}
			moving = moving || app.Rollout != "" || app.Health != health.Unknown
			bad = append(bad, appText(app))
		}
		return len(bad) == 0 || !moving && o.env.Now().Sub(began) >= unknownFor
	})
	switch {
	case err != nil && !errors.Is(context.Cause(patience), errTooLong):
		return err
	case len(bad) > 0:
		return errors.New(strings.Join(bad, "; "))
	case err != nil:
		return fmt.Errorf("its health was not read within %s", timeout)
	}
	return nil
}

// letGo are the apps that were recovered, and whether each was Suspended before it was held.
type letGo map[string]bool

func newLetGo(out *regulate.Outcome) letGo {
	l := letGo{}
	for _, r := range out.Restored {
		l[r.App] = l[r.App] || r.Suspended
	}
	return l
}

// isWell says whether an app that was recovered is as it should be: one that is Suspended was so
// before, or something else holds it still.
func (l letGo) isWell(b *systemSession, app *regulate.AppState) bool {
	return isWell(app) && (app.Health != health.Suspended || l[app.Name] || b.journal.Holding(app.Name))
}

// isWell says whether an app is Healthy, or was suspended, with nothing being rolled out.
func isWell(app *regulate.AppState) bool {
	return app.Rollout == "" && (app.Health == health.Healthy || app.Health == health.Suspended)
}

// appText says how an app is that is not well.
func appText(app *regulate.AppState) string {
	text := fmt.Sprintf("%s is %s", app.Name, app.Health)
	if app.Rollout != "" && (app.Health == health.Healthy || app.Health == health.Suspended) {
		return fmt.Sprintf("%s is being rolled out: %s", app.Name, app.Rollout)
	}
	if app.Message != "" {
		text += ": " + app.Message
	}
	return text
}

// appHelp is the command that tells more of an app.
func appHelp(b *systemSession, app *regulate.AppState) string {
	if len(app.Roots) == 0 {
		return "kubectl sysop regulate status " + b.System.Name
	}
	root := app.Roots[0]
	text := fmt.Sprintf("kubectl sysop health %s/%s", strings.ToLower(root.Kind), root.Name)
	if root.Namespace != "" {
		text += " -n " + root.Namespace
	}
	return text
}

// stuckPods are the commands that delete what StatefulSets of an app wait for.
func (o *applyOptions) stuckPods(ctx context.Context, b *systemSession, app string) []string {
	state, ok := b.State.App(app)
	if !ok || b.config == nil {
		return nil
	}
	i, err := o.inspector(b)
	if err != nil {
		return nil
	}
	var out []string
	for _, pod := range i.Stuck(ctx, state.Roots) {
		out = append(out, fmt.Sprintf("kubectl delete pod %s -n %s", pod.Name, pod.Namespace))
	}
	return out
}
