package install

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unchanged reports whether a release is deployed in the desired state: the same chart, values,
// objects and hooks, and the same values of connections as far as they exist.
func (m *planner) unchanged(p *Part, live *LiveRelease) bool {
	record := live.Current()
	if record == nil || live.Status != "deployed" || record.Chart != chartOf(p) || record.Version != chartVersionOf(p) || !sameJSON(record.Values, p.Values) {
		return false
	}
	if v := live.Labels[helm.VersionLabel]; !p.App && v != "" && v != strings.ReplaceAll(p.Version, "+", "_") {
		return false // otherwise the record would keep the older version for ever
	}
	was, now := m.contents(p, record.Objects), m.contents(p, rendered(p).Objects)
	hooksWere, hooksAre := m.contents(p, record.Hooks), m.contents(p, hookObjects(rendered(p).Hooks))
	return sameTexts(was, now) && sameTexts(hooksWere, hooksAre) && m.sameConnections(p, record) && m.sameLabels(p)
}

// sameLabels reports whether the objects of a part still have the labels that it keeps, and give them
// to their pods. What is missing or unread is not its question.
func (m *planner) sameLabels(p *Part) bool {
	same := true
	for _, u := range rendered(p).Objects {
		live := m.state.Objects[m.placed(u, p.Namespace)]
		if live == nil {
			continue
		}
		for _, key := range p.Labels {
			if want, ok := u.GetLabels()[key]; ok && live.GetLabels()[key] != want {
				m.note("%s: the label %s of %s is not %s any longer, and is set again", p.Name, key, object.RefOf(live), want)
				same = false
			}
			if want, ok := system.TemplateLabels(u)[key]; ok && system.TemplateLabels(live)[key] != want {
				same = false
			}
		}
	}
	return same
}

// noteRollouts notes the workloads whose pods are replaced because the labels of their template change.
func (m *planner) noteRollouts(p *Part) {
	for _, u := range rendered(p).Objects {
		live := m.state.Objects[m.placed(u, p.Namespace)]
		if live == nil || live.GetKind() == "CronJob" {
			continue
		}
		var changed []string
		for _, key := range p.Labels {
			if want, ok := system.TemplateLabels(u)[key]; ok && system.TemplateLabels(live)[key] != want {
				changed = append(changed, key)
			}
		}
		if len(changed) > 0 {
			m.note("%s: the pods of %s are replaced, because their template gets new labels: %s", p.Name, object.RefOf(live), strings.Join(changed, ", "))
		}
	}
}

// contents returns the JSON of each object of a release, without its namespace, which a manifest
// may omit, and without values of connections. Definitions and namespaces are excluded.
func (m *planner) contents(p *Part, us []*unstructured.Unstructured) map[object.Ref]string {
	out := map[object.Ref]string{}
	for _, u := range us {
		ref := m.placed(u, p.Namespace)
		if gk := ref.GroupKind(); gk == definitionKind || gk == namespaceKind {
			continue
		}
		c := u.DeepCopy()
		unstructured.RemoveNestedField(c.Object, "metadata", "namespace")
		for _, conn := range p.Connections {
			if conn.To == ref {
				connection.Remove(c, conn.Field)
			}
		}
		text, err := json.Marshal(c.Object)
		if err != nil {
			text = []byte(err.Error())
		}
		out[ref] += string(text)
	}
	return out
}

// sameConnections reports whether no value of a connection is known to have changed.
func (m *planner) sameConnections(p *Part, record *helm.StoredRecord) bool {
	for _, c := range p.Connections {
		from := m.state.Objects[c.From]
		if from == nil {
			continue
		}
		value, err := connection.Resolve(from, c.Path)
		if err != nil {
			continue // it does not exist now, so the former value stays
		}
		for _, u := range record.Objects {
			if m.placed(u, p.Namespace) != c.To {
				continue
			}
			if have, err := connection.Resolve(u, c.Field); err != nil || !sameJSON(have, m.fitted(p, c, value)) {
				return false
			}
		}
	}
	return true
}

func hookObjects(hooks []chart.Hook) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, 0, len(hooks))
	for _, h := range hooks {
		out = append(out, h.Object)
	}
	return out
}

func sameTexts(a, b map[object.Ref]string) bool {
	if len(a) != len(b) {
		return false
	}
	for ref, text := range a {
		if other, have := b[ref]; !have || other != text {
			return false
		}
	}
	return true
}

// sameJSON compares values by their JSON: 1 equals 1.0, and null equals {}.
func sameJSON(a, b any) bool {
	text := func(v any) string {
		if m, ok := v.(map[string]any); v == nil || ok && len(m) == 0 {
			return "{}"
		}
		t, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(t)
	}
	return text(a) == text(b)
}

// renderedOf returns a record as a rendered chart: each object has its namespace.
func renderedOf(m *planner, record *helm.StoredRecord, namespace string) *chart.Rendered {
	out := &chart.Rendered{}
	for _, u := range record.Objects {
		c := u.DeepCopy()
		ref := m.placed(c, namespace)
		c.SetNamespace(ref.Namespace)
		switch ref.GroupKind() {
		case definitionKind:
			out.Definitions = append(out.Definitions, c)
		case namespaceKind:
			out.Namespaces = append(out.Namespaces, c)
		default:
			out.Objects = append(out.Objects, c)
		}
	}
	return out
}
