package rules

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Exported is what a CRD can declare of the relationships of its kind.
type Exported struct {
	Kind        object.Resource
	Annotations []Annotation
	// Unsupported are relationships that KubePlus's annotations cannot express, and Unsaid the
	// annotations of the CRD that sysop.dev/relationships cannot express.
	Unsupported []string
	Unsaid      []string
	Session     *app.Session
	Graph       *graph.Graph
}

// Annotation is an annotation of a CRD.
type Annotation struct{ Key, Value string }

// Manifest is the metadata of the CRD with the annotations, or a patch of it, in YAML.
func (e *Exported) Manifest(patch bool) string {
	var w strings.Builder
	if patch {
		fmt.Fprintf(&w, "# kubectl patch crd %s --patch-file FILE\nmetadata:\n", e.Kind)
	} else {
		fmt.Fprintf(&w, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: %s\n", e.Kind)
	}
	w.WriteString("  annotations:\n")
	for _, a := range e.Annotations {
		if !strings.Contains(a.Value, "\n") {
			fmt.Fprintf(&w, "    %s: %q\n", a.Key, a.Value)
			continue
		}
		fmt.Fprintf(&w, "    %s: |\n", a.Key)
		for line := range strings.Lines(a.Value) {
			fmt.Fprintf(&w, "      %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return w.String()
}

// Export returns the known relationships of a custom kind as annotations: sysop.dev/relationships, or
// KubePlus's.
func Export(ctx context.Context, in *app.Input, name string, kubeplus bool) (*Exported, error) {
	s, err := in.Open(ctx)
	if err != nil {
		return nil, err
	}
	k, err := s.Kinds.Find(name)
	switch {
	case err != nil:
		return nil, err
	case !k.Custom:
		return nil, fmt.Errorf("%s is built in: only a CRD can carry the annotation", k.GroupKind())
	}
	g, err := s.Survey(ctx)
	if err != nil {
		return nil, err
	}
	s.ReportGaps(g)
	self := declare.Spell(k.GroupKind())
	specs := append(specsOf(s, k), inferredOf(g, k)...) // Nothing is inferred where anything is declared.
	unsaid := unsaidOf(s, k)
	out := &Exported{Kind: k, Session: s, Graph: g}
	if !kubeplus {
		out.Unsaid = slices.Sorted(maps.Keys(unsaid))
		if len(specs) > 0 {
			out.Annotations = []Annotation{{annotations.Relationships, declare.Format(specs, self)}}
		}
		return out, nil
	}
	var unsupported []declare.Spec
	out.Annotations, unsupported = kubeplusAnnotations(s, specs, k, compositionOf(s, g, k), unsaid)
	for _, spec := range unsupported {
		out.Unsupported = append(out.Unsupported, strings.TrimSpace(declare.Format([]declare.Spec{spec}, self)))
	}
	return out, nil
}

// specsOf returns what the catalogue and the annotations declare of a kind.
func specsOf(s *app.Session, k object.Resource) []declare.Spec {
	self := declare.Spell(k.GroupKind())
	var out []declare.Spec
	add := func(specs []declare.Spec) {
		for _, spec := range specs {
			for _, one := range spec.Of(self) {
				if !slices.ContainsFunc(out, one.Equal) {
					out = append(out, one)
				}
			}
		}
	}
	for _, d := range s.Declared {
		if d.Kind == k.GroupKind() {
			add(d.Specs)
		}
	}
	if e, _, ok := catalog.KindOf(k); ok {
		add(e.Relations)
	}
	return out
}

// compositionOf returns the kinds that the operator of a kind says it creates, or
// else those that its instances own here.
func compositionOf(s *app.Session, g *graph.Graph, k object.Resource) []string {
	for _, d := range s.Declared {
		if d.Kind == k.GroupKind() && d.Composition != nil {
			var all []string
			for _, gk := range d.Composition {
				all = append(all, declare.Spell(gk))
			}
			return all
		}
	}
	if _, kind, ok := catalog.KindOf(k); ok && len(kind.Composes) > 0 {
		return kind.Composes
	}
	var all []string
	_, owned := observed(g, k.GroupKind())
	for gk := range owned {
		all = append(all, declare.Spell(gk))
	}
	slices.Sort(all)
	return all
}

// unsaidOf returns the annotations of a kind's definition that our grammar has no
// words for.
func unsaidOf(s *app.Session, k object.Resource) map[string]string {
	for _, d := range s.Declared {
		if d.Kind == k.GroupKind() {
			return d.Unsaid
		}
	}
	return nil
}

var index = regexp.MustCompile(`\[\d+\]`)

// inferredOf returns the references that were inferred from the instances, a row
// for each path and kind. Those in the arguments of commands, and what selects,
// cannot be declared by a path.
func inferredOf(g *graph.Graph, k object.Resource) []declare.Spec {
	var out []declare.Spec
	for id := range g.OfKind(k.GroupKind()) {
		for e := range g.Out(id) {
			spec := declare.Spec{
				From: []string{declare.Spell(k.GroupKind())}, To: []string{declare.Spell(g.Ref(e.To).GroupKind())}, Relation: e.Relation.String(), Inferred: true,
			}
			path := index.ReplaceAllString(e.Field, "[]")
			switch {
			case e.Backward || e.Origin != infer.Origin || e.Rule == "pod-arg-host":
				continue
			case e.Rule == "field-host" || e.Rule == "pod-env-host":
				spec.To, spec.Host = nil, path
			case e.Via != relation.Spec:
				continue
			default:
				// What stands around the name of a reference says which kind, and where.
				spec.Field = strings.TrimSuffix(path, ".name")
			}
			if !slices.ContainsFunc(out, spec.Equal) {
				out = append(out, spec)
			}
		}
	}
	return out
}

// kubeplusAnnotations writes relations in KubePlus's grammar, and returns those
// that it cannot say. What the CRD says in it, and only in it, stays as it is.
func kubeplusAnnotations(s *app.Session, specs []declare.Spec, k object.Resource, composition []string, unsaid map[string]string) (out []Annotation, unsupported []declare.Spec) {
	if len(composition) > 0 {
		out = append(out, Annotation{"resource/composition", strings.Join(composition, ", ")})
	}
	for _, key := range slices.Sorted(maps.Keys(unsaid)) {
		out = append(out, Annotation{key, unsaid[key]})
	}
	for _, spec := range specs {
		family, value, ok := annotations.Write(spec, k, s.Kinds)
		if !ok {
			unsupported = append(unsupported, spec)
			continue
		}
		key := family
		for n := 2; slices.ContainsFunc(out, func(a Annotation) bool { return a.Key == key }); n++ {
			key = family + fmt.Sprint(n)
		}
		out = append(out, Annotation{key, value})
	}
	return out, unsupported
}
