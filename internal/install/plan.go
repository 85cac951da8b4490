package install

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// PlanOptions are what is decided for all of a run.
type PlanOptions struct {
	// TakeOwnership lets parts take objects, definitions and releases that somebody else keeps.
	TakeOwnership bool
	// ForceDefinitions lets definitions change in ways that clients may not expect, as long
	// as no object that is there breaks.
	ForceDefinitions bool
	// DeleteDefinitions lets definitions go of which no object is left; DeleteData lets
	// custom resources go with their operator.
	DeleteDefinitions, DeleteData bool
	// Orphan lets an operator go and leaves its custom resources without one.
	Orphan bool
	// Timeout bounds each step.
	Timeout time.Duration
	// Annotate returns the relationship annotations for a definition that carries none; nil
	// for not to annotate.
	Annotate func(*unstructured.Unstructured) map[string]string
	// Arguments is a digest of what the run was asked for with: a run is resumed by the same
	// arguments alone.
	Arguments string
	// Set is the ID of the ApplySet of the System, whose label its own objects may carry.
	Set string
	// Resume is the ID of the run that is continued: releases that it left pending are its own.
	Resume string
	// Waiting are parts that are waited for although nothing is to be done of them: a run that
	// is continued was killed before it had waited.
	Waiting []string
	// Needed are who else needs a package, by its name: such a package is not taken away with
	// what a System has no more.
	Needed map[string][]string
	// NeedsHidden says why it is not known who else needs a package, where that is so: none is
	// taken away then, unless IgnoreHidden is set.
	NeedsHidden  string
	IgnoreHidden bool
	// Before are the releases of the installation when its last run ended, in the order in
	// which they were made (Journal).
	Before []ReleaseState
	// To is what is rolled back to, in the same order; ToRevision is its revision of the history.
	To         []ReleaseState
	ToRevision int
}

// planner makes one plan.
type planner struct {
	plan    *Plan
	state   *State
	options PlanOptions
	order   *installOrder
	kinds   *object.Kinds // what is served, and what will be
	// stranger are parts whose release is somebody else's; busy are those that have steps
	// besides to be waited for.
	stranger, busy map[string]bool
	// made are definitions and namespaces that a step makes already.
	made map[object.Ref]string
}

// NewPlan says what is to be done so that the parts are there (Install, Upgrade), are as they
// were (Rollback, to PlanOptions.To) or are gone (Uninstall), and why it must not be started. It
// reads nothing, and changes none of what it is given; the same input gives the same plan.
// Parts of an uninstallation need not be rendered: what is there counts.
//
// What is refused has its steps nevertheless, so that people see what would be done.
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

// install plans the parts, each after those that it needs, and then takes away what a system
// has no more.
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
	// Whether what is unchanged is waited for depends on who comes after it.
	for i, p := range slices.Backward(m.plan.Parts) {
		if m.busy[p.Name] || slices.Contains(m.options.Waiting, p.Name) || m.order.needed(p.Name, func(n *Part) bool { return m.busy[n.Name] }) {
			if step, any := m.await(p); any {
				m.plan.Steps = slices.Insert(m.plan.Steps, waits[i], step)
			}
		}
	}
	m.planRemovals()
}

// gaps refuses to plan over what could not be read.
func (m *planner) gaps() {
	for _, r := range GapRefusals(m.state.Gaps) {
		m.refuse(r)
	}
}

// GapRefusals says what could not be read, once for each resource of a namespace: to be kept
// from many objects of it has one cause.
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

// kindsWith are the kinds that are served and those that definitions of parts add.
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
