package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rbacSubject is whom rules about rights are asked of: an operator, or the pods of a stack.
type rbacSubject struct {
	w        *ClusterState
	operator bool
	// accounts are the service accounts, in order; by workload, so that a finding can name
	// who runs as them.
	accounts  []object.Ref
	workloads map[object.Ref][]object.Ref
	// tokenless are workloads whose pods have no token: whatever their accounts may do, they
	// cannot.
	tokenless []object.Ref
	// kin are workloads of the same installation as an operator, that are not known to run
	// it: they are judged as parts of it.
	kin map[object.Ref]bool
	// own are the API groups of an operator's kinds, homes the namespaces of the accounts.
	own, homes map[string]bool
	// instances are the namespaces in which an operator's kinds have objects, in order.
	instances []string
}

// rbacHolding is a rule of a role, and all the ways by which a holder comes by it.
type rbacHolding struct {
	Grant
	accounts, bindings []object.Ref
	// namespaces are where it is in force; cluster says that it is everywhere.
	namespaces []string
	cluster    bool
}

// rbacFinding is what a topic finds in a rule.
type rbacFinding struct {
	severity Severity
	// field is the part of the rule (verbs, resources), value what stands there.
	field, value string
	// what goes on from "service account x": may read secrets.
	what   string
	remedy string
}

// rbacTopic is one thing that roles should not give away.
type rbacTopic struct {
	id string
	// operator and pods are the words of its two rules.
	operator, pods rbacWords
	find           func(*rbacSubject, *rbacHolding) (rbacFinding, bool)
}

// rbacWords are the words of a rule, and how much it matters.
type rbacWords struct {
	severity        Severity
	title, why, fix string
}

// rbacRules makes two rules of each topic: one for operators, one for the pods of stacks.
func rbacRules() []Rule {
	var out []Rule
	for _, t := range rbacTopics() {
		out = append(out, Rule{
			ID: "operator-" + t.id, Category: Security, Severity: t.operator.severity, Guidelines: []Guideline{maturity(6)},
			Title: t.operator.title, Why: t.operator.why, Fix: t.operator.fix,
			Operator: func(o *Operator, r *Result) {
				// Where nothing is known to run it, that is told once, with its service account.
				if len(o.Workloads) > 0 {
					t.ask(rbacOperator(o), r)
				}
			},
		}, Rule{
			ID: "pod-" + t.id, Category: Security, Severity: t.pods.severity, Guidelines: []Guideline{maturity(7)},
			Title: t.pods.title, Why: t.pods.why, Fix: t.pods.fix,
			Stack: func(s *Stack, r *Result) { t.ask(rbacStack(s), r) },
		})
	}
	return out
}

func rbacOperator(o *Operator) *rbacSubject {
	h := &rbacSubject{w: o.World, operator: true, own: map[string]bool{}, homes: map[string]bool{}, workloads: map[object.Ref][]object.Ref{}}
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
	for _, wl := range o.Workloads {
		h.add(wl)
	}
	return h
}

// rbacStack is the pods of a stack that hold a token, but for those of operators.
func rbacStack(s *Stack) *rbacSubject {
	h := &rbacSubject{w: s.World, kin: map[object.Ref]bool{}, own: map[string]bool{}, homes: map[string]bool{}, workloads: map[object.Ref][]object.Ref{}}
	operated := s.World.securityOperated()
	for _, wl := range s.Workloads() {
		if operated[wl.Ref] {
			continue
		}
		h.add(wl)
		for ref := range operated {
			if ref.Namespace == wl.Ref.Namespace && s.World.sameRelease(ref, wl.Ref) {
				h.kin[wl.Ref] = true
			}
		}
	}
	return h
}

// serves says that a rule is held by an operator, or by parts of its installation alone.
func (h *rbacSubject) serves(x *rbacHolding) bool {
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

func (h *rbacSubject) add(wl *Workload) {
	for _, v := range podViews(wl) {
		sa := account(wl.Ref.Namespace, v.spec.ServiceAccountName)
		if mounted, known := h.w.holdsToken(sa, v); known && !mounted && !h.operator {
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

// holdings returns the rules that any of the accounts has, each once, in the order of
// roles; and the accounts of which not all is known.
func (h *rbacSubject) holdings() (out []*rbacHolding, open []object.Ref) {
	type key struct {
		role, through object.Ref
		index         int
	}
	by := map[key]*rbacHolding{}
	for _, sa := range h.accounts {
		grants, known := h.w.Grants(sa)
		if !known {
			open = append(open, sa)
		}
		for _, g := range grants {
			k := key{g.Role, g.Through, g.Index}
			if by[k] == nil {
				by[k] = &rbacHolding{Grant: g}
				out = append(out, by[k])
			}
			by[k].add(sa, &g)
		}
	}
	slices.SortStableFunc(out, func(a, b *rbacHolding) int {
		return cmp.Or(object.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
	})
	return out, open
}

func (x *rbacHolding) add(sa object.Ref, g *Grant) {
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

// abroad returns the namespaces in which it is in force and that are not those of the
// accounts.
func (x *rbacHolding) abroad(h *rbacSubject) []string {
	return slices.DeleteFunc(slices.Clone(x.namespaces), func(ns string) bool { return h.homes[ns] })
}

func (x *rbacHolding) scopeText() string {
	switch {
	case x.cluster:
		return "in the whole cluster"
	case len(x.namespaces) == 1:
		return "in the namespace " + x.namespaces[0]
	}
	return "in the namespaces " + object.ShortList(x.namespaces)
}
