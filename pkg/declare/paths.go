package declare

import "github.com/kubectl-sysop/kubectl-sysop/pkg/field"

// TemplatePaths returns the paths in a template, as value and name have them: none of a text
// that is no template.
func TemplatePaths(text string) []field.Path {
	t, err := parseTemplate(text)
	if err != nil {
		return nil
	}
	return t.paths
}
