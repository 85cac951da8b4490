package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// annotate returns the annotations that say in a definition what the catalogue knows of the
// relationships of its kind; none where it carries some of its own.
func (p *installPlan) annotate(d *unstructured.Unstructured) map[string]string {
	for key := range d.GetAnnotations() {
		if key == annotations.Relationships || strings.HasPrefix(key, "resource/") {
			return nil
		}
	}
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	self := declare.Spell(schema.GroupKind{Group: group, Kind: kind})
	for _, e := range p.cats.Entries() {
		for _, k := range e.Kinds {
			if k.Kind != self {
				continue
			}
			out := map[string]string{}
			var specs []declare.Spec
			for _, spec := range e.Relations {
				specs = append(specs, spec.Of(self)...)
			}
			if len(specs) > 0 {
				out[annotations.Relationships] = declare.Format(specs, self)
			}
			return out
		}
	}
	return nil
}

// helmManager is who writes the objects of releases.
const helmManager = "helm"

// runPreflight evaluates the plan as check --atomic does: impossible becomes a refusal, unknown a
// note.
func (p *installPlan) runPreflight(ctx context.Context) error {
	docs, partOf, open := p.documents()
	if len(docs) == 0 {
		return nil
	}
	fresh := newCommon(p.o.env)
	fresh.Config, fresh.Clock = p.o.Config, p.o.Clock
	a, err := app.NewPreflight(ctx, &fresh.Input, app.PreflightRequest{Docs: docs, Manager: helmManager})
	if err != nil {
		return err
	}
	q, err := a.Evaluation(ctx, nil)
	if err != nil {
		return err
	}
	report := preflight.Evaluate(q)
	for i := range report.Findings {
		j := &report.Findings[i]
		if j.Verdict == schedule.Fits {
			continue
		}
		text := j.Message
		if j.Object != (object.Ref{}) {
			text = j.Object.String() + ": " + j.Message
		}
		switch {
		case j.Verdict == schedule.Unknown:
			p.planned.Notes = append(p.planned.Notes, "unknown before the run: "+text)
		case open[j.Object]:
			p.planned.Notes = append(p.planned.Notes, "until its connections are filled in: "+text)
		case p.o.force:
			p.planned.Notes = append(p.planned.Notes, "would not start, but forced: "+text)
		default:
			p.planned.Refusals = append(p.planned.Refusals, install.Refusal{Topic: "start", Part: partOf[j.Object], Object: j.Object, Message: j.Message, Hint: j.Remedy})
		}
	}
	return nil
}

// documents are the objects that the plan makes or changes; of which part each is; and which
// wait for values of others.
func (p *installPlan) documents() (docs []source.Document, partOf map[object.Ref]string, open map[object.Ref]bool) {
	partOf, open = map[object.Ref]string{}, map[object.Ref]bool{}
	namespaces := map[string]bool{}
	add := func(part string, o *unstructured.Unstructured) {
		gk := o.GroupVersionKind().GroupKind()
		partOf[object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}] = part
		docs = append(docs, source.Document{At: source.Position{File: part, Document: len(docs) + 1}, Object: o.Object})
	}
	for _, s := range p.planned.Steps {
		if s.Kind == install.MakeNamespace && !namespaces[s.Namespace] {
			namespaces[s.Namespace] = true
			add(s.Part, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": s.Namespace}}})
		}
	}
	for _, part := range p.planned.Parts {
		if part.Rendered == nil || slices.Contains(p.planned.Unchanged, part.Name) {
			continue
		}
		for _, o := range slices.Concat(part.Rendered.Definitions, part.Rendered.Objects) {
			add(part.Name, o)
		}
		for _, h := range part.Rendered.Hooks {
			if (slices.Contains(h.Events, "pre-install") || slices.Contains(h.Events, "post-install")) && partOf[refOfObject(h.Object)] == "" {
				add(part.Name, h.Object)
			}
		}
		for _, c := range part.Connections {
			open[c.To] = true
		}
	}
	return docs, partOf, open
}

func refOfObject(o *unstructured.Unstructured) object.Ref {
	gk := o.GroupVersionKind().GroupKind()
	return object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// permissions refuses a plan for which a permission is missing, before anything is written.
func (p *installPlan) permissions(ctx context.Context) error {
	escalations := install.Escalations(p.planned)
	rights := install.Permissions(p.planned, p.state, p.cluster.Kinds)
	asked := slices.Clone(rights)
	for _, e := range escalations {
		asked = append(asked, e.Or...)
	}
	missing, err := regulate.Review(ctx, p.cluster.Config, asked)
	if undecided, ok := errors.AsType[*regulate.UnknownPermissionsError](err); ok {
		p.planned.Notes = append(p.planned.Notes, undecided.Error())
	} else if err != nil {
		return err
	}
	var lacking []regulate.Permission
	wanted := map[regulate.Permission]bool{}
	for _, r := range rights {
		if !r.Optional {
			wanted[r] = true
		}
	}
	var must []regulate.Permission
	for _, m := range missing {
		m.Optional = false
		lacking = append(lacking, m.Permission)
		if wanted[m.Permission] {
			must = append(must, m.Permission)
		}
	}
	p.planned.Notes = append(p.planned.Notes, regulate.OrderedNotes(missing)...)
	refused, notes := install.CheckEscalations(escalations, lacking)
	p.planned.Refusals = append(p.planned.Refusals, refused...)
	p.planned.Notes = append(p.planned.Notes, notes...)
	for _, line := range deniedLines(must) {
		p.planned.Refusals = append(p.planned.Refusals, install.Refusal{Topic: "rights", Message: line, Hint: "--print-rbac prints the roles that it needs"})
	}
	return nil
}
