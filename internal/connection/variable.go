package connection

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// AddVariable adds a variable without a value to the containers of a workload that lack it; to one
// of them if it is named. It comes first, so that others can refer to it as $(NAME).
func AddVariable(u *unstructured.Unstructured, w *Workload, name, container string) error {
	found := false
	err := eachContainer(u, w, container, func(c map[string]any, path string) error {
		found = true
		env, _ := c["env"].([]any)
		for _, e := range env {
			if fields, ok := e.(map[string]any); ok && fields["name"] == name {
				if fields["valueFrom"] != nil {
					return fmt.Errorf("container %v of %s takes %s from another object (valueFrom): a connection sets a value", c["name"], w.Ref, name)
				}
				return nil
			}
		}
		c["env"] = append([]any{map[string]any{"name": name}}, env...)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s has no container %s%s", w.Ref, container, object.DidYouMean(object.Nearest(container, w.containerNames())))
	}
	return err
}

// VariablePaths returns the paths of the values of a variable that AddVariable added.
func VariablePaths(u *unstructured.Unstructured, w *Workload, name, container string) []string {
	var paths []string
	// No function here returns an error.
	_ = eachContainer(u, w, container, func(c map[string]any, path string) error {
		env, _ := c["env"].([]any)
		for i, e := range env {
			if fields, ok := e.(map[string]any); ok && fields["name"] == name {
				paths = append(paths, fmt.Sprintf("%s.env[%d].value", path, i))
				return nil
			}
		}
		return nil
	})
	return paths
}

// eachContainer calls a function with each container, init containers included, and its path.
func eachContainer(u *unstructured.Unstructured, w *Workload, container string, each func(c map[string]any, path string) error) error {
	for _, list := range []string{"containers", "initContainers"} {
		at := strings.TrimPrefix(w.TemplatePath+".spec."+list, ".")
		all, _, _ := unstructured.NestedFieldNoCopy(u.Object, strings.Split(at, ".")...)
		containers, _ := all.([]any)
		for i, c := range containers {
			fields, ok := c.(map[string]any)
			if !ok || container != "" && fields["name"] != container {
				continue
			}
			if err := each(fields, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Workload) containerNames() []string {
	var names []string
	for _, c := range w.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range w.Template.Spec.InitContainers {
		names = append(names, c.Name)
	}
	return names
}
