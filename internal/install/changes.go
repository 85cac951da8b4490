package install

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ObjectChange is a change of one object by a run: created, changed or deleted. Unchanged objects
// are not listed, and neither are the objects that controllers create.
type ObjectChange struct {
	Part   string     `json:"part,omitempty"`
	Object object.Ref `json:"object"`
	// Change is diff.Added, diff.Changed or diff.Removed.
	Change string `json:"change"`
	// Hook marks the object of a hook, which Helm may delete afterwards.
	Hook bool `json:"hook,omitempty"`
}

// objectChanges returns the changes of objects by all steps, in the order of the steps.
func (m *planner) objectChanges() []ObjectChange {
	var out []ObjectChange
	for i := range m.plan.Steps {
		s := &m.plan.Steps[i]
		switch s.Kind {
		case MakeNamespace:
			out = append(out, ObjectChange{Part: s.Part, Object: object.Ref{Kind: namespaceKind.Kind, Name: cmp.Or(s.Namespace, s.Release)}, Change: diff.Added})
		case ApplyDefinitions:
			for _, ref := range s.Objects {
				change := diff.Added
				if m.state.Definitions[ref.Name] != nil {
					change = diff.Changed
				}
				out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: change})
			}
		case InstallRelease, UpgradeRelease, RollbackRelease:
			out = append(out, m.releaseChanges(s)...)
		case RemoveRelease, DeleteObjects, DeleteDefinitions:
			for _, ref := range s.Objects {
				out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: diff.Removed})
			}
		}
	}
	return out
}

// stepRecords returns the objects of a release before and after a step, and its hooks after it.
func (m *planner) stepRecords(s *Step) (was, now, hooks []*unstructured.Unstructured) {
	live := m.state.release(s.Namespace, s.Release)
	if live != nil && live.Status != helm.Uninstalled && s.Kind != InstallRelease {
		if record := live.Current(); record != nil {
			was = record.Objects
		}
	}
	if s.Kind == RollbackRelease {
		if live != nil && live.Records[s.To] != nil {
			return was, live.Records[s.To].Objects, nil
		}
		return was, nil, nil
	}
	p := m.partOf(s)
	if p == nil {
		return was, nil, nil
	}
	return was, rendered(p).Objects, hookObjects(rendered(p).Hooks)
}

func (m *planner) partOf(s *Step) *Part {
	for _, p := range m.plan.Parts {
		if p.Release == s.Release && p.Namespace == s.Namespace {
			return p
		}
	}
	return nil
}

// releaseChanges compares the objects of a release before and after a step.
func (m *planner) releaseChanges(s *Step) []ObjectChange {
	p := m.partOf(s)
	if p == nil {
		return nil
	}
	before, after, hooks := m.stepRecords(s)
	was, now := m.contents(p, before), m.contents(p, after)
	var out []ObjectChange
	for ref, text := range now {
		switch old, had := was[ref]; {
		case !had && m.state.Objects[ref] == nil:
			out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: diff.Added})
		case !had, old != text:
			out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: diff.Changed})
		}
	}
	keeps := map[object.Ref]bool{}
	for _, u := range before {
		keeps[m.placed(u, p.Namespace)] = u.GetAnnotations()[helm.PolicyAnnotation] == keepPolicy
	}
	for ref := range was {
		if _, stays := now[ref]; !stays && !keeps[ref] {
			out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: diff.Removed})
		}
	}
	for ref := range m.contents(p, hooks) {
		out = append(out, ObjectChange{Part: s.Part, Object: ref, Change: diff.Added, Hook: true})
	}
	slices.SortFunc(out, func(a, b ObjectChange) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), object.Compare(a.Object, b.Object))
	})
	return out
}
