package install

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var claimKind = schema.GroupKind{Kind: "PersistentVolumeClaim"}

// release installs or upgrades the release of a part, unless it is unchanged.
func (m *planner) release(p *Part) {
	live := m.state.release(p.Namespace, p.Release)
	step := Step{
		ID: "release/" + p.Namespace + "/" + p.Release, Kind: InstallRelease, Part: p.Name,
		Release: p.Release, Namespace: p.Namespace, Version: p.Version, Objects: refsOf(rendered(p).Objects),
	}
	if live == nil || live.Status == "uninstalled" {
		m.step(step)
		return
	}
	m.ownRelease(p, live)
	m.settled(p, live)
	if !m.foreignRelease(p) && m.unchanged(p, live) {
		m.plan.Unchanged = append(m.plan.Unchanged, p.Name)
		return
	}
	step.From, step.Was = m.versionOf(live), live.Deployed
	// A failed first installation is upgraded, so that none of its data is deleted.
	step.Kind = UpgradeRelease
	if live.Deployed == 0 && (live.Status == "pending-install" || live.Status == "uninstalling") {
		step.Kind = InstallRelease
	}
	m.downgrade(p, live)
	m.noteRollouts(p)
	step.Irreversible, step.Data = m.deletedData(p, live)
	m.step(step)
}

// foreignRelease reports whether the release of a part exists and belongs to another manager or
// part.
func (m *planner) foreignRelease(p *Part) bool {
	live := m.state.release(p.Namespace, p.Release)
	switch {
	case live == nil || live.Status == "uninstalled":
		return false
	case p.App:
		return live.Labels[helm.SystemLabel] != m.plan.Installation.Name
	}
	return live.Labels[helm.PackageLabel] != p.Name
}

// ownRelease refuses a release of another manager. TakeOwnership takes over one of the same chart;
// another chart would delete all its objects.
func (m *planner) ownRelease(p *Part, live *LiveRelease) {
	if !m.foreignRelease(p) {
		return
	}
	whose := "was not installed by kubectl sysop"
	switch {
	case live.Labels[helm.SystemLabel] != "" && p.App:
		whose = "belongs to the System " + live.Labels[helm.SystemLabel]
	case live.Labels[helm.PackageLabel] != "":
		whose = "belongs to the package " + live.Labels[helm.PackageLabel]
	}
	chart := ""
	if c := live.Current(); c != nil {
		chart = c.Chart
	}
	if m.options.TakeOwnership && chart != "" && chart == chartOf(p) {
		m.note("the Helm release %s in %s, which %s, is taken over at revision %d", p.Release, p.Namespace, whose, live.Revision)
		return
	}
	m.stranger[p.Name] = true
	hint := fmt.Sprintf("uninstall it (helm uninstall %s -n %s), or install %s in another namespace", p.Release, p.Namespace, p.Name)
	if chart != "" && chart == chartOf(p) {
		hint += "; or take it over with --take-ownership"
	}
	m.refuse(Refusal{
		Topic: "release", Part: p.Name,
		Message: fmt.Sprintf("the Helm release %s in %s exists (chart %s), and %s", p.Release, p.Namespace, cmp.Or(chart, "unknown"), whose), Hint: hint,
	})
}

func chartOf(p *Part) string {
	if p.Chart == nil || p.Chart.Helm == nil || p.Chart.Helm.Metadata == nil {
		return ""
	}
	return p.Chart.Helm.Metadata.Name
}

func chartVersionOf(p *Part) string {
	if p.Chart == nil || p.Chart.Helm == nil || p.Chart.Helm.Metadata == nil {
		return ""
	}
	return p.Chart.Helm.Metadata.Version
}

// settled refuses a pending release: helm is running, or was killed. A release that the resumed run
// left pending is continued.
func (m *planner) settled(p *Part, live *LiveRelease) {
	if !strings.HasPrefix(live.Status, "pending-") && live.Status != "uninstalling" {
		return
	}
	if m.options.Resume != "" && live.Labels[helm.RunLabel] == m.options.Resume {
		return
	}
	hint := fmt.Sprintf("wait for it; if no process works on it any longer: helm uninstall %s -n %s", p.Release, p.Namespace)
	if live.Deployed > 0 {
		hint = fmt.Sprintf("wait for it; if no process works on it any longer: helm rollback %s %d -n %s", p.Release, live.Deployed, p.Namespace)
	}
	m.refuse(Refusal{
		Topic: "release", Part: p.Name,
		Message: fmt.Sprintf("the Helm release %s in %s is %s (revision %d): another process changes it, or was killed", p.Release, p.Namespace, live.Status, live.Revision), Hint: hint,
	})
}

// versionOf returns the version of a live release: from its record, from the last run, or that of
// the chart.
func (m *planner) versionOf(live *LiveRelease) string {
	if v := live.Labels[helm.VersionLabel]; v != "" {
		return strings.ReplaceAll(v, "_", "+")
	}
	for _, b := range m.options.Before {
		if b.Release == live.Name && b.Namespace == live.Namespace && b.Revision == live.Deployed && b.Version != "" {
			return b.Version
		}
	}
	if c := live.Current(); c != nil {
		return c.Version
	}
	return ""
}

// downgrade notes that a part changes to an earlier version.
func (m *planner) downgrade(p *Part, live *LiveRelease) {
	record := live.Current()
	if record == nil || record.Chart != chartOf(p) {
		return
	}
	was, err := semver.NewVersion(record.Version)
	if err != nil {
		return
	}
	current, err := semver.NewVersion(chartVersionOf(p))
	if err == nil && current.LessThan(was) && !p.App {
		m.note("%s is downgraded from chart %s to %s: its project may not support that", p.Name, record.Version, chartVersionOf(p))
	}
}

// deletedData returns the data that an upgrade deletes, and refuses a release that contains
// definitions or namespaces: Helm would delete them with their contents.
func (m *planner) deletedData(p *Part, live *LiveRelease) (string, []object.Ref) {
	record := live.Current()
	if record == nil {
		return "", nil
	}
	stays := map[object.Ref]bool{}
	for _, u := range rendered(p).Objects {
		stays[m.placed(u, p.Namespace)] = true
	}
	applied := map[object.Ref]bool{}
	for i := range m.plan.Steps {
		if s := &m.plan.Steps[i]; s.Kind == ApplyDefinitions {
			for _, r := range s.Objects {
				applied[r] = true
			}
		}
	}
	var removed []*unstructured.Unstructured
	for _, u := range record.Objects {
		ref := m.placed(u, p.Namespace)
		switch {
		case stays[ref] || u.GetAnnotations()[helm.PolicyAnnotation] == keepPolicy:
		case ref.GroupKind() == definitionKind:
			if live := m.state.Definitions[ref.Name]; !applied[ref] && (live == nil || live.GetAnnotations()[helm.PolicyAnnotation] != keepPolicy) {
				m.wouldDelete(p, ref, "crd")
			}
		case ref.GroupKind() == namespaceKind:
			if m.state.Objects[ref] == nil || m.state.Objects[ref].GetAnnotations()[helm.PolicyAnnotation] != keepPolicy {
				m.wouldDelete(p, ref, "namespace")
			}
		default:
			removed = append(removed, u)
		}
	}
	data := sortRefs(append(m.data(removed, p.Namespace), m.scaledAway(p, record)...))
	if len(data) == 0 {
		return "", nil
	}
	text := "deletes " + listed(data) + ", with all data"
	m.note("the %s of %s %s", m.plan.Action, p.Name, text)
	return text, data
}

func (m *planner) wouldDelete(p *Part, ref object.Ref, kind string) {
	m.refuse(Refusal{
		Topic: "data", Part: p.Name, Object: ref,
		Message: fmt.Sprintf("release %s contains %s, and %s no longer has it: Helm would delete it with all that is in it", p.Release, ref, p.Name),
		Hint:    fmt.Sprintf("keep it first: kubectl annotate %s %s %s=%s", kind, ref.Name, helm.PolicyAnnotation, keepPolicy),
	})
}

// listed formats the first few references for people.
func listed(refs []object.Ref) string {
	const maxShown = 10
	var names []string
	for _, r := range refs[:min(maxShown, len(refs))] {
		names = append(names, r.String())
	}
	text := strings.Join(names, ", ")
	if more := len(refs) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
