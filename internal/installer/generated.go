package installer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Generated makes a System with one app, of that name, of generated objects, and the text of its
// manifest, for a Request: it is then planned, journaled, undone and uninstalled as any other.
func Generated(name, namespace string, objects []*unstructured.Unstructured) (*system.System, string, error) {
	var resources []any
	for _, o := range objects {
		resources = append(resources, o.Object)
	}
	root := strict.ValueNode(map[string]any{
		"apiVersion": system.APIVersion, "kind": system.Kind, "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{"apps": []any{map[string]any{"name": name, "resources": resources}}},
	})
	text, err := strict.Encode(root)
	if err != nil {
		return nil, "", fmt.Errorf("write the manifest of the System %s: %w", name, err)
	}
	sys, problems := system.Parse("the manifest of "+name, text)
	if len(problems) > 0 {
		return nil, "", &hint.Lines{Lines: hint.Placed(name, problems)}
	}
	return sys, string(text), nil
}
