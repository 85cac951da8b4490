package app

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// FieldDefinitions returns the published schemas of kinds: of custom kinds from their definitions,
// of others from their Go types. It leaves out a kind whose definition cannot be read.
func (s *Session) FieldDefinitions(ctx context.Context, wanted map[schema.GroupKind]bool) (*lint.Definitions, error) {
	out := &lint.Definitions{}
	var refs []object.Ref
	for _, r := range s.Kinds.All() {
		gk := r.GroupKind()
		if gvk := gk.WithVersion(r.Version); !wanted[gk] {
			continue
		} else if scheme.Scheme.Recognizes(gvk) && gk != DefinitionKind { // Helm adds the kind of definitions to the scheme.
			out.AddType(gvk, scheme.Scheme.AllKnownTypes()[gvk])
		} else if r.Custom {
			refs = append(refs, object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: r.String()})
		}
	}
	slices.SortFunc(refs, object.Compare)
	return out, s.readDefinitions(ctx, refs, func(crd map[string]any) { out.Add(crd) })
}

// KindsRead are the kinds that relations read.
func KindsRead(specs []declare.Spec) map[schema.GroupKind]bool {
	wanted := map[schema.GroupKind]bool{}
	for i := range specs {
		read, _ := specs[i].Reader()
		for _, kind := range read {
			wanted[declare.GroupKind(kind)] = true
		}
	}
	return wanted
}

// DefinitionsIn reads the definitions of a directory. The built-in kinds are added.
func DefinitionsIn(folder string) (*lint.Definitions, error) {
	crds, err := skeleton.ReadFolder(folder)
	if err != nil {
		return nil, err
	}
	out := &lint.Definitions{Complete: true}
	out.AddBuiltIn()
	for _, crd := range crds {
		out.Add(crd)
	}
	return out, nil
}

// DefinesKind reports whether a definition of a kind of the entry is known.
func DefinesKind(defs *lint.Definitions, e *catalog.Entry) bool {
	return slices.ContainsFunc(e.Kinds, func(k catalog.Kind) bool {
		_, ok := defs.Kind(declare.GroupKind(k.Kind))
		return ok
	})
}

// checkPaths refuses rules whose fields are not in the schema of their kind.
func (s *Session) checkPaths(ctx context.Context, files []rulesFile) error {
	for _, f := range files {
		defs, err := s.FieldDefinitions(ctx, KindsRead(f.specs))
		if err != nil {
			return err
		}
		var problems []strict.Problem
		for _, found := range lint.Relations(defs, f.specs, f.doc) {
			if !found.Unknown {
				problems = append(problems, found.Problem)
			}
		}
		if len(problems) > 0 {
			return problemsIn(f.name, problems)
		}
	}
	return nil
}
