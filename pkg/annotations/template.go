package annotations

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// mentions reports whether the value has a reference of that kind.
func (e expr) mentions(kind refKind) bool { return e.count(kind) > 0 }

func (e expr) count(kind refKind) int {
	n := 0
	for _, r := range e.refs {
		if r.what == kind {
			n++
		}
	}
	return n
}

// bare returns the path of a value that consists of one reference alone.
func (e expr) bare() (field.Path, bool) {
	if len(e.refs) != 1 || e.refs[0].what != pathRef || e.among || e.literals[0] != "" || e.literals[1] != "" {
		return field.Path{}, false
	}
	return e.refs[0].path, true
}

// invertible reports whether a value determines the name of the instance: the template has it once,
// alone or next to the namespace, with text between them that neither can contain.
func (e expr) invertible() bool {
	switch {
	case e.mentions(pathRef) || e.count(nameRef) != 1 || e.count(namespaceRef) > 1:
		return false
	case len(e.refs) == 1:
		return true
	}
	return strings.ContainsFunc(e.literals[1], func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-", r)
	})
}

// invert returns the name, and the namespace if the value has it, for which an invertible template
// renders v.
func (e expr) invert(v string) (namespace, name string, ok bool) {
	v, ok = strings.CutPrefix(v, e.literals[0])
	if !ok {
		return "", "", false
	}
	if v, ok = strings.CutSuffix(v, e.literals[len(e.refs)]); !ok {
		return "", "", false
	}
	if len(e.refs) == 1 {
		return "", v, object.MayBeName(v)
	}
	first, second, ok := strings.Cut(v, e.literals[1])
	if e.refs[0].what == nameRef {
		first, second = second, first
	}
	return first, second, ok && object.MayBeName(first) && object.MayBeName(second)
}

// rendered is the value of a template for an instance, with the field that it comes from.
type rendered struct{ field, value string }

// render fills the template from an instance: one value for each item of a list on the path, and
// none for what is neither a string, a number nor a boolean.
func (e expr) render(o object.Object) []rendered {
	fill := func(at, field string) rendered {
		var b strings.Builder
		for i, r := range e.refs {
			b.WriteString(e.literals[i])
			b.WriteString([...]string{nameRef: o.Name, namespaceRef: o.Namespace, pathRef: field}[r.what])
		}
		b.WriteString(e.literals[len(e.refs)])
		return rendered{at, b.String()}
	}
	for _, r := range e.refs {
		if r.what != pathRef {
			continue
		}
		var all []rendered
		for at, v := range r.path.Find(o.Fields()) {
			if text := field.Scalar(v); text != "" {
				all = append(all, fill(at, text))
			}
		}
		return all
	}
	return []rendered{fill("metadata.name", "")}
}
