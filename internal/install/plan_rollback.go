package install

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rollback rolls the releases back to their former revisions, dependencies first, and removes those
// that were installed since. Definitions do not change.
func (m *planner) rollback() {
	// Releases that were removed since come first, in the order of their installation.
	removed := func(to ReleaseState) bool {
		live := m.state.release(to.Namespace, to.Release)
		return live != nil && live.Status == helm.Uninstalled
	}
	for _, to := range m.options.To {
		if removed(to) {
			m.planRollback(to)
		}
	}
	for _, to := range slices.Backward(m.options.To) {
		if !removed(to) {
			m.planRollback(to)
		}
	}
	if len(m.options.To) == 0 {
		m.refuse(Refusal{Topic: "release", Message: fmt.Sprintf("%s has nothing to roll back to", m.plan.Installation.Name), Hint: "see its history"})
		return
	}
	var since []*LiveRelease
	for i := range m.state.Releases {
		r := &m.state.Releases[i]
		in := func(s ReleaseState) bool { return s.Release == r.Name && s.Namespace == r.Namespace }
		if r.Status != "uninstalled" && slices.ContainsFunc(m.options.Before, in) && !slices.ContainsFunc(m.options.To, in) {
			since = append(since, r)
		}
	}
	m.lastFirst(since)
	gone := map[object.Ref]bool{}
	for _, r := range since {
		m.willGo(r, gone)
	}
	for _, r := range since {
		if name := r.Labels[helm.PackageLabel]; name != "" {
			if m.needed(name, "was installed since") {
				continue
			}
			if remaining := m.customOf(name, nil, gone); len(remaining) > 0 {
				m.note("%s was installed since, and stays: it has custom resources: %s", name, listed(remaining))
				continue
			}
		}
		m.remove(r, m.nameOf(r))
	}
}

// planRollback rolls one release back, and waits for its former objects.
func (m *planner) planRollback(to ReleaseState) {
	live := m.state.release(to.Namespace, to.Release)
	refuse := func(hint, format string, args ...any) {
		m.refuse(Refusal{Topic: "release", Part: to.Part, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	if live == nil {
		refuse(m.againHint(to), "release %s in %s no longer exists, and neither do its records", to.Release, to.Namespace)
		return
	}
	p := &Part{Name: to.Part, App: to.App, Release: to.Release, Namespace: to.Namespace, Version: to.Version}
	if i := slices.IndexFunc(m.plan.Parts, func(have *Part) bool { return have.Release == to.Release && have.Namespace == to.Namespace }); i < 0 {
		m.plan.Parts = slices.Insert(m.plan.Parts, 0, p)
	}
	if m.foreignRelease(p) && live.Status != "uninstalled" {
		refuse("", "release %s in %s no longer belongs to this installation", to.Release, to.Namespace)
	}
	m.settled(p, live)
	was := live.Records[to.Revision]
	if m.isAt(p, live, to.Revision) {
		m.plan.Unchanged = append(m.plan.Unchanged, to.Part)
		if gate, any := m.gate(p, was); any && slices.Contains(m.options.Waiting, to.Part) {
			m.step(gate)
		}
		return
	}
	if !slices.Contains(live.Revisions, to.Revision) {
		refuse(m.againHint(to), "revision %d of release %s in %s is no longer stored", to.Revision, to.Release, to.Namespace)
	}
	step := Step{
		ID: "release/" + to.Namespace + "/" + to.Release, Kind: RollbackRelease, Part: to.Part, Release: to.Release, Namespace: to.Namespace,
		Was: live.Deployed, To: to.Revision, From: m.versionOf(live), Version: to.Version, Removed: live.Status == helm.Uninstalled,
	}
	if step.Removed {
		step.From = ""
	}
	if was != nil {
		for _, u := range was.Objects {
			step.Objects = append(step.Objects, m.placed(u, to.Namespace))
		}
		sortRefs(step.Objects)
		if !step.Removed {
			step.Irreversible, step.Data = m.lostBack(p, live, was)
		}
		m.emptied(p, live, was)
	}
	m.step(step)
	if gate, any := m.gate(p, was); any {
		m.step(gate)
	}
}

// isAt reports whether a release is deployed at a revision, or at one with the same content.
func (m *planner) isAt(p *Part, live *LiveRelease, revision int) bool {
	current, was := live.Current(), live.Records[revision]
	switch {
	case live.Status != "deployed":
		return false
	case live.Revision == revision:
		return true
	case current == nil || was == nil:
		return false
	}
	return current.Chart == was.Chart && current.Version == was.Version && sameJSON(current.Values, was.Values) &&
		sameTexts(m.contents(p, current.Objects), m.contents(p, was.Objects)) && sameTexts(m.contents(p, current.Hooks), m.contents(p, was.Hooks))
}

// gate returns the step that waits for the objects of a record that have health.
func (m *planner) gate(p *Part, record *helm.StoredRecord) (Step, bool) {
	if record == nil {
		return Step{}, false
	}
	part := *p
	part.Rendered = renderedOf(m, record, p.Namespace)
	return m.await(&part)
}

// lostBack returns the data that a rollback deletes.
func (m *planner) lostBack(p *Part, live *LiveRelease, was *helm.StoredRecord) (string, []object.Ref) {
	part := *p
	part.Rendered = renderedOf(m, was, p.Namespace)
	return m.deletedData(&part, live)
}

// againHint tells how to reinstall a release that cannot be rolled back.
func (m *planner) againHint(to ReleaseState) string {
	if to.App {
		return "upgrade -f with a manifest that has the app " + to.Part
	}
	return "install it again in version " + to.Version
}

// emptied notes that a release is recreated without its data, which was deleted with it.
func (m *planner) emptied(p *Part, live *LiveRelease, was *helm.StoredRecord) {
	present := map[object.Ref]bool{}
	if current := live.Current(); current != nil && live.Status != helm.Uninstalled {
		for _, u := range current.Objects {
			present[m.placed(u, p.Namespace)] = true
		}
	}
	var data []object.Ref
	for _, u := range was.Objects {
		ref := m.placed(u, p.Namespace)
		if present[ref] || u.GetAnnotations()[helm.PolicyAnnotation] == keepPolicy || m.state.Objects[ref] != nil {
			continue
		}
		kind, _ := m.kinds.Kind(ref.GroupKind())
		policy, _, _ := unstructured.NestedString(u.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
		if kind.Custom || ref.GroupKind() == claimKind || policy == "Delete" && len(claimPrefixes(u)) > 0 {
			data = append(data, ref)
		}
	}
	if len(data) > 0 {
		m.note("%s is recreated without its data: the data of %s was deleted when it was removed, and cannot be restored", p.Name, listed(sortRefs(data)))
	}
}
