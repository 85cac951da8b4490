package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type diffOptions struct {
	*installOptions
	exitCode bool
}

func newDiff(env Env) *cobra.Command {
	o := &diffOptions{installOptions: newInstallOptions(env, install.Upgrade)}
	o.formats = []string{"diff", "table", "json", "yaml", "name"}
	cmd := &cobra.Command{
		Use:   "diff OPERATOR[@VERSION] | -f SYSTEM",
		Short: "Show what an install or upgrade would change, object by object",
		Long: `Show what an install or upgrade would change: the objects as a dry run of the API server
returns them, compared with the existing ones. Nothing is written. For Secrets only the
changed keys are listed, no values.`,
		Example: `  # the lines that would change
  kubectl sysop diff cert-manager@1.21.2

  # in a script: 2 if anything would
  kubectl sysop diff -f shop.yaml -o name --exit-code`,
		ValidArgsFunction: o.completeInstallable(o.common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.puttingFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if anything would change")
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	o.yes, o.dryRun, o.timeout, o.wait = true, "client", defaultTimeout, true
	if err := o.check(); err != nil {
		return err
	}
	p, err := o.propose(ctx)
	if err != nil {
		return err
	}
	if err := gapError(p.state.Gaps); err != nil {
		return err // An object that may not be read would be shown as new.
	}
	want, live, err := p.compared(ctx)
	if err != nil {
		return err
	}
	all := install.Diff(want, live)
	for _, n := range p.planned.Notes {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(n))
	}
	if o.output == "diff" {
		err = install.WriteDiff(o.env.Out, all)
	} else {
		err = o.write(view.InstallDiff(p.of, all))
	}
	if err == nil && len(all) > 0 && o.exitCode {
		return errNotFine
	}
	return err
}

// compared returns the desired and the live objects.
func (p *installPlan) compared(ctx context.Context) (want, live []*unstructured.Unstructured, err error) {
	wanted := map[object.Ref]bool{}
	for _, part := range p.planned.Parts {
		if part.Rendered == nil {
			continue
		}
		filled, err := p.filled(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range slices.Concat(part.Rendered.Definitions, filled) {
			ref := refOfObject(o)
			wanted[ref] = true
			then, current := p.pair(part, o)
			if then == nil {
				continue
			}
			if current != nil {
				live = append(live, current)
				if then, err = p.dryRunObject(ctx, part, then); err != nil {
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
func (p *installPlan) pair(part *install.Part, o *unstructured.Unstructured) (then, current *unstructured.Unstructured) {
	if o.GetKind() == "CustomResourceDefinition" {
		then, current = p.definition(o.GetName()), p.state.Definitions[o.GetName()]
		if then != nil && current != nil {
			then = then.DeepCopy()
			keepRun(then, current)
		}
		return then, current
	}
	return helmMarked(o, part), p.state.Objects[refOfObject(o)]
}

// filled returns the objects of a part with the values of its connections, as far as they exist.
func (p *installPlan) filled(ctx context.Context, part *install.Part) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, 0, len(part.Rendered.Objects))
	for _, o := range part.Rendered.Objects {
		o = o.DeepCopy()
		for _, c := range part.Connections {
			if c.To != refOfObject(o) {
				continue
			}
			value, err := p.o.valueNow(ctx, p.cluster, c)
			if errors.Is(err, install.ErrNoValue) || apierrors.IsNotFound(err) {
				continue // The plan tells that it is waited for.
			}
			if err == nil {
				err = install.Flow(c, o, value, p.made.schema(o.GroupVersionKind()))
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// definition is a definition as the plan applies it; nil where it stays as it is.
func (p *installPlan) definition(name string) *unstructured.Unstructured {
	for _, s := range p.planned.Steps {
		for _, d := range s.Definitions {
			if d.GetName() == name {
				return d
			}
		}
	}
	return nil
}

// keepRun leaves on a definition the marks of the runs that made and changed it.
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

// dryRunObject asks the API server what an object would become; itself where it may not be asked.
func (p *installPlan) dryRunObject(ctx context.Context, part *install.Part, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gvk := o.GroupVersionKind()
	kind, ok := p.cluster.Kinds.Kind(gvk.GroupKind())
	if !ok {
		return o, nil
	}
	var at dynamic.ResourceInterface = p.cluster.Objects.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: kind.Plural})
	if kind.Namespaced {
		at = p.cluster.Objects.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: kind.Plural}).Namespace(o.GetNamespace())
	}
	manager := "helm"
	if kind.Kind == "CustomResourceDefinition" {
		manager = install.FieldManager
	}
	then, err := at.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		p.planned.Notes = append(p.planned.Notes, fmt.Sprintf("%s: compared as written, since the API server refused the dry run: %v", part.Name, err))
		return o, nil
	}
	return then, err
}

// removedObjects are the objects of releases that would be no more.
func (p *installPlan) removedObjects(ctx context.Context, wanted map[object.Ref]bool) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, part := range p.planned.Parts {
		records, err := p.cluster.engine.History(ctx, install.ReleaseName{Name: part.Release, Namespace: part.Namespace})
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(records) {
			if r.Status != install.Deployed {
				continue
			}
			for _, ref := range r.Objects {
				kind, ok := p.cluster.Kinds.Kind(ref.GroupKind())
				if wanted[ref] || !ok {
					continue
				}
				current, err := p.cluster.reader.Get(ctx, kind, ref.Namespace, ref.Name)
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
