package declare

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// parsePath reads a path; with a dot in front it is relative to a reference.
func parsePath(text string) (p field.Path, relative bool, err error) {
	rest, relative := strings.CutPrefix(text, ".")
	p, err = field.Parse(rest)
	return p, relative, err
}

// template is text with paths in it: literals[0] paths[0] literals[1] ...
type template struct {
	literals []string
	paths    []field.Path
}

// maxPaths bounds a template, and with it how many values one can make.
const maxPaths = 8

func parseTemplate(text string) (template, error) {
	var t template
	rest := text
	for {
		before, after, found := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return t, fmt.Errorf("template %q: a } without a {", field.Shorten(text))
		}
		t.literals = append(t.literals, before)
		if !found {
			break
		}
		path, tail, closed := strings.Cut(after, "}")
		if !closed {
			return t, fmt.Errorf("template %q: a { is not closed", field.Shorten(text))
		}
		p, err := field.Parse(path)
		if err != nil {
			return t, fmt.Errorf("template %q: %w", field.Shorten(text), err)
		}
		if t.paths = append(t.paths, p); len(t.paths) > maxPaths {
			return t, fmt.Errorf("template %q: %d paths at most", field.Shorten(text), maxPaths)
		}
		rest = tail
	}
	return t, nil
}

// rendered is a filled template and the field that it is filled from.
type rendered struct{ at, text string }

// render fills the template from the fields of an object: once for each value of
// its last path that is not metadata, where that finds several. What is absent
// or no scalar makes nothing.
func (t template) render(fields map[string]any) []rendered {
	out := []rendered{{text: t.literals[0]}}
	if len(t.paths) == 0 {
		out[0].at = "metadata.name" // The same for each instance.
	}
	for i, p := range t.paths {
		var next []rendered
		for at, v := range p.Find(fields) {
			text := field.Scalar(v)
			if text == "" {
				continue
			}
			for _, r := range out {
				if r.at == "" || p.Fields()[0] != "metadata" {
					r.at = at
				}
				next = append(next, rendered{r.at, r.text + text + t.literals[i+1]})
			}
			if len(next) >= maxSpecs {
				break
			}
		}
		out = next
	}
	return out
}
