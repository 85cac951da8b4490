package install

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// safe refuses changes of a definition that would break objects or clients. ForceDefinitions allows
// those that would break clients only.
func (m *planner) safe(p *Part, live, want *unstructured.Unstructured) {
	refuse := func(hint, message string) {
		m.refuse(Refusal{Topic: "definitions", Part: p.Name, Object: object.RefOf(want), Message: p.Name + ": " + message, Hint: hint})
	}
	v, err := crd.CheckUpgrade(live, want, m.state.Custom[want.GetName()].whole())
	if err != nil {
		refuse("", err.Error())
		return
	}
	for i, text := range v.Refused {
		const maxShown = 20
		if i == maxShown {
			refuse("", fmt.Sprintf("%d more reasons for %s are not listed", len(v.Refused)-maxShown, want.GetName()))
			break
		}
		refuse("choose a version closer to the installed one, or change the existing objects to fit, then retry; --force does not help, since existing objects break", text)
	}
	for _, text := range v.Unsafe {
		if len(v.Refused) > 0 {
			refuse("--force alone does not help: existing objects break: "+v.Refused[0], text)
			continue
		}
		if m.options.ForceDefinitions {
			m.note("%s: %s", p.Name, text)
			continue
		}
		refuse("choose a version closer to the installed one; or use --force: "+harmless(len(v.UnevaluatedRules) > 0), text)
	}
	for _, text := range v.UnevaluatedRules {
		m.note("%s: existing objects were not checked against a rule of %s: %s", p.Name, want.GetName(), text)
	}
}

// harmless describes what a forced change may break when no object is known to break.
func harmless(undecided bool) string {
	if undecided {
		return "no existing object is known to break, but not every rule was checked (see the notes)"
	}
	return "no existing object breaks, but clients that write such objects may"
}

// whole returns the custom resources if they were read completely.
func (c CustomResources) whole() []*unstructured.Unstructured {
	if !c.Whole {
		return nil
	}
	return c.Objects
}

// customOf returns the custom resources of a package's definitions that are not deleted with
// releases of the same run.
func (m *planner) customOf(name string, more []*unstructured.Unstructured, removed map[object.Ref]bool) []object.Ref {
	var out []object.Ref
	for _, u := range m.customObjects(name, more, removed) {
		out = append(out, object.RefOf(u))
	}
	return sortRefs(out)
}

func (m *planner) customObjects(name string, more []*unstructured.Unstructured, removed map[object.Ref]bool) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, n := range m.definitionNames(name, more) {
		for _, u := range m.state.Custom[n].Objects {
			if !removed[object.RefOf(u)] {
				out = append(out, u)
			}
		}
	}
	return out
}

// definitionNames returns the existing definitions of a package: the labelled ones, and those of
// its chart.
func (m *planner) definitionNames(name string, more []*unstructured.Unstructured) []string {
	names := m.state.definitionsOf(name)
	for _, u := range more {
		if live := m.state.Definitions[u.GetName()]; live != nil && live.GetLabels()[helm.PackageLabel] == "" {
			names = append(names, u.GetName())
		}
	}
	return distinct(names)
}
