package incluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Reads is what has to be read to see members: their kinds where they are, the kinds of everywhere
// in each of their namespaces and in that of the program, and the definitions of custom kinds. A
// role names resources: that of a kind which nothing tells is an error.
func Reads(s *app.Session, namespace string, members, everywhere []object.Ref) ([]Resource, error) {
	out := []Resource{{Group: app.DefinitionKind.Group, Resource: "customresourcedefinitions"}}
	nameless := ""
	add := func(r object.Ref) {
		kind, ok := s.Kinds.Kind(r.GroupKind())
		if ok && kind.Plural == "" {
			nameless = kind.String()
		}
		if ok && kind.Listable {
			out = append(out, Resource{Group: kind.Group, Resource: kind.Plural, Namespace: r.Namespace})
		}
	}
	namespaces := []string{namespace}
	for _, r := range members {
		add(r)
		if r.Namespace != "" {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	slices.Sort(namespaces)
	for _, ns := range slices.Compact(namespaces) {
		for _, r := range everywhere {
			r.Namespace = ns
			add(r)
		}
	}
	slices.SortFunc(out, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	if nameless != "" {
		return nil, hint.With(fmt.Errorf("the name of the resource of %s is unknown: %s has no CRD of it", nameless, s.Input.From), "read the cluster, or add the CustomResourceDefinition to the file")
	}
	return slices.Compact(out), nil
}

// CheckImage refuses what is not the name of an image.
func CheckImage(image string) error {
	if image == "" || strings.ContainsAny(image, " \t\n") {
		return fmt.Errorf("--image %q: expected the name of an image", image)
	}
	return nil
}
