package installer

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// preflight evaluates the plan like check --atomic: what would not start becomes a refusal, what is
// unknown a note.
func (p *Plan) preflight(ctx context.Context) error {
	if len(p.Planned.Steps) == 0 || p.req.DryRun == DryRunClient || p.loader == nil {
		return nil
	}
	b := p.batch()
	if len(b.docs) == 0 {
		return nil
	}
	a, err := app.NewPreflight(ctx, p.session(), app.PreflightRequest{Docs: b.docs, Manager: helm.Manager})
	if err != nil {
		return err
	}
	q, err := a.Evaluation(ctx, nil)
	if err != nil {
		return err
	}
	report := preflight.Evaluate(q)
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Verdict == schedule.Fits {
			continue
		}
		text := f.Message
		if f.Object != (object.Ref{}) {
			text = f.Object.String() + ": " + f.Message
		}
		switch {
		case f.Verdict == schedule.Unknown:
			p.note("unknown before the run: " + text)
		case b.open[f.Object]:
			p.note("until its connections are filled in: " + text)
		case p.req.Force:
			p.note("would not start, but forced: " + text)
		default:
			p.refuse(install.Refusal{Topic: "start", Part: b.parts[f.Object], Object: f.Object, Message: f.Message, Hint: f.Remedy})
		}
	}
	return nil
}

// batch are the objects that a plan creates or changes.
type batch struct {
	docs  []source.Document
	parts map[object.Ref]string // the part of each object
	open  map[object.Ref]bool   // objects that wait for values of others
}

func (b *batch) add(part string, o *unstructured.Unstructured) {
	b.parts[object.RefOf(o)] = part
	b.docs = append(b.docs, source.Document{At: source.Position{File: part, Document: len(b.docs) + 1}, Object: o.Object})
}

func (p *Plan) batch() *batch {
	b := &batch{parts: map[object.Ref]string{}, open: map[object.Ref]bool{}}
	namespaces := map[string]bool{}
	for _, s := range p.Planned.Steps {
		if s.Kind == install.MakeNamespace && !namespaces[s.Namespace] {
			namespaces[s.Namespace] = true
			b.add(s.Part, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": s.Namespace}}})
		}
	}
	for _, part := range p.Planned.Parts {
		if part.Rendered == nil || slices.Contains(p.Planned.Unchanged, part.Name) {
			continue
		}
		for _, o := range slices.Concat(part.Rendered.Definitions, part.Rendered.Objects) {
			b.add(part.Name, o)
		}
		for _, h := range part.Rendered.Hooks {
			if (slices.Contains(h.Events, "pre-install") || slices.Contains(h.Events, "post-install")) && b.parts[object.RefOf(h.Object)] == "" {
				b.add(part.Name, h.Object)
			}
		}
		for _, c := range part.Connections {
			b.open[c.To] = true
		}
	}
	return b
}
