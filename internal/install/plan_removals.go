package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// planRemovals removes the releases that the System has dropped, the last installed first, apps
// before packages. A package that still has custom resources stays.
func (m *planner) planRemovals() {
	if !m.plan.Installation.System {
		return
	}
	var leftover []*LiveRelease
	for i := range m.state.Releases {
		r := &m.state.Releases[i]
		wanted := slices.ContainsFunc(m.plan.Parts, func(p *Part) bool { return p.Release == r.Name && p.Namespace == r.Namespace })
		if r.Labels[helm.SystemLabel] == m.plan.Installation.Name && !wanted && r.Status != "uninstalled" {
			leftover = append(leftover, r)
		}
	}
	m.lastFirst(leftover)
	removed := map[object.Ref]bool{}
	for _, r := range leftover {
		m.willGo(r, removed)
	}
	for _, r := range leftover {
		name := r.Labels[helm.PackageLabel]
		if name == "" {
			m.remove(r, m.nameOf(r))
			continue
		}
		if m.needed(name, "is no longer in the System") {
			continue
		}
		if remaining := m.customOf(name, nil, removed); len(remaining) > 0 {
			m.note("%s is no longer in the System, and stays: it has custom resources: %s", name, listed(remaining))
			continue
		}
		m.remove(r, name)
	}
}

// needed notes that a package stays because it has, or may have, other dependants.
func (m *planner) needed(name, reason string) bool {
	dependants := m.options.Needed[name]
	if len(dependants) > 0 {
		m.note("%s %s, and stays: it is needed by %s", name, reason, strings.Join(dependants, ", "))
	}
	switch hidden := m.options.NeedsHidden; {
	case len(dependants) > 0 || hidden == "":
	case m.options.IgnoreHidden:
		m.note("%s %s: %s", name, reason, hidden)
	default:
		m.note("%s %s, and stays: %s; --force removes it", name, reason, hidden)
		return true
	}
	return len(dependants) > 0
}

// lastFirst sorts releases for removal: apps before packages, the last installed first.
func (m *planner) lastFirst(rs []*LiveRelease) {
	place := func(r *LiveRelease) int {
		return slices.IndexFunc(m.options.Before, func(b ReleaseState) bool { return b.Release == r.Name && b.Namespace == r.Namespace })
	}
	rank := func(r *LiveRelease) int {
		if r.Labels[helm.PackageLabel] != "" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rs, func(a, b *LiveRelease) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(place(b), place(a)), strings.Compare(a.Name, b.Name))
	})
}

// nameOf returns the name of the part of a release, as the last run recorded it.
func (m *planner) nameOf(r *LiveRelease) string {
	for _, b := range m.options.Before {
		if b.Release == r.Name && b.Namespace == r.Namespace {
			return b.Part
		}
	}
	return cmp.Or(r.Labels[helm.PackageLabel], r.Name)
}

// willGo adds the objects of a release to those that are deleted with it.
func (m *planner) willGo(r *LiveRelease, removed map[object.Ref]bool) {
	record := r.Current()
	if record == nil {
		return
	}
	for _, u := range record.Objects {
		if u.GetAnnotations()[helm.PolicyAnnotation] != keepPolicy {
			removed[m.placed(u, r.Namespace)] = true
		}
	}
}

// remove removes a release and waits until its custom resources are gone.
func (m *planner) remove(r *LiveRelease, part string) {
	s := Step{ID: "remove/" + r.Namespace + "/" + r.Name, Kind: RemoveRelease, Part: part, Release: r.Name, Namespace: r.Namespace, Was: r.Deployed, From: m.versionOf(r)}
	removed := map[object.Ref]bool{}
	m.willGo(r, removed)
	if record := r.Current(); record != nil {
		s.Data = m.data(record.Objects, r.Namespace)
	}
	for ref := range removed {
		s.Objects = append(s.Objects, ref)
		if gk := ref.GroupKind(); gk == definitionKind || gk == namespaceKind {
			m.refuse(Refusal{
				Topic: "data", Part: part, Object: ref, Message: fmt.Sprintf("release %s contains %s: Helm would delete it with all that is in it", r.Name, ref),
				Hint: "take the release over first: install it with --take-ownership, which keeps them",
			})
		}
	}
	sortRefs(s.Objects)
	if len(s.Data) > 0 {
		s.Irreversible = "the data of " + listed(s.Data) + " is deleted with it"
	}
	m.step(s)
}
