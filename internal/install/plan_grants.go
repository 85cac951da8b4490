package install

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// grants returns all rules that the run grants, new ones first.
func (m *planner) grants() []permission.Grant {
	var out []permission.Grant
	for i := range m.plan.Steps {
		s := &m.plan.Steps[i]
		p := m.partOf(s)
		if p == nil || s.Kind != InstallRelease && s.Kind != UpgradeRelease && s.Kind != RollbackRelease {
			continue
		}
		was, now, hooks := m.stepRecords(s)
		placed := func(u *unstructured.Unstructured) object.Ref { return m.placed(u, p.Namespace) }
		before, after := permission.GrantsOf(p.Name, was, placed), permission.GrantsOf(p.Name, slices.Concat(now, hooks), placed)
		out = append(out, permission.MarkNew(before, after)...)
	}
	slices.SortStableFunc(out, func(a, b permission.Grant) int {
		switch {
		case a.New == b.New:
			return cmp.Or(strings.Compare(a.Part, b.Part), object.Compare(a.Role, b.Role), object.Compare(a.Binding, b.Binding))
		case a.New:
			return -1
		}
		return 1
	})
	return out
}
