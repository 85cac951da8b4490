package regulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	scaleSubresource  = "scale"
	statusSubresource = "status"
)

// suspendAction is the action of an operation that suspends the manager of a target.
const suspendAction = "suspend"

// operations returns the operations of a step, none of them started: first the managers, topmost
// first, then the actions of the app. An operation that is known to be impossible is an error
// here, before any write.
func (r *Runner) operations(step *Step, signal string, after bool) ([]*Operation, error) {
	var out []*Operation
	for i, m := range step.Managers {
		if !m.Reverts {
			continue
		}
		t, err := r.target(m.Ref)
		if err != nil {
			return nil, err
		}
		if _, err := r.signalOf(t, signals.PresetPause); err != nil {
			return nil, fmt.Errorf("%s reverts changes of the targets and must be suspended first: %w", m.Ref, err)
		}
		out = append(out, &Operation{Index: i - len(step.Managers), Action: suspendAction, Text: "suspended first", Target: t, State: Waiting})
	}
	for _, a := range step.Actions {
		if a.Refused != "" {
			return nil, fmt.Errorf("%s of %s: %s", a.Name, step.App, a.Refused)
		}
		act, err := r.action(step.App, signal, a.Index, a.Name)
		if err != nil {
			return nil, err
		}
		ops, err := r.operationsOf(step.App, act, a)
		if err != nil {
			return nil, err
		}
		out = append(out, ops...)
	}
	for _, o := range out {
		o.OnRecover = after
	}
	slices.SortStableFunc(out, func(x, y *Operation) int { return cmp.Compare(x.Index, y.Index) })
	return out, nil
}

func (r *Runner) operationsOf(app string, act *system.Action, a Resolved) ([]*Operation, error) {
	if err := r.allowed(app, act); err != nil {
		return nil, err
	}
	if isHook(act) {
		return []*Operation{{Index: a.Index, Action: a.Name, Text: hookText(act), State: Waiting}}, nil
	}
	var out []*Operation
	for _, ref := range a.Targets {
		t, err := r.target(ref)
		if err != nil {
			return nil, err
		}
		switch {
		case act.Scale != nil:
			t.Subresource = scaleSubresource
		case act.Patch != nil:
			t.Subresource = act.Patch.Subresource
		case act.Preset != "":
			s, ok := a.Signals[ref]
			if !ok {
				if s, err = r.signalOf(t, act.Preset); err != nil {
					return nil, err
				}
			}
			if s.Scale {
				t.Subresource = scaleSubresource
			}
		}
		out = append(out, &Operation{Index: a.Index, Action: a.Name, Target: t, State: Waiting})
	}
	return out, nil
}

// allowed refuses commands, inverses included, where commands are not allowed: an app that
// cannot be recovered must not be held.
func (r *Runner) allowed(app string, act *system.Action) error {
	if act.Inverse != nil && isHook(act) != isHook(act.Inverse) {
		return fmt.Errorf("%s of %s: its inverse is %s; the inverse of job, http or exec must be one of these, and that of an action that writes fields must write fields", act.Name(), app, act.Inverse.Name())
	}
	if r.AllowExec || act.Exec == nil && (act.Inverse == nil || act.Inverse.Exec == nil) {
		return nil
	}
	return fmt.Errorf("exec of %s: commands are not allowed (--allow-exec allows them)", app)
}

// target finds the resource of an object.
func (r *Runner) target(ref object.Ref) (Target, error) {
	res, ok := r.Kinds.Kind(ref.GroupKind())
	if !ok {
		return Target{}, fmt.Errorf("%s: the cluster serves no kind %s", ref, ref.GroupKind())
	}
	return Target{APIVersion: res.APIVersion(), Kind: res.Kind, Resource: res.Plural, Namespace: ref.Namespace, Name: ref.Name}, nil
}

func (t Target) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
}

// Ref is the identity of the object.
func (t Target) Ref() object.Ref {
	return object.Ref{Group: t.gvk().Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}

// bare is the object itself.
func (t Target) bare() Target {
	t.Subresource = ""
	return t
}

func (r *Runner) signalOf(t Target, preset string) (signals.Signal, error) {
	if r.Signals != nil {
		if s, ok := r.Signals.Of(t.gvk(), preset); ok {
			return s, nil
		}
	}
	return signals.Signal{}, fmt.Errorf("%s: no way is known to %s it; write a patch instead", t, preset)
}

// action finds an action of an app in the manifest. A signal without actions means the preset
// pause.
func (r *Runner) action(app, signal string, index int, name string) (*system.Action, error) {
	a, ok := r.System.App(app)
	if !ok {
		return nil, fmt.Errorf("the manifest no longer has app %s", app)
	}
	list := a.On[signal]
	if len(list) == 0 && name == "preset" {
		return &system.Action{Preset: signals.PresetPause}, nil
	}
	if index < 0 || index >= len(list) || list[index].Name() != name {
		return nil, fmt.Errorf("the manifest no longer has %s as action %d of %s on %s", name, index+1, app, signal)
	}
	return &list[index], nil
}

// isHook reports an action that does not write fields of objects.
func isHook(a *system.Action) bool { return a.Job != nil || a.HTTP != nil || a.Exec != nil }

func hookText(a *system.Action) string {
	switch {
	case a.HTTP != nil:
		return postText(a.HTTP)
	case a.Exec != nil:
		return programOf(a.Exec.Command)
	}
	return "a Job is run"
}

// textOf describes changes for people.
func textOf(changes []patch.Change) string { return changesText(changes, "removed") }

// changesText is textOf with a word for fields that are absent afterwards.
func changesText(changes []patch.Change, absent string) string {
	const most = 3
	var out []string
	for i, c := range changes {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(changes)-most))
			break
		}
		at := strings.Join(patch.Tokens(c.Path), ".")
		for field, word := range map[string]string{"annotations": "annotation", "labels": "label"} {
			if key, ok := strings.CutPrefix(at, "metadata."+field+"."); ok {
				at = word + " " + key
			}
		}
		if !c.ExistsAfter {
			out = append(out, at+" "+absent)
			continue
		}
		out = append(out, fmt.Sprintf("%s = %s", at, short(c.After)))
	}
	return strings.Join(out, ", ")
}
