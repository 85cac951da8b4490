package install

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/crd"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sameDefinition says that a definition is there as it is wanted. One that cannot be read is not.
func sameDefinition(live, want *unstructured.Unstructured) bool {
	changes, err := crd.Compare(live, want)
	return err == nil && len(changes) == 0
}

// safe refuses changes by which objects or clients would break.
func (m *maker) safe(p *Part, live, want *unstructured.Unstructured) {
	refuse := func(hint, format string, args ...any) {
		m.refuse(Refusal{Topic: "definitions", Part: p.Name, Object: refOf(want), Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	changes, err := crd.Compare(live, want)
	if err != nil {
		refuse("", "%s: %v", p.Name, err)
		return
	}
	for _, c := range changes {
		if c.Severity == crd.Unsafe {
			refuse("choose a version that is nearer to what is there, or bring the objects along first", "%s of %s cannot take the place of what is there%s: %s (%s)",
				want.GetName(), p.Name, placeOf(c), c.Message, c.Rule)
		}
	}
	m.existing(p, want, refuse)
}

func placeOf(c crd.Change) string {
	at := ""
	if c.Version != "" {
		at += ", version " + c.Version
	}
	if c.Field != "" {
		at += ", field " + c.Field
	}
	return at
}

// existing refuses a schema that custom resources which are there do not fit.
func (m *maker) existing(p *Part, want *unstructured.Unstructured, refuse func(hint, format string, args ...any)) {
	custom, asked := m.state.Custom[want.GetName()]
	if !asked || !custom.Whole {
		return
	}
	broken, err := crd.ValidateExisting(want, custom.Objects)
	if err != nil {
		refuse("", "%s: %v", p.Name, err)
		return
	}
	const few = 10
	for i, b := range broken {
		if i == few {
			refuse("", "%d more of what is there do not fit %s of %s", len(broken)-few, want.GetName(), p.Name)
			return
		}
		hint := "change the object so that it fits, and begin again"
		if b.Lost {
			hint = "take the field out of the object where it is not needed, and begin again"
		}
		refuse(hint, "%s%s does not fit %s of %s: %s", b.Object, at(b), want.GetName(), p.Name, b.Message)
	}
}

func at(b crd.Broken) string {
	if b.Field == "" {
		return ""
	}
	return ", " + b.Field + ","
}

// customOf are the custom resources of the definitions of a package that do not go with
// releases of the same run.
func (m *maker) customOf(name string, more []*unstructured.Unstructured, goes map[object.Ref]bool) []object.Ref {
	var out []object.Ref
	for _, u := range m.customObjects(name, more, goes) {
		out = append(out, refOf(u))
	}
	return sortRefs(out)
}

func (m *maker) customObjects(name string, more []*unstructured.Unstructured, goes map[object.Ref]bool) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, n := range m.definitionNames(name, more) {
		for _, u := range m.state.Custom[n].Objects {
			if !goes[refOf(u)] {
				out = append(out, u)
			}
		}
	}
	return out
}

// definitionNames are the definitions of a package that are there: by our mark, and by what it brings.
func (m *maker) definitionNames(name string, more []*unstructured.Unstructured) []string {
	names := m.state.definitionsOf(name)
	for _, u := range more {
		if live := m.state.Definitions[u.GetName()]; live != nil && live.GetLabels()[PackageLabel] == "" {
			names = append(names, u.GetName())
		}
	}
	return distinct(names)
}
