package regulator

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

// unknownFor is how long an app may be Unknown, without progress, before the wait ends.
const unknownFor = 10 * time.Second

// errTooLong is the cause of a context that ended by its timeout.
var errTooLong = errors.New("it takes too long")

// RestoredApps returns the names of the apps with restored objects.
func RestoredApps(out *regulate.Outcome) []string {
	var apps []string
	if out == nil {
		return nil
	}
	for _, r := range out.Restored {
		if !slices.Contains(apps, r.App) {
			apps = append(apps, r.App)
		}
	}
	slices.Sort(apps)
	return apps
}

// Inspect waits until the apps of restored objects are Healthy. It returns the unhealthy ones with
// the commands that help, and deletes pods that a StatefulSet among the objects waits for. It
// returns nil if nothing was restored, and the error of ctx if that ended.
func (b *Session) Inspect(ctx context.Context, out *regulate.Outcome, timeout time.Duration) (*restored.Report, error) {
	apps := RestoredApps(out)
	if len(apps) == 0 {
		return nil, nil //nolint:nilnil // nothing to say is no error
	}
	var refs []object.Ref
	for _, r := range out.Restored {
		if r.Template {
			refs = append(refs, r.Object)
		}
	}
	i, err := b.inspector()
	if err != nil {
		return nil, err
	}
	recovered := newRecovered(out)
	i.Gate = func(ctx context.Context, _ []object.Ref, timeout time.Duration) error {
		return b.waitForApps(ctx, apps, recovered, timeout)
	}
	report, err := i.Inspect(ctx, refs, timeout)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if !report.Healthy {
		for _, name := range apps {
			if state, ok := b.State.App(name); ok && !recovered.isHealthy(b, state) {
				report.Help = append(report.Help, b.helpCommand(state))
			}
		}
	}
	return &report, nil
}

// inspector inspects objects of the cluster of the System.
func (b *Session) inspector() (*restored.Inspector, error) {
	objects, err := install.NewObjects(b.Config)
	if err != nil {
		return nil, err
	}
	return &restored.Inspector{Objects: install.InspectedObjects(objects), Note: b.In.Report.Note}, nil
}

// waitForApps waits until apps are Healthy, or returns which are not.
func (b *Session) waitForApps(ctx context.Context, apps []string, recovered recovered, timeout time.Duration) error {
	limited, stop := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer stop()
	w := b.NewWatcher(ApplyRequest{})
	w.readOnly = true
	began := b.In.Now()
	var bad []string
	err := w.Run(limited, func(*regulate.Plan) bool {
		bad = bad[:0]
		moving := false
		for _, name := range apps {
			state, ok := b.State.App(name)
			if !ok {
				bad = append(bad, name+" is no longer in the manifest: its health is unknown")
				continue
			}
			if recovered.isHealthy(b, state) {
				continue
			}
			moving = moving || state.Rollout != "" || state.Health != health.Unknown
			bad = append(bad, stateText(state))
		}
		return len(bad) == 0 || !moving && b.In.Now().Sub(began) >= unknownFor
	})
	switch {
	case err != nil && !errors.Is(context.Cause(limited), errTooLong):
		return err
	case len(bad) > 0:
		return errors.New(strings.Join(bad, "; "))
	case err != nil:
		return fmt.Errorf("its health was not read within %s", timeout)
	}
	return nil
}

// recovered has the apps that were recovered, and whether each was Suspended before it was held.
type recovered map[string]bool

func newRecovered(out *regulate.Outcome) recovered {
	l := recovered{}
	for _, r := range out.Restored {
		l[r.App] = l[r.App] || r.Suspended
	}
	return l
}

// isHealthy reports whether a recovered app is as it should be: one that is Suspended was so
// before, or is still held by something else.
func (l recovered) isHealthy(b *Session, state *regulate.AppState) bool {
	return isHealthy(state) && (state.Health != health.Suspended || l[state.Name] || b.Journal.Holding(state.Name))
}

// isHealthy reports whether an app is Healthy, or was suspended, with nothing being rolled out.
func isHealthy(state *regulate.AppState) bool {
	return state.Rollout == "" && (state.Health == health.Healthy || state.Health == health.Suspended)
}

// stateText describes an app that is not Healthy.
func stateText(state *regulate.AppState) string {
	if state.Rollout != "" && (state.Health == health.Healthy || state.Health == health.Suspended) {
		return fmt.Sprintf("%s is being rolled out: %s", state.Name, state.Rollout)
	}
	text := fmt.Sprintf("%s is %s", state.Name, state.Health)
	if state.Message != "" {
		text += ": " + state.Message
	}
	return text
}

// helpCommand returns the command that shows more of an app.
func (b *Session) helpCommand(state *regulate.AppState) string {
	if len(state.Roots) == 0 {
		return "kubectl sysop regulate status " + b.System.Name
	}
	root := state.Roots[0]
	text := fmt.Sprintf("kubectl sysop health %s/%s", strings.ToLower(root.Kind), root.Name)
	if root.Namespace != "" {
		text += " -n " + root.Namespace
	}
	return text
}

// stuckPods returns the commands that delete what StatefulSets of an app wait for.
func (b *Session) stuckPods(ctx context.Context, name string) []string {
	state, ok := b.State.App(name)
	if !ok || b.Config == nil {
		return nil
	}
	i, err := b.inspector()
	if err != nil {
		return nil
	}
	var out []string
	for _, pod := range i.Stuck(ctx, state.Roots) {
		out = append(out, fmt.Sprintf("kubectl delete pod %s -n %s", pod.Name, pod.Namespace))
	}
	return out
}
