package cli

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

type rulesExportOptions struct {
	*common
	kubeplus bool
	patch    bool
}

func newRulesExport(env Env) *cobra.Command {
	o := &rulesExportOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "export KIND",
		Short: "Write the annotation that declares the relationships of a kind",
		Long: `Write the known relationships of a custom kind as the annotation
sysop.dev/relationships, for an operator's author to put into the CRD: from the catalog,
from annotations of the CRD, and inferred from the instances in the cluster (marked as
such: review each). With --kubeplus, write KubePlus's resource/* annotations, as far as
they can express it: they cannot mark a relationship as optional or inferred.`,
		Example: `  # what could this CRD declare?
  kubectl sysop rules export moodle --from demo

  # for KubePlus
  kubectl sysop rules export moodle --kubeplus --from demo`,
		Args:              exactly(1, "a KIND"),
		ValidArgsFunction: o.completeOneKind,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.reading(cmd)
	cmd.Flags().BoolVar(&o.kubeplus, "kubeplus", false, "write KubePlus's annotations")
	cmd.Flags().BoolVar(&o.patch, "patch", false, "write a patch for kubectl patch crd --patch-file")
	return cmd
}

func (o *rulesExportOptions) run(ctx context.Context, name string) error {
	if err := o.validate(); err != nil {
		return err
	}
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	k, err := s.Kinds.Find(name)
	switch {
	case err != nil:
		return err
	case !k.Custom:
		return fmt.Errorf("%s is built in: only a CRD can carry the annotation", k.GroupKind())
	}
	g, err := s.Survey(ctx)
	if err != nil {
		return err
	}
	s.ReportGaps(g)
	self := declare.Spell(k.GroupKind())
	specs := specsOf(s, k)
	specs = append(specs, inferredOf(g, k)...) // There are none where anything is declared.
	unsaid := unsaidOf(s, k)
	out, unsupported := []annotation(nil), []declare.Spec(nil)
	if o.kubeplus {
		out, unsupported = kubeplusAnnotations(s, specs, k, compositionOf(s, g, k), unsaid)
	} else if len(specs) > 0 {
		out = []annotation{{annotations.Relationships, declare.Format(specs, self)}}
	}
	for _, spec := range unsupported {
		fmt.Fprintf(o.env.ErrOut, "warning: KubePlus's annotations cannot express: %s\n", safe(strings.TrimSpace(declare.Format([]declare.Spec{spec}, self))))
	}
	for _, key := range slices.Sorted(maps.Keys(unsaid)) {
		if !o.kubeplus {
			fmt.Fprintf(o.env.ErrOut, "warning: %s cannot express the annotation %s of the CRD: keep that beside it\n", annotations.Relationships, safe(key))
		}
	}
	if len(out) == 0 {
		return hint.With(fmt.Errorf("no relationships of %s are known beyond owner references", self), "docs/rules-file.md has the grammar in which to write it")
	}
	o.print(k, out)
	s.PrintTimings(g)
	return nil
}

type annotation struct{ key, value string }

// print writes the metadata of the definition.
func (o *rulesExportOptions) print(k object.Resource, all []annotation) {
	w := o.env.Out
	if o.patch {
		fmt.Fprintf(w, "# kubectl patch crd %s --patch-file FILE\n", safe(k.String()))
	} else {
		fmt.Fprintf(w, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n")
	}
	fmt.Fprintln(w, "metadata:")
	if !o.patch {
		fmt.Fprintf(w, "  name: %s\n", safe(k.String()))
	}
	fmt.Fprintln(w, "  annotations:")
	for _, a := range all {
		if !strings.Contains(a.value, "\n") {
			fmt.Fprintf(w, "    %s: %q\n", a.key, a.value)
			continue
		}
		fmt.Fprintf(w, "    %s: |\n", a.key)
		for line := range strings.Lines(a.value) {
			fmt.Fprintf(w, "      %s", safe(strings.TrimSuffix(line, "\n"))+"\n")
		}
	}
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
func kubeplusAnnotations(s *app.Session, specs []declare.Spec, k object.Resource, composition []string, unsaid map[string]string) (out []annotation, unsupported []declare.Spec) {
	if len(composition) > 0 {
		out = append(out, annotation{"resource/composition", strings.Join(composition, ", ")})
	}
	for _, key := range slices.Sorted(maps.Keys(unsaid)) {
		out = append(out, annotation{key, unsaid[key]})
	}
	for _, spec := range specs {
		family, value, ok := annotations.Write(spec, k, s.Kinds)
		if !ok {
			unsupported = append(unsupported, spec)
			continue
		}
		key := family
		for n := 2; slices.ContainsFunc(out, func(a annotation) bool { return a.key == key }); n++ {
			key = family + fmt.Sprint(n)
		}
		out = append(out, annotation{key, value})
	}
	return out, unsupported
}
