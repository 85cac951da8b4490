package cli

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// shapes say which fields objects of a kind can have, in each served version.
type shapes map[schema.GroupKind]map[string]field.Shape

// shapes finds the schemas of the kinds that relations read: of custom kinds in
// their definitions, of others in their types. A kind whose schema cannot be read
// is not among them.
func (s *session) shapes(ctx context.Context, specs []declare.Spec) (shapes, error) {
	wanted := map[schema.GroupKind]bool{}
	for i := range specs {
		read, _ := specs[i].Reader()
		for _, kind := range read {
			wanted[declare.GroupKind(kind)] = true
		}
	}
	out := shapes{}
	var refs []object.Ref
	for _, r := range s.kinds.All() {
		gk := r.GroupKind()
		if gvk := gk.WithVersion(r.Version); !wanted[gk] {
			continue
		} else if scheme.Scheme.Recognizes(gvk) && gk != definitionKind { // Helm adds that one to the scheme
			out[gk] = map[string]field.Shape{r.Version: field.OfType(scheme.Scheme.AllKnownTypes()[gvk])}
		} else if r.Custom {
			refs = append(refs, object.Ref{Group: definitionKind.Group, Kind: definitionKind.Kind, Name: r.String()})
		}
	}
	slices.SortFunc(refs, object.Compare)
	return out, s.readDefinitions(ctx, refs, func(crd map[string]any) {
		gk, of := shapesOf(crd)
		out[gk] = of
	})
}

// shapesOf returns the shapes of the served versions of a definition.
func shapesOf(crd map[string]any) (schema.GroupKind, map[string]field.Shape) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	gk := schema.GroupKind{}
	gk.Group, _ = spec["group"].(string)
	gk.Kind, _ = names["kind"].(string)
	of := map[string]field.Shape{}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		served, _ := v["served"].(bool)
		holder, _ := v["schema"].(map[string]any)
		s, ok := holder["openAPIV3Schema"].(map[string]any)
		if served && ok {
			of[name] = field.OfSchema(s, field.OfType(reflect.TypeFor[metav1.ObjectMeta]()))
		}
	}
	return gk, of
}

// wrongPaths says which paths of a relation find nothing in an object of the shape,
// and what comes near.
func wrongPaths(s *declare.Spec, shape field.Shape) []string {
	var out []string
	for _, path := range s.Paths() {
		p, err := field.Parse(path)
		if err != nil {
			continue // The parser has told that.
		}
		wrong, ok := errors.AsType[*field.Error](p.Check(shape))
		if !ok {
			continue
		}
		out = append(out, wrong.Error()+object.DidYouMean(object.Nearest(wrong.Field, wrong.Names)))
	}
	return out
}

// checkPaths refuses rules that read what no served version of a kind has.
func (s *session) checkPaths(ctx context.Context, files []rulesFile) error {
	for _, f := range files {
		of, err := s.shapes(ctx, f.specs)
		if err != nil {
			return err
		}
		var problems []strict.Problem
		for i := range f.specs {
			spec := &f.specs[i]
			read, _ := spec.Reader()
			for _, kind := range read {
				if wrong := nowhere(spec, of[declare.GroupKind(kind)]); wrong != "" {
					problems = append(problems, strict.Problem{Line: spec.Line, Column: spec.Column, Message: kind + ": " + wrong})
				}
			}
		}
		if len(problems) > 0 {
			return problemsIn(f.name, problems)
		}
	}
	return nil
}

// nowhere says what is wrong with the paths of a relation in all of the versions;
// nothing where one of them has all.
func nowhere(s *declare.Spec, versions map[string]field.Shape) string {
	last := ""
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		wrong := wrongPaths(s, versions[version])
		if len(wrong) == 0 {
			return ""
		}
		last = wrong[0]
	}
	return last
}
