package install

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PlanOptions are the options for a whole run.
type PlanOptions struct {
	// TakeOwnership lets parts take over objects, definitions and releases of other managers.
	TakeOwnership bool
	// ForceDefinitions allows changes of definitions that may break clients, as long as no existing
	// object breaks.
	ForceDefinitions bool
	// DeleteDefinitions allows the deletion of definitions without objects; DeleteData allows the
	// deletion of custom resources with their operator.
	DeleteDefinitions, DeleteData bool
	// Orphan allows the removal of an operator whose custom resources stay.
	Orphan bool
	// Timeout limits each step.
	Timeout time.Duration
	// Annotate returns the relationship annotations for a definition that has none; nil disables
	// them.
	Annotate func(*unstructured.Unstructured) map[string]string
	// Arguments is a hash of the arguments of the command: only a command with the same arguments
	// resumes the run.
	Arguments string
	// Set is the ID of the System's ApplySet, whose label its own objects may have.
	Set string
	// Resume is the ID of the run to continue, which owns the releases that it left pending.
	Resume string
	// Waiting are unchanged parts to wait for: the run to continue was killed before it had waited.
	Waiting []string
	// Needed are the other dependants of a package, by its name: such a package is not removed when
	// a System drops it.
	Needed map[string][]string
	// NeedsHidden is the reason why the dependants of packages are unknown: no package is removed
	// then, unless IgnoreHidden is set.
	NeedsHidden  string
	IgnoreHidden bool
	// Before are the releases of the installation at the end of its last run (Journal), in the
	// order of their installation.
	Before []ReleaseState
	// To are the releases to roll back to, in the same order; ToRevision is their revision of the
	// history.
	To         []ReleaseState
	ToRevision int
}

// planner makes one plan.
type planner struct {
	plan    *Plan
	state   *State
	options PlanOptions
	order   *installOrder
	kinds   *object.Kinds // served now, or by definitions of the plan
	// stranger has the parts whose release is another manager's; busy has those with steps other
	// than a wait.
	stranger, busy map[string]bool
	// made has the definitions and namespaces that an earlier step creates.
	made map[object.Ref]string
}

// NewPlan plans the steps after which the parts are installed (Install, Upgrade), rolled back
// (Rollback, to PlanOptions.To) or uninstalled (Uninstall), and the refusals. It reads nothing,
// does not change its arguments, and is deterministic. The parts of an uninstallation need not be
// rendered: the live state counts.
//
// A refused plan still has its steps, so that people see them.
func NewPlan(action Action, in Installation, parts []*Part, state State, o PlanOptions) *Plan {
	m := &planner{
		plan:  &Plan{Installation: in, Action: action},
		state: &state, options: o,
		stranger: map[string]bool{}, busy: map[string]bool{}, made: map[object.Ref]string{},
	}
	m.plan.Refusals = checkParts(parts, action)
	var loops []Refusal
	m.plan.Parts, m.order, loops = inOrder(parts)
	m.plan.Refusals = append(m.plan.Refusals, loops...)
	m.kinds = kindsWith(state.Kinds, parts)
	m.gaps()
	switch action {
	case Uninstall:
		m.uninstall()
	case Rollback:
		m.rollback()
	default:
		m.install()
	}
	m.plan.Changes, m.plan.Grants = m.objectChanges(), m.grants()
	m.plan.To = o.ToRevision
	m.plan.Fingerprint = fingerprint(action, in, m.plan.Parts, o)
	return m.plan
}

// install plans the parts, dependencies first, and then removes the parts that a System has
// dropped.
func (m *planner) install() {
	var waits []int
	for _, p := range m.plan.Parts {
		m.kubernetes(p)
		m.connections(p)
		m.namespaces(p)
		m.definitions(p)
		m.release(p)
		m.ownObjects(p)
		waits = append(waits, len(m.plan.Steps))
	}
	// Whether the plan waits for an unchanged part depends on its dependants.
	for i, p := range slices.Backward(m.plan.Parts) {
		if m.busy[p.Name] || slices.Contains(m.options.Waiting, p.Name) || m.order.needed(p.Name, func(n *Part) bool { return m.busy[n.Name] }) {
			if step, any := m.await(p); any {
				m.plan.Steps = slices.Insert(m.plan.Steps, waits[i], step)
			}
		}
	}
	m.planRemovals()
}

// gaps refuses the plan if something could not be read.
func (m *planner) gaps() {
	for _, r := range GapRefusals(m.state.Gaps) {
		m.refuse(r)
	}
}

// GapRefusals returns one refusal for each unread resource of a namespace: its objects share the
// cause.
func GapRefusals(gaps []object.Gap) []Refusal {
	var out []Refusal
	for i, g := range gaps {
		same := func(o object.Gap) bool { return o.Resource == g.Resource && o.Namespace == g.Namespace }
		if slices.ContainsFunc(gaps[:i], same) {
			continue
		}
		at, more := g.Resource, -1
		if g.Namespace != "" {
			at += " in " + g.Namespace
		}
		for _, o := range gaps {
			if same(o) {
				more++
			}
		}
		reason := g.Message
		if more > 0 {
			reason = fmt.Sprintf("%s (and %d more)", reason, more)
		}
		out = append(out, Refusal{
			Topic: "rights", Message: fmt.Sprintf("you may not read %s, so the current state is unknown: %s", at, reason),
			Hint: "you need the permissions that --print-rbac prints",
		})
	}
	return out
}

func (m *planner) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.plan.Notes, text) {
		m.plan.Notes = append(m.plan.Notes, text)
	}
}

func (m *planner) refuse(r Refusal) {
	if !slices.Contains(m.plan.Refusals, r) {
		m.plan.Refusals = append(m.plan.Refusals, r)
	}
}

// step adds a step of a part, which makes it busy.
func (m *planner) step(s Step) {
	s.Timeout = m.options.Timeout
	m.plan.Steps = append(m.plan.Steps, s)
	m.busy[s.Part] = true
}

// kindsWith returns the served kinds and those that definitions of parts add.
func kindsWith(kinds *object.Kinds, parts []*Part) *object.Kinds {
	if kinds == nil {
		kinds = object.NewKinds(nil)
	}
	var more []object.Resource
	for _, p := range parts {
		for _, u := range rendered(p).Definitions {
			if r, ok := resourceOf(u); ok {
				more = append(more, r)
			}
		}
	}
	return kinds.With(more...)
}
