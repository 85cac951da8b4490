package installer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Diff compares the desired objects of an install or an upgrade, as a dry run of the API server
// returns them, with the live ones.
func (p *Plan) Diff(ctx context.Context) ([]diff.Difference, error) {
	if err := gapError(p.state.Gaps); err != nil {
		return nil, err // An object that may not be read would be shown as new.
	}
	client, err := dynamic.NewForConfig(p.config)
	if err != nil {
		return nil, err
	}
	want, live, err := p.compare(ctx, client)
	if err != nil {
		return nil, err
	}
	return diff.Objects(want, live), nil
}

// gapError is the error about what may not be read; nil for no gap.
func gapError(gaps []object.Gap) error {
	if len(gaps) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	for _, r := range install.GapRefusals(gaps) {
		lines.Lines = append(lines.Lines, r.Message)
	}
	return hint.With(lines, rightsHint)
}

// compare returns the desired and the live objects.
func (p *Plan) compare(ctx context.Context, client dynamic.Interface) (want, live []*unstructured.Unstructured, err error) {
	wanted := map[object.Ref]bool{}
	for _, part := range p.Planned.Parts {
		if part.Rendered == nil {
			continue
		}
		filled, err := p.filled(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range slices.Concat(part.Rendered.Definitions, filled) {
			ref := object.RefOf(o)
			wanted[ref] = true
			then, current := p.pair(part, o)
			if then == nil {
				continue
			}
			if current != nil {
				live = append(live, current)
				if then, err = p.dryRun(ctx, client, part, then); err != nil {
					return nil, nil, fmt.Errorf("ask for a dry run of %s: %w", ref, err)
				}
			}
			want = append(want, then)
		}
	}
	gone, err := p.removedObjects(ctx, wanted)
	return want, append(live, gone...), err
}

// pair returns the desired and the live state of an object; nil for one that is not applied, or
// does not exist.
func (p *Plan) pair(part *install.Part, o *unstructured.Unstructured) (then, current *unstructured.Unstructured) {
	if o.GetKind() == "CustomResourceDefinition" {
		then, current = p.definition(o.GetName()), p.state.Definitions[o.GetName()]
		if then != nil && current != nil {
			then = then.DeepCopy()
			keepRun(then, current)
		}
		return then, current
	}
	return helmMarked(o, part), p.state.Objects[object.RefOf(o)]
}

// filled returns the objects of a part with the values of its connections, as far as they exist.
func (p *Plan) filled(ctx context.Context, part *install.Part) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, 0, len(part.Rendered.Objects))
	for _, o := range part.Rendered.Objects {
		o = o.DeepCopy()
		for _, c := range part.Connections {
			if c.To != object.RefOf(o) {
				continue
			}
			value, err := p.value(ctx, c)
			if errors.Is(err, connection.ErrNoValue) || apierrors.IsNotFound(err) {
				continue // The plan notes that it waits for the value.
			}
			if err == nil {
				err = connection.Flow(c, o, value, p.loader.schema(o.GroupVersionKind()))
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// definition is a CRD as the plan applies it; nil if it stays unchanged.
func (p *Plan) definition(name string) *unstructured.Unstructured {
	for _, s := range p.Planned.Steps {
		for _, d := range s.Definitions {
			if d.GetName() == name {
				return d
			}
		}
	}
	return nil
}

// keepRun keeps on a CRD the annotations of the runs that created and changed it.
func keepRun(then, current *unstructured.Unstructured) {
	notes := then.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	for _, mark := range []string{install.RunAnnotation, install.BeforeAnnotation} {
		if current := current.GetAnnotations()[mark]; current != "" {
			notes[mark] = current
		}
	}
	if len(notes) > 0 {
		then.SetAnnotations(notes)
	}
}

// helmMarked is an object with the marks that Helm puts on what it makes.
func helmMarked(o *unstructured.Unstructured, part *install.Part) *unstructured.Unstructured {
	out := o.DeepCopy()
	labels, notes := out.GetLabels(), out.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if notes == nil {
		notes = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "Helm"
	notes["meta.helm.sh/release-name"], notes["meta.helm.sh/release-namespace"] = part.Release, part.Namespace
	out.SetLabels(labels)
	out.SetAnnotations(notes)
	return out
}

// dryRun returns an object as the API server would store it; the object itself if the API server
// refuses the dry run.
func (p *Plan) dryRun(ctx context.Context, client dynamic.Interface, part *install.Part, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gvk := o.GroupVersionKind()
	kind, ok := p.kinds.Kind(gvk.GroupKind())
	if !ok {
		return o, nil
	}
	resource := client.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: kind.Plural})
	var at dynamic.ResourceInterface = resource
	if kind.Namespaced {
		at = resource.Namespace(o.GetNamespace())
	}
	manager := helm.Manager
	if kind.Kind == "CustomResourceDefinition" {
		manager = install.FieldManager
	}
	then, err := at.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		p.Planned.Notes = append(p.Planned.Notes, fmt.Sprintf("%s: compared as written, since the API server refused the dry run: %v", part.Name, err))
		return o, nil
	}
	return then, err
}

// removedObjects are the live objects of releases that the plan does not want.
func (p *Plan) removedObjects(ctx context.Context, wanted map[object.Ref]bool) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, part := range p.Planned.Parts {
		records, err := p.engine.History(ctx, helm.ReleaseName{Name: part.Release, Namespace: part.Namespace})
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(records) {
			if r.Status != helm.Deployed {
				continue
			}
			for _, ref := range r.Objects {
				kind, ok := p.kinds.Kind(ref.GroupKind())
				if wanted[ref] || !ok {
					continue
				}
				current, err := p.reader.Get(ctx, kind, ref.Namespace, ref.Name)
				switch {
				case apierrors.IsNotFound(err):
				case err != nil:
					return nil, err
				default:
					out = append(out, current)
				}
			}
			break
		}
	}
	return out, nil
}
