package install

import (
	"fmt"
	"maps"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definitions creates and changes the definitions of a part, where that is allowed and safe.
func (m *planner) definitions(p *Part) {
	step := Step{ID: "definitions/" + p.Name, Kind: ApplyDefinitions, Part: p.Name, Version: p.Version}
	for _, want := range rendered(p).Definitions {
		ref := object.RefOf(want)
		if other, found := m.made[ref]; found {
			m.shared(p, other, want)
			continue
		}
		live := m.state.Definitions[want.GetName()]
		if live == nil || m.changes(p, live, want) {
			u := m.marked(p, want, live)
			if live == nil {
				m.made[ref] = p.Name
			}
			step.Objects = append(step.Objects, ref)
			step.Definitions = append(step.Definitions, u)
			if live != nil {
				step.Irreversible = "objects that are stored in the new version meanwhile stay in it"
			}
		}
	}
	if len(step.Definitions) > 0 {
		m.step(step)
	}
}

// shared handles a definition that another part of the same run creates.
func (m *planner) shared(p *Part, other string, want *unstructured.Unstructured) {
	for _, o := range m.plan.Parts {
		if o.Name != other {
			continue
		}
		for _, u := range rendered(o).Definitions {
			if u.GetName() == want.GetName() && !crd.Same(u, want) {
				m.refuse(Refusal{
					Topic: "definitions", Part: p.Name, Object: object.RefOf(want),
					Message: fmt.Sprintf("%s and %s both provide %s, with different content", other, p.Name, want.GetName()), Hint: "install one of them without its CRDs, by its values",
				})
			}
		}
	}
}

// changes reports whether an existing definition is to be changed, and refuses where it must not
// be.
func (m *planner) changes(p *Part, live, want *unstructured.Unstructured) bool {
	then := m.marked(p, want, live)
	if was := live.GetLabels()[helm.VersionLabel]; was != "" {
		labels := then.GetLabels()
		labels[helm.VersionLabel] = was // A later version with an identical definition does not change it.
		then.SetLabels(labels)
	}
	same := crd.Same(live, then)
	k, foreign := m.definitionManager(p, live)
	if live.GetDeletionTimestamp() != nil {
		m.refuse(Refusal{
			Topic: "definitions", Part: p.Name, Object: object.RefOf(live), Message: fmt.Sprintf("CRD %s is being deleted", live.GetName()),
			Hint: "wait until it is gone; it stays while finalizers hold its custom resources",
		})
	}
	switch {
	case newerThere(p, live):
		m.note("CRD %s stays: it is of %s %s, which is newer than %s", want.GetName(), p.Name, live.GetLabels()[helm.VersionLabel], p.Version)
		return false
	case p.KeepDefinitions:
		if !crd.Same(live, want) {
			m.note("CRD %s exists and is not changed: %s has a different one", want.GetName(), p.Name)
		}
		return false
	case foreign && !m.options.TakeOwnership:
		m.already(p, live, k)
	case foreign:
		m.take(p, object.RefOf(live), k)
	}
	if !same {
		m.safe(p, live, want)
	}
	return !same
}

// newerThere reports whether a live definition is of a later version of the package. It stays after
// a rollback, because an earlier one could drop fields.
func newerThere(p *Part, live *unstructured.Unstructured) bool {
	labels := live.GetLabels()
	current, err := semver.NewVersion(strings.ReplaceAll(labels[helm.VersionLabel], "_", "+"))
	want, wrong := semver.NewVersion(p.Version)
	return labels[helm.PackageLabel] == p.Name && err == nil && wrong == nil && current.GreaterThan(want)
}

// definitionManager returns the other manager of a definition, and whether there is one.
func (m *planner) definitionManager(p *Part, live *unstructured.Unstructured) (Manager, bool) {
	k := ManagerOf(live)
	switch {
	case k.By == "sysop" && k.Name == p.Name:
		return Manager{}, false
	case k.By == "helm" && k.Name == p.Release && k.Namespace == p.Namespace && !m.foreignRelease(p):
		return Manager{}, false
	}
	return k, true
}

// already refuses to replace a definition of another manager.
func (m *planner) already(p *Part, live *unstructured.Unstructured, k Manager) {
	m.refuse(Refusal{
		Topic: "ownership", Part: p.Name, Object: object.RefOf(live),
		Message: fmt.Sprintf("%s is already installed: CRD %s is managed by %s", p.Name, live.GetName(), k),
		Hint:    "skip it, since what needs it can use the existing one; or take it over with --take-ownership",
	})
}

// marked returns a definition as it is applied: with our labels and annotations, and with the
// relationship annotations of the catalog if it has none.
func (m *planner) marked(p *Part, want, live *unstructured.Unstructured) *unstructured.Unstructured {
	u := want.DeepCopy()
	labels := nonNil(u.GetLabels())
	labels[helm.PackageLabel] = p.Name
	if p.Version != "" {
		labels[helm.VersionLabel] = strings.ReplaceAll(p.Version, "+", "_")
	}
	u.SetLabels(labels)
	notes := nonNil(u.GetAnnotations())
	maps.Copy(notes, m.annotations(want, live))
	// A release that contained the definition would otherwise delete it.
	notes[helm.PolicyAnnotation] = keepPolicy
	u.SetAnnotations(notes)
	return u
}

// annotations returns the relationship annotations for a definition that has none of its own,
// neither in the chart nor on the cluster.
func (m *planner) annotations(want, live *unstructured.Unstructured) map[string]string {
	if m.options.Annotate == nil {
		return nil
	}
	add := maps.Clone(m.options.Annotate(want))
	if live == nil || len(add) == 0 {
		return add
	}
	// Annotations that an earlier run would have set do not count.
	notes := nonNil(live.GetAnnotations())
	bare := live.DeepCopy()
	rest := maps.Clone(notes)
	maps.DeleteFunc(rest, func(k, _ string) bool { _, ok := add[k]; return ok })
	bare.SetAnnotations(rest)
	ours, foreign := live.GetLabels()[helm.PackageLabel] != "", len(m.options.Annotate(bare)) == 0
	maps.DeleteFunc(add, func(k, v string) bool {
		have, carries := notes[k]
		return foreign && have != v || carries && have != v && !ours
	})
	return add
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// refsOf returns the references of objects.
func refsOf(us []*unstructured.Unstructured) []object.Ref {
	out := make([]object.Ref, 0, len(us))
	for _, u := range us {
		out = append(out, object.RefOf(u))
	}
	return sortRefs(out)
}
