package install

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rollback brings the releases back to the revisions that they were at, those that need
// others first, and takes away what was installed since. Definitions stay as they are.
func (m *maker) rollback() {
	for _, to := range slices.Backward(m.options.To) {
		m.back(to)
	}
	if len(m.options.To) == 0 {
		m.refuse(Refusal{Topic: "release", Message: fmt.Sprintf("of %s nothing is known that could be rolled back to", m.plan.Installation.Name), Hint: "see its history"})
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
	goes := map[object.Ref]bool{}
	for _, r := range since {
		m.willGo(r, goes)
	}
	for _, r := range since {
		if name := r.Labels[PackageLabel]; name != "" {
			if m.needed(name, "was installed since") {
				continue
			}
			if left := m.customOf(name, nil, goes); len(left) > 0 {
				m.note("%s was installed since, and stays: there are custom resources of it, %s", name, listed(left))
				continue
			}
		}
		m.remove(r, m.nameOf(r))
	}
}

// back brings one release back, and waits for what it had then.
func (m *maker) back(to ReleaseState) {
	live := m.state.release(to.Namespace, to.Release)
	refuse := func(hint, format string, args ...any) {
		m.refuse(Refusal{Topic: "release", Part: to.Part, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	if live == nil {
		refuse("install it again in version "+to.Version, "the release %s in %s is not there any more, and neither is what it was", to.Release, to.Namespace)
		return
	}
	p := &Part{Name: to.Part, App: to.App, Release: to.Release, Namespace: to.Namespace, Version: to.Version}
	if i := slices.IndexFunc(m.plan.Parts, func(have *Part) bool { return have.Release == to.Release && have.Namespace == to.Namespace }); i < 0 {
		m.plan.Parts = slices.Insert(m.plan.Parts, 0, p)
	}
	if m.foreignRelease(p) && live.Status != "uninstalled" {
		refuse("", "the release %s in %s is somebody else's by now", to.Release, to.Namespace)
	}
	m.settled(p, live)
	was := live.Records[to.Revision]
	if m.isAt(p, live, to.Revision) {
		m.plan.Unchanged = append(m.plan.Unchanged, to.Part)
		return
	}
	if !slices.Contains(live.Revisions, to.Revision) {
		refuse("install it in version "+to.Version, "revision %d of the release %s in %s is not kept any more", to.Revision, to.Release, to.Namespace)
	}
	step := Step{
		ID: "release/" + to.Namespace + "/" + to.Release, Kind: RollbackRelease, Part: to.Part, Release: to.Release, Namespace: to.Namespace,
		Was: live.Deployed, To: to.Revision, From: m.versionOf(live), Version: to.Version,
	}
	if was != nil {
		for _, u := range was.Objects {
			step.Objects = append(step.Objects, m.placed(u, to.Namespace))
		}
		sortRefs(step.Objects)
		step.Irreversible, step.Data = m.lostBack(p, live, was)
	}
	m.step(step)
	if gate, any := m.gate(p, was); any {
		m.step(gate)
	}
}

// isAt says that a release is deployed at a revision, or at one with the same content.
func (m *maker) isAt(p *Part, live *LiveRelease, revision int) bool {
	is, was := live.Current(), live.Records[revision]
	switch {
	case live.Status != "deployed":
		return false
	case live.Revision == revision:
		return true
	case is == nil || was == nil:
		return false
	}
	return is.Chart == was.Chart && is.Version == was.Version && sameJSON(is.Values, was.Values) &&
		sameTexts(m.contents(p, is.Objects), m.contents(p, was.Objects)) && sameTexts(m.contents(p, is.Hooks), m.contents(p, was.Hooks))
}

// gate waits for what a record makes that has health.
func (m *maker) gate(p *Part, record *LiveRecord) (Step, bool) {
	if record == nil {
		return Step{}, false
	}
	part := *p
	part.Rendered = renderedOf(m, record, p.Namespace)
	return m.await(&part)
}

// lostBack says what rolling back deletes that holds data.
func (m *maker) lostBack(p *Part, live *LiveRelease, was *LiveRecord) (string, []object.Ref) {
	part := *p
	part.Rendered = renderedOf(m, was, p.Namespace)
	return m.lost(&part, live)
}
