package rbac

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// subject is the holder that rules about permissions check: an operator, or the pods of a
// stack.
type subject struct {
	w        *check.ClusterState
	operator bool
	// accounts are the service accounts, in order, by workload, so that a finding can name the
	// workload.
	accounts  []object.Ref
	workloads map[object.Ref][]object.Ref
	// tokenless are workloads whose pods have no token, and so cannot use the permissions of
	// their accounts.
	tokenless []object.Ref
	// kin are workloads of the same installation as an operator, without evidence that they
	// run it: they are checked as parts of it.
	kin map[object.Ref]bool
	// own are the API groups of an operator's kinds, homes the namespaces of the accounts.
	own, homes map[string]bool
	// instances are the namespaces that have objects of an operator's kinds, in order.
	instances []string
	// held returns the holdings: it computes them once, for all topics.
	held func() ([]*holding, []object.Ref)
}

// holding is a rule of a role, and all the ways by which a holder has it.
type holding struct {
	check.Grant
	accounts, bindings []object.Ref
	// namespaces are where it is in force; cluster is set where it is everywhere.
	namespaces []string
	cluster    bool
}

// finding is the result of a topic for a rule.
type finding struct {
	severity check.Severity
	// field is the part of the rule (verbs, resources), value its content.
	field, value string
	// what continues the sentence "service account x": may read secrets.
	what   string
	remedy string
}

// permissionTopic is a permission that roles should not grant.
type permissionTopic struct {
	id string
	// operator and pods are the texts of its two rules.
	operator, pods words
	find           func(*subject, *holding) (finding, bool)
}

// words are the texts of a rule, and its severity.
type words struct {
	severity        check.Severity
	title, why, fix string
}

// topicRules makes two rules of each topic: one for operators, one for the pods of stacks.
func topicRules() []check.Rule {
	var out []check.Rule
	for _, t := range permissionTopics {
		out = append(out, check.Rule{
			ID: "operator-" + t.id, Category: check.Security, Severity: t.operator.severity, Guidelines: []check.Guideline{check.MaturityGuideline(6)},
			Title: t.operator.title, Why: t.operator.why, Fix: t.operator.fix,
			Operator: func(o *check.Operator, r *check.Result) {
				// operator-service-account reports an operator without a known workload, once.
				if len(o.Workloads) > 0 {
					t.ask(operatorSubject(o), r)
				}
			},
		}, check.Rule{
			ID: "pod-" + t.id, Category: check.Security, Severity: t.pods.severity, Guidelines: []check.Guideline{check.MaturityGuideline(7)},
			Title: t.pods.title, Why: t.pods.why, Fix: t.pods.fix,
			Stack: func(s *check.Stack, r *check.Result) { t.ask(check.Derived(s, "rbac", stackSubject), r) },
		})
	}
	return out
}

func operatorSubject(o *check.Operator) *subject {
	h := &subject{w: o.World, operator: true, own: map[string]bool{}, homes: map[string]bool{}, workloads: map[object.Ref][]object.Ref{}}
	in := map[string]bool{}
	for _, gk := range o.Kinds {
		h.own[gk.Group] = true
		for _, ref := range o.World.Instances(gk) {
			if ref.Namespace != "" {
				in[ref.Namespace] = true
			}
		}
	}
	h.instances = slices.Sorted(maps.Keys(in))
	h.held = sync.OnceValues(h.holdings)
	for _, wl := range o.Workloads {
		h.add(wl)
	}
	return h
}

// stackSubject returns the pods of a stack that hold a token, without those of operators.
func stackSubject(s *check.Stack) *subject {
	h := &subject{w: s.World, kin: map[object.Ref]bool{}, own: map[string]bool{}, homes: map[string]bool{}, workloads: map[object.Ref][]object.Ref{}}
	h.held = sync.OnceValues(h.holdings)
	operated := s.World.OperatorWorkloads()
	for _, wl := range s.Workloads() {
		if operated[wl.Ref] {
			continue
		}
		h.add(wl)
		for ref := range operated {
			if ref.Namespace == wl.Ref.Namespace && sameRelease(s.World, ref, wl.Ref) {
				h.kin[wl.Ref] = true
			}
		}
	}
	return h
}

// serves reports whether only an operator, or parts of its installation, hold a rule.
func (h *subject) serves(x *holding) bool {
	if h.operator {
		return true
	}
	for _, sa := range x.accounts {
		if slices.ContainsFunc(h.workloads[sa], func(wl object.Ref) bool { return !h.kin[wl] }) {
			return false
		}
	}
	return true
}

func (h *subject) add(wl *check.Workload) {
	for _, v := range check.PodViews(wl) {
		sa := check.ServiceAccount(wl.Ref.Namespace, v.Spec.ServiceAccountName)
		if mounted, known := holdsToken(h.w, sa, v); known && !mounted && !h.operator {
			h.tokenless = append(h.tokenless, wl.Ref)
			continue
		}
		if !slices.Contains(h.workloads[sa], wl.Ref) {
			h.workloads[sa] = append(h.workloads[sa], wl.Ref)
		}
		if !slices.Contains(h.accounts, sa) {
			h.accounts = append(h.accounts, sa)
		}
		h.homes[sa.Namespace] = true
	}
	slices.SortFunc(h.accounts, object.Compare)
}

// holdings returns the rules of the accounts, each once, in the order of roles; and the
// accounts whose rules are not all known.
func (h *subject) holdings() (out []*holding, open []object.Ref) {
	type key struct {
		role, through object.Ref
		index         int
	}
	byRule := map[key]*holding{}
	for _, sa := range h.accounts {
		grants, known := h.w.Grants(sa)
		if !known {
			open = append(open, sa)
		}
		for _, g := range grants {
			k := key{g.Role, g.Through, g.Index}
			if byRule[k] == nil {
				byRule[k] = &holding{Grant: g}
				out = append(out, byRule[k])
			}
			byRule[k].add(sa, &g)
		}
	}
	slices.SortStableFunc(out, func(a, b *holding) int {
		return cmp.Or(object.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
	})
	return out, open
}

func (x *holding) add(sa object.Ref, g *check.Grant) {
	if !slices.Contains(x.accounts, sa) {
		x.accounts = append(x.accounts, sa)
	}
	if !slices.Contains(x.bindings, g.Binding) {
		x.bindings = append(x.bindings, g.Binding)
	}
	switch {
	case g.Namespace == "":
		x.cluster = true
	case !slices.Contains(x.namespaces, g.Namespace):
		x.namespaces = append(x.namespaces, g.Namespace)
		slices.Sort(x.namespaces)
	}
}

// abroad returns the namespaces where it is in force, without those of the accounts.
func (x *holding) abroad(h *subject) []string {
	return slices.DeleteFunc(slices.Clone(x.namespaces), func(ns string) bool { return h.homes[ns] })
}

func (x *holding) scopeText() string {
	switch {
	case x.cluster:
		return "in the whole cluster"
	case len(x.namespaces) == 1:
		return "in the namespace " + x.namespaces[0]
	}
	return "in the namespaces " + object.ShortList(x.namespaces)
}
