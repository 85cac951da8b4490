package installer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// loadLevels adds parts for how the apps of a System are monitored and scaled. They are parts of its
// installation like its apps: they are planned, journaled, compared and uninstalled with it.
func (p *Plan) loadLevels(ctx context.Context) error {
	sys := p.req.System
	if sys == nil {
		return nil
	}
	scalers, refusals := autoscale.Stated(sys, p.loader.kinds)
	if err := p.refusedScalers(refusals); err != nil {
		return err
	}
	if err := p.level(ctx, system.ScalersApp, "spec.apps[].autoscaling", scalers); err != nil {
		return err
	}
	p.noteReplicas(scalers)
	if !sys.Monitoring.Declared {
		return nil
	}
	desired := map[string][]*unstructured.Unstructured{}
	for _, part := range p.loader.parts {
		if part.App && part.Rendered != nil {
			desired[part.Name] = part.Rendered.Objects
		}
	}
	if first := sys.Apps[0].Name; len(scalers) > 0 {
		desired[first] = append(slices.Clip(desired[first]), scalers...) // an alert is about scalers at their maxima
	}
	plan, _, _, err := monitoring.New(ctx, p.Input.Another(sys.Namespace), monitoring.Request{System: sys, Desired: desired})
	if err != nil {
		return fmt.Errorf("spec.monitoring: %w", err)
	}
	for _, gap := range plan.Gaps {
		p.loader.notes = append(p.loader.notes, gap.String())
	}
	return p.level(ctx, system.MonitorsApp, "spec.monitoring", plan.Manifests())
}

// refusedScalers is the error of targets that a manifest scales and that cannot be scaled.
func (p *Plan) refusedScalers(refusals []autoscale.Refusal) error {
	if len(refusals) == 0 {
		return nil
	}
	lines, hints := &hint.Lines{}, []string{}
	for i := range refusals {
		r := &refusals[i]
		a, _ := p.req.System.App(r.App)
		lines.Lines = append(lines.Lines, fmt.Sprintf("%s:%d: app %s: autoscaling: %s cannot be scaled: %s", p.req.System.Origin, a.Line, r.App, r.Target, r.Message))
		hints = append(hints, r.Hint)
	}
	return hint.With(lines, strings.Join(hints, "\n"))
}

// level adds the part of a level. Source is the field of the manifest that asks for it.
func (p *Plan) level(ctx context.Context, name, source string, objects []*unstructured.Unstructured) error {
	if len(objects) == 0 {
		return nil
	}
	if _, taken := p.req.System.App(name); taken {
		return hint.With(fmt.Errorf("the app %s has the name of the app that %s adds", name, source), "give the app another name")
	}
	p.loader.notes = append(p.loader.notes, p.req.System.SetLabels(name, p.req.System.Name+"-"+name, objects, objects)...)
	return p.loader.app(ctx, &install.Part{Name: name, Labels: p.req.System.LabelKeys()}, objects)
}

// noteReplicas says which targets of scalers have replicas in the manifest: each upgrade sets them
// again, until the scaler does.
func (p *Plan) noteReplicas(scalers []*unstructured.Unstructured) {
	for _, s := range scalers {
		kind, _, _ := unstructured.NestedString(s.Object, "spec", "scaleTargetRef", "kind")
		name, _, _ := unstructured.NestedString(s.Object, "spec", "scaleTargetRef", "name")
		for i := range p.req.System.Apps {
			for _, o := range p.req.System.Apps[i].Resources {
				if _, stated, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas"); stated && o.GetKind() == kind && o.GetName() == name {
					p.loader.notes = append(p.loader.notes, fmt.Sprintf("%s: the manifest has spec.replicas, which each upgrade sets again over what the autoscaler chose: remove it", object.RefOf(o)))
				}
			}
		}
	}
}
