package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func namespaceRef(name string) object.Ref { return object.Ref{Kind: "Namespace", Name: name} }

// newNamespace returns the namespace of the plan, or a plain one, with the annotation of the run.
func newNamespace(name, run string, s *Step) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName(name)
	if s != nil {
		for _, d := range s.Definitions {
			if d.GetKind() == "Namespace" && d.GetName() == name {
				o = d.DeepCopy()
			}
		}
	}
	annotate(o, RunAnnotation, run)
	return o
}

func annotate(o *unstructured.Unstructured, key, value string) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	o.SetAnnotations(a)
}

// makeNamespace creates the namespace of a step.
func (x *run) makeNamespace(ctx context.Context, s *Step, state *StepState) error {
	if len(state.Made) == 0 {
		return nil // it exists
	}
	_, err := x.Objects.Create(ctx, newNamespace(state.Namespace, x.j.Run.ID, s))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	current, err := x.Objects.Get(ctx, namespaceRef(state.Namespace))
	if err == nil && current.GetAnnotations()[RunAnnotation] != x.j.Run.ID {
		state.Made = nil // another client created it first, and owns it
	}
	return err
}

// ownNamespace creates the namespace of the installation if it is missing: it must exist before the
// lease and the journal in it. If the run is killed here, the annotation identifies the namespace
// to the next run.
func (x *run) ownNamespace(ctx context.Context) error {
	name := x.of.Namespace
	current, err := x.Objects.Get(ctx, namespaceRef(name))
	if apierrors.IsNotFound(err) {
		var step *Step
		for i, s := range x.p.Steps {
			if s.Kind == MakeNamespace && (s.Namespace == name || s.Namespace == "" && s.Release == name) {
				step = &x.p.Steps[i]
			}
		}
		o := newNamespace(name, x.id, step)
		annotate(o, InstallLabel, x.of.Name)
		current, err = x.Objects.Create(ctx, o)
		if err == nil {
			x.made, x.mark = true, x.id
			return nil
		}
		if apierrors.IsAlreadyExists(err) {
			current, err = x.Objects.Get(ctx, namespaceRef(name))
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("namespace %s: %w", name, err)
	case current.GetDeletionTimestamp() != nil:
		return fmt.Errorf("namespace %s is being deleted: wait until it is gone", name)
	case current.GetAnnotations()[InstallLabel] == x.of.Name:
		x.mark = current.GetAnnotations()[RunAnnotation]
	}
	return nil
}

// ownStep returns the step that created the namespace of the installation; nil if none did.
func (x *run) ownStep() *StepState {
	if x.j == nil || x.j.Run == nil {
		return nil
	}
	for i, s := range x.j.Run.Steps {
		if s.Kind == MakeNamespace && s.Namespace == x.of.Namespace && len(s.Made) > 0 && s.Phase != Undone {
			return &x.j.Run.Steps[i]
		}
	}
	return nil
}

// adoptNamespace records in the journal that this run created the namespace of the installation, or
// an earlier one that was killed before it had a journal.
func (x *run) adoptNamespace(ctx context.Context) error {
	if x.mark == "" || x.j.Version() != "" {
		return nil
	}
	name := x.of.Namespace
	if x.mark != x.j.Run.ID {
		current, err := x.Objects.Get(ctx, namespaceRef(name))
		if err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
		annotate(current, RunAnnotation, x.j.Run.ID)
		if _, err := x.Objects.Replace(ctx, current); err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	x.j.Run.Steps = append(x.j.Run.Steps, StepState{ID: "namespace/" + name, Kind: MakeNamespace, Namespace: name, Phase: Done, Made: []object.Ref{namespaceRef(name)}})
	return nil
}

// takeBackNamespace deletes the namespace of the installation if the run got no further.
func (x *run) takeBackNamespace(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	reason, err := x.deleteNamespace(ctx, x.of.Namespace, x.id)
	if err == nil && reason != "" {
		err = errors.New(reason)
	}
	if err != nil {
		return fmt.Errorf("namespace %s stays: %w", x.of.Namespace, err)
	}
	return nil
}

// undoNamespace deletes a namespace that the run created.
func (x *run) undoNamespace(ctx context.Context, s *StepState) (reason string, err error) {
	if len(s.Made) == 0 {
		return "", nil
	}
	for _, other := range x.j.Run.Steps {
		if other.Phase == NotUndone && other.Namespace == s.Namespace && other.ofRelease() {
			return "release " + other.Release + " stays in it", nil
		}
	}
	return x.deleteNamespace(ctx, s.Namespace, x.j.Run.ID)
}

func (x *run) deleteNamespace(ctx context.Context, name, run string) (reason string, err error) {
	ref := namespaceRef(name)
	current, err := x.Objects.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if current.GetAnnotations()[RunAnnotation] != run {
		return "it is not the one that this run created", nil
	}
	if current.GetDeletionTimestamp() == nil {
		list, err := x.Discovery.Contents(ctx, name)
		if err != nil {
			return "", err
		}
		if other := x.foreign(list); len(other) > 0 {
			return fmt.Sprintf("it has %d objects of others, such as %s", len(other), other[0]), nil
		}
		err = x.Objects.Delete(ctx, ref, Precondition{UID: string(current.GetUID())})
		if err != nil && !apierrors.IsNotFound(err) {
			return "", err
		}
	}
	if name == x.of.Namespace {
		x.gone = true
		ctx = x.stopOnly(ctx) // the deletion includes the lease, whose loss ends ctx
		if err := x.waitGone(ctx, []object.Ref{ref}, x.o.statusTimeout(0)); ctx.Err() == nil {
			return "", err
		}
		return "", nil // the deletion continues without the wait
	}
	return "", x.waitGone(ctx, []object.Ref{ref}, x.o.statusTimeout(0))
}

// foreign returns the objects that neither the run, nor its programs, nor Kubernetes created.
func (x *run) foreign(list []unstructured.Unstructured) (out []object.Ref) {
	for i := range list {
		o := &list[i]
		if o.GetDeletionTimestamp() != nil || len(o.GetOwnerReferences()) > 0 || x.ours(o) {
			continue
		}
		out = append(out, object.RefOf(o))
	}
	slices.SortFunc(out, object.Compare)
	return out
}

func (x *run) ours(o *unstructured.Unstructured) bool {
	switch {
	case o.GetKind() == "ConfigMap" && o.GetName() == "kube-root-ca.crt", o.GetKind() == "ServiceAccount" && o.GetName() == "default":
		return true
	case o.GetLabels()[managedLabel] == managedBy && o.GetLabels()[InstallLabel] == x.of.Name:
		return true
	case o.GetKind() == "Lease" && o.GetName() == JournalName(x.of.Name):
		return true
	}
	if x.j == nil || x.j.Run == nil || len(o.GetManagedFields()) == 0 {
		return false
	}
	if labels := o.GetLabels(); o.GetKind() == "Secret" && labels["owner"] == "helm" && labels[helm.RunLabel] == x.j.Run.ID {
		return true // the record of what was undone
	}
	programs := x.j.Run.Writers
	if x.loaded {
		programs = x.programs
		if x.p != nil {
			programs = writers(x.p.Parts, programs)
		}
	}
	for _, m := range o.GetManagedFields() {
		if m.Subresource == "" && !programOf(m.Manager, programs) {
			return false
		}
	}
	return true
}

// kubernetesWriters returns the field managers of Kubernetes itself.
func kubernetesWriters() []string {
	return []string{"kube-controller-manager", "kube-scheduler", "kube-apiserver", "kubelet", "cloud-controller-manager"}
}

// programOf reports whether a field manager is one of the programs. A manager is named after its
// binary, which is named like the container, the image or the workload, or a part of these names.
func programOf(manager string, programs []string) bool {
	m := plain(manager)
	for _, p := range slices.Concat(kubernetesWriters(), programs) {
		if p = plain(p); len(m) >= 4 && len(p) >= 4 && (strings.Contains(p, m) || strings.Contains(m, p)) {
			return true
		}
	}
	return false
}

// plain returns a name without separators.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. /", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// writers returns the names of programs of the parts and the known ones, sorted.
func writers(parts []*Part, known []string) []string {
	out := slices.Clone(known)
	for _, p := range parts {
		if p.Rendered == nil {
			continue
		}
		for _, o := range p.Rendered.Objects {
			out = append(out, programsOf(o)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func programsOf(o *unstructured.Unstructured) (out []string) {
	for _, path := range [][]string{{"spec", "template", "spec", "containers"}, {"spec", "containers"}} {
		list, ok, _ := unstructured.NestedSlice(o.Object, path...)
		if !ok {
			continue
		}
		out = append(out, o.GetName())
		for _, c := range list {
			c, _ := c.(map[string]any)
			name, _, _ := unstructured.NestedString(c, "name")
			image, _, _ := unstructured.NestedString(c, "image")
			image, _, _ = strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
			image, _, _ = strings.Cut(image, "@")
			for _, n := range []string{name, image} {
				// Objects that people write with kubectl are not ours, even if an image contains
				// kubectl.
				if n != "" && !strings.Contains(n, "kubectl") && n != "helm" {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// stopOnly returns a context that only a second interrupt ends.
func (x *run) stopOnly(ctx context.Context) context.Context {
	if x.o.Stop != nil {
		return x.o.Stop
	}
	return context.WithoutCancel(ctx)
}
