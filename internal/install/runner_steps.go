package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"helm.sh/helm/v4/pkg/postrenderer"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prepare saves what undoing the step will need. It changes nothing else.
func (x *run) prepare(ctx context.Context, s *Step, state *StepState) error {
	switch s.Kind {
	case MakeNamespace:
		ref := namespaceRef(state.Namespace)
		_, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			state.Made = []object.Ref{ref}
			return nil
		}
		return err
	case ApplyDefinitions:
		return x.prepareDefinitions(ctx, s, state)
	case InstallRelease, UpgradeRelease, RollbackRelease:
		return x.prepareRelease(ctx, s, state)
	}
	return nil
}

// perform executes the step.
func (x *run) perform(ctx context.Context, s *Step, state *StepState) error {
	switch s.Kind {
	case MakeNamespace:
		return x.makeNamespace(ctx, s, state)
	case ApplyDefinitions:
		return x.applyDefinitions(ctx, s, state)
	case InstallRelease, UpgradeRelease:
		return x.putRelease(ctx, s, state)
	case RollbackRelease:
		err := x.Engine.Rollback(ctx, s.name(), s.To, helm.RevertOptions{Marks: x.marks(x.part(s.Part)), Timeout: s.Timeout, ForceConflicts: x.o.ForceConflicts})
		if err != nil {
			return err
		}
		return x.noteRevision(ctx, s, state)
	case RemoveRelease:
		return x.removeRelease(ctx, s)
	case Await:
		x.emitStep(journal.EventWaiting, *state, fmt.Sprintf("until %s healthy", counted(s.Objects)))
		return x.Gate(ctx, s.Objects, x.o.statusTimeout(s.Timeout))
	case DeleteObjects:
		return x.deleteObjects(ctx, s.Objects, x.o.statusTimeout(s.Timeout))
	case DeleteDefinitions:
		return x.deleteDefinitions(ctx, s.Objects, x.o.statusTimeout(s.Timeout))
	}
	return fmt.Errorf("unknown kind of step %q", s.Kind)
}

func counted(refs []object.Ref) string {
	if len(refs) == 1 {
		return refs[0].String() + " is"
	}
	return fmt.Sprintf("%d objects are", len(refs))
}

func (s *Step) name() helm.ReleaseName {
	return helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
}

func (x *run) part(name string) *Part {
	if x.p == nil {
		return nil
	}
	i := slices.IndexFunc(x.p.Parts, func(p *Part) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return x.p.Parts[i]
}

func (x *run) marks(p *Part) helm.RecordLabels {
	m := helm.RecordLabels{Run: x.j.Run.ID}
	if x.of.System {
		m.System, m.SystemNamespace = x.of.Name, x.of.Namespace
	} else {
		m.Installation, m.InstallationNamespace = x.of.Name, x.of.Namespace
	}
	if p != nil && !p.App {
		m.Package, m.Version = p.Name, p.Version
	}
	return m
}

// prepareRelease records the objects that Helm would not delete and that do not exist yet, and
// saves before-images of those that it will take over.
func (x *run) prepareRelease(ctx context.Context, s *Step, state *StepState) error {
	list, err := x.Engine.History(ctx, s.name())
	if err != nil {
		return err
	}
	objects, stay, hooks, err := x.objectsOf(s, list)
	if err != nil {
		return err
	}
	had := map[object.Ref]bool{}
	if i := slices.IndexFunc(list, func(v helm.Record) bool { return v.Revision == s.Was }); i >= 0 {
		for _, ref := range slices.Concat(list[i].Objects, list[i].Kept) {
			had[ref] = true
		}
	}
	for _, ref := range objects {
		if had[ref] {
			continue
		}
		current, err := x.Objects.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err):
			if slices.Contains(stay, ref) {
				state.Made = append(state.Made, ref)
			}
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		case x.o.TakeOwnership || ownedBy(current, s.name()):
			before, err := x.Store.SaveBefore(ctx, x.j.Run.ID, current)
			if err != nil {
				return err
			}
			state.Changed = append(state.Changed, before)
		}
	}
	for _, ref := range hooks {
		switch _, err := x.Objects.Get(ctx, ref); {
		case apierrors.IsNotFound(err):
			state.Made = append(state.Made, ref)
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		}
	}
	state.Claims, err = x.claimsBefore(ctx, x.bodiesOf(s, list), s.Namespace)
	return err
}

// bodiesOf returns the objects of the release that the step creates. It skips what it cannot read
// of a record, because Helm cannot restore that either.
func (x *run) bodiesOf(s *Step, list []helm.Record) []*unstructured.Unstructured {
	if p := x.part(s.Part); s.Kind != RollbackRelease && p != nil {
		return rendered(p).Objects
	}
	for _, v := range list {
		if v.Revision == s.To {
			objects, _ := helm.ObjectsIn(v.Manifest)
			return objects
		}
	}
	return nil
}

// objectsOf returns the objects of the release that the step creates, those of them that Helm keeps
// when it uninstalls, and those of its hooks.
func (x *run) objectsOf(s *Step, list []helm.Record) (objects, stay, hooks []object.Ref, err error) {
	events := map[StepKind][]string{
		InstallRelease: {"pre-install", "post-install"}, UpgradeRelease: {"pre-upgrade", "post-upgrade"}, RollbackRelease: {"pre-rollback", "post-rollback"},
	}[s.Kind]
	if s.Kind == RollbackRelease {
		i := slices.IndexFunc(list, func(v helm.Record) bool { return v.Revision == s.To })
		if i < 0 {
			return nil, nil, nil, fmt.Errorf("release %s has no revision %d to roll back to", s.name(), s.To)
		}
		for _, h := range list[i].Hooks {
			if overlap(h.Events, events) {
				hooks = append(hooks, h.Object)
			}
		}
		return slices.Concat(list[i].Objects, list[i].Kept), list[i].Kept, hooks, nil
	}
	p := x.part(s.Part)
	if p == nil || p.Chart == nil || p.Rendered == nil {
		return nil, nil, nil, fmt.Errorf("part %q of the plan has no chart", s.Part)
	}
	for _, o := range p.Rendered.Objects {
		objects = append(objects, object.RefOf(o))
		if strings.EqualFold(o.GetAnnotations()[helm.PolicyAnnotation], "keep") {
			stay = append(stay, object.RefOf(o))
		}
	}
	for _, h := range p.Rendered.Hooks {
		if overlap(h.Events, events) {
			hooks = append(hooks, object.RefOf(h.Object))
		}
	}
	return objects, stay, hooks, nil
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

const (
	releaseNameAnnotation      = "meta.helm.sh/release-name"
	releaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

func ownedBy(o *unstructured.Unstructured, r helm.ReleaseName) bool {
	a := o.GetAnnotations()
	return a[releaseNameAnnotation] == r.Name && a[releaseNamespaceAnnotation] == r.Namespace
}

// putRelease installs or upgrades a release, with the values of its connections.
func (x *run) putRelease(ctx context.Context, s *Step, state *StepState) error {
	p := x.part(s.Part)
	if p == nil || p.Chart == nil {
		return fmt.Errorf("part %q of the plan has no chart", s.Part)
	}
	var values []Resolved
	for _, c := range p.Connections {
		x.emitStep(journal.EventWaiting, *state, fmt.Sprintf("for %s of %s", c.Path, c.From))
		v, err := x.Resolve(ctx, c)
		if err != nil {
			return fmt.Errorf("connection %s of %s: %w", c.Path, c.From, err)
		}
		values = append(values, Resolved{Connection: c, Value: v})
	}
	var post postrenderer.PostRenderer
	switch {
	case x.o.PostRenderer != nil:
		var err error
		if post, err = x.o.PostRenderer(p, values); err != nil {
			return err
		}
	case len(values) > 0:
		return errors.New("its connections cannot be filled in: there is no renderer")
	}
	c := helm.ReleaseSpec{
		Release: s.name(), Chart: p.Chart, Values: p.Values, Timeout: s.Timeout, Kubernetes: x.o.Kubernetes, APIs: seenAPIs(p.APIs, x.o.APIs), PostRenderer: post,
		TakeOwnership: x.o.TakeOwnership, ForceConflicts: x.o.ForceConflicts, Lookup: x.o.Lookup, Marks: x.marks(p),
	}
	do := x.Engine.Install
	if s.Kind == UpgradeRelease {
		do = x.Engine.Upgrade
	}
	if err := do(ctx, c); err != nil {
		return err
	}
	return x.noteRevision(ctx, s, state)
}

// seenAPIs returns the API versions of the part, or those of the whole run.
func seenAPIs(part, all []string) []string {
	if part != nil {
		return part
	}
	return all
}

// noteRevision records the revision that a step created, and deletes the objects of the former one
// that Helm has skipped.
func (x *run) noteRevision(ctx context.Context, s *Step, state *StepState) error {
	list, err := x.Engine.History(ctx, s.name())
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("release %s: its record is gone", s.name())
	}
	if err != nil {
		return err
	}
	last := list[len(list)-1]
	state.Revision = last.Revision
	dropped, err := x.droppedObjects(ctx, list, s.Was, last)
	if err != nil {
		return err
	}
	return x.deleteDropped(ctx, dropped, x.o.statusTimeout(s.Timeout))
}

// removeRelease uninstalls a release, and keeps its records until the run is done, so that it can
// be restored.
func (x *run) removeRelease(ctx context.Context, s *Step) error {
	list, err := x.Engine.History(ctx, s.name())
	if err != nil || len(list) == 0 {
		return err
	}
	last := list[len(list)-1]
	gone, err := x.ownedOf(ctx, last)
	if err != nil {
		return err
	}
	if last.Status != helm.Uninstalled {
		if err := x.Engine.Uninstall(ctx, s.name(), helm.RevertOptions{Marks: x.marks(x.part(s.Part)), Timeout: s.Timeout, KeepHistory: true}); err != nil {
			return err
		}
	}
	return x.waitGone(ctx, gone, x.o.statusTimeout(s.Timeout))
}

// ownedOf returns the objects of a record that still belong to its release: Helm keeps the others.
func (x *run) ownedOf(ctx context.Context, v helm.Record) (out []object.Ref, err error) {
	for _, ref := range v.Objects {
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref, err)
		}
		if ownedBy(current, v.Release) {
			out = append(out, ref)
		}
	}
	return out, nil
}

// pollUntil calls look until it is done, and returns its error. A timeout wraps the last error of
// look.
func (x *run) pollUntil(ctx context.Context, timeout time.Duration, look func(context.Context) (done bool, err error)) error {
	end := time.NewTimer(timeout)
	defer end.Stop()
	tick := time.NewTicker(x.poll())
	defer tick.Stop()
	for {
		done, err := look(ctx)
		if done {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.C:
			if err == nil {
				err = errors.New("it took too long")
			}
			return fmt.Errorf("after %s: %w", timeout, err)
		case <-tick.C:
		}
	}
}
