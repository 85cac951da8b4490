package autoscale

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Whole is what a plan means for all applications together.
type Whole struct {
	// Current, Min, Usual and Max are what all costs a month, now and at these replicas; empty without
	// prices.
	Currency string `json:"currency,omitempty"`
	Current  string `json:"current,omitempty"`
	Min      string `json:"min,omitempty"`
	Usual    string `json:"usual,omitempty"`
	Max      string `json:"max,omitempty"`
	// Budget bounds Max; empty for none.
	Budget string `json:"budget,omitempty"`
	// Bottleneck is what the most pods depend on at their maxima, and that the plan does not scale.
	Bottleneck object.Ref `json:"bottleneck,omitzero"`
	// Findings are what else must grow, or stands against a maximum.
	Findings []Finding `json:"findings"`
}

// Finding is one thing about the whole.
type Finding struct {
	Object  object.Ref `json:"object,omitzero"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

// whole bounds the maxima by the budget, and finds what else must grow.
func (p *planner) whole() {
	w := &p.plan.Whole
	w.Findings = []Finding{}
	p.bound()
	if p.Total.IsPositive() {
		w.Currency, w.Current = p.Currency, p.Total.StringFixed(2)
		w.Min, w.Usual, w.Max = p.costAt(leastOf).StringFixed(2), p.costAt(usualOf).StringFixed(2), p.costAt(maxOf).StringFixed(2)
	}
	p.providers()
	p.disruptions()
}

func leastOf(r *Proposal) int { return r.Min }
func usualOf(r *Proposal) int { return r.Usual }
func maxOf(r *Proposal) int   { return r.Max }

// costAt is what all costs a month with these replicas of what is scaled horizontally.
func (p *planner) costAt(replicas func(*Proposal) int) decimal.Decimal {
	sum := p.Total
	for i := range p.plan.Proposals {
		if r := &p.plan.Proposals[i]; r.horizontal() {
			pods := max(r.Replicas, len(r.workload.Pods))
			if u, known := p.Usage[r.workload.Ref]; known {
				pods = u.Pods
			}
			sum = sum.Add(r.cost.Mul(decimal.NewFromInt(int64(replicas(r) - pods))))
		}
	}
	return sum
}

// bound reduces the maxima until they fit into the budget, each by the same part of what is above
// its minimum.
func (p *planner) bound() {
	budget, err := decimal.NewFromString(p.Defaults.Budget)
	if err != nil || !budget.IsPositive() {
		return
	}
	w := &p.plan.Whole
	w.Budget = budget.StringFixed(2)
	least, most := p.costAt(leastOf), p.costAt(maxOf)
	switch {
	case !p.Total.IsPositive():
		w.Findings = append(w.Findings, Finding{Reason: "Budget", Message: "the cost is unknown: the budget bounds nothing", Hint: "--prices names a price book"})
		return
	case most.LessThanOrEqual(budget):
		return
	case least.GreaterThanOrEqual(budget):
		w.Findings = append(w.Findings, Finding{Reason: "Budget", Message: fmt.Sprintf("the minima cost %s %s a month, and the budget is %s: nothing is scaled above its minimum", least.StringFixed(2), p.Currency, w.Budget), Hint: "raise the budget, or lower min"})
		if most.Equal(least) {
			return
		}
	}
	part := decimal.Max(decimal.Zero, budget.Sub(least)).DivRound(most.Sub(least), 6)
	for i := range p.plan.Proposals {
		r := &p.plan.Proposals[i]
		above := int64(r.Max - r.Min)
		if !r.horizontal() || above == 0 || !r.cost.IsPositive() {
			continue
		}
		before := r.Max
		r.Max = r.Min + int(decimal.NewFromInt(above).Mul(part).IntPart())
		r.Usual = min(r.Usual, r.Max)
		r.Reasons = append(r.Reasons, fmt.Sprintf("max %d instead of %d: the budget is %s %s a month", r.Max, before, w.Budget, p.Currency))
	}
}

// provider is a workload that scaled ones depend on.
type provider struct {
	top  object.Ref
	apps []string
	// now and atMax are the pods that depend on it.
	now, atMax int
}

// providers finds what several scaled workloads depend on, and the bottleneck among them.
func (p *planner) providers() {
	found := map[object.Ref]*provider{}
	scaled := map[object.Ref]bool{}
	for i := range p.plan.Proposals {
		if r := &p.plan.Proposals[i]; r.horizontal() {
			scaled[r.Target] = true
			for _, top := range p.needed(r) {
				f := found[top]
				if f == nil {
					f = &provider{top: top}
					found[top] = f
				}
				f.apps = append(f.apps, fmt.Sprintf("%s (max %d)", short(r.Target), r.Max))
				f.now, f.atMax = f.now+r.Replicas, f.atMax+r.Max
			}
		}
	}
	var all []*provider
	for _, f := range found {
		if !scaled[f.top] && f.atMax > f.now {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *provider) int { return cmp.Or(b.atMax-a.atMax, object.Compare(a.top, b.top)) })
	w := &p.plan.Whole
	for i, f := range all {
		if i == 0 {
			w.Bottleneck = f.top
		}
		w.Findings = append(w.Findings, Finding{
			Object: f.top, Reason: "Provider",
			Message: fmt.Sprintf("%d pods depend on it at their maxima, %d now: %s", f.atMax, f.now, strings.Join(f.apps, ", ")),
			Hint:    "check its limit of connections and its requests before the maxima: this plan does not scale it with them",
		})
	}
}

// needed are the topmost owners of the workloads that a proposal depends on.
func (p *planner) needed(r *Proposal) []object.Ref {
	var roots []graph.ID
	for _, ref := range slices.Compact([]object.Ref{r.Target, r.workload.Ref}) {
		if id, ok := p.Graph.Find(ref); ok {
			roots = append(roots, id)
		}
	}
	stack := p.Graph.Stack(roots, p.Options)
	var out []object.Ref
	for _, wl := range p.State.Workloads() {
		id, ok := p.Graph.Find(wl.Ref)
		top := p.State.Top(wl.Ref)
		if !ok || wl.Ref == r.workload.Ref || !stack.IsOwnPart(id) || !wl.IsLongRunning() || top == r.Target || top == p.State.Top(r.workload.Ref) {
			continue
		}
		out = append(out, top)
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}

// disruptions finds budgets that allow no eviction at the minimum.
func (p *planner) disruptions() {
	for i := range p.plan.Proposals {
		r := &p.plan.Proposals[i]
		if !r.horizontal() {
			continue
		}
		for _, pdb := range p.budgets(r.workload) {
			if field := forbids(pdb, r.Min); field != "" {
				p.plan.Whole.Findings = append(p.plan.Whole.Findings, Finding{
					Object: object.Ref{Group: "policy", Kind: "PodDisruptionBudget", Namespace: pdb.Namespace, Name: pdb.Name}, Reason: "Disruption",
					Message: fmt.Sprintf("at the minimum of %s (%d) it allows no eviction: %s", short(r.Target), r.Min, field), Hint: "use maxUnavailable above 0, or a larger min",
				})
			}
		}
	}
}

// forbids is the field of a budget that allows no eviction of this number of pods; empty for none.
func forbids(pdb *policyv1.PodDisruptionBudget, pods int) string {
	if most := pdb.Spec.MaxUnavailable; most != nil {
		if n, err := intstr.GetScaledValueFromIntOrPercent(most, pods, true); err == nil && n <= 0 {
			return "maxUnavailable is " + most.String()
		}
	}
	if least := pdb.Spec.MinAvailable; least != nil {
		if n, err := intstr.GetScaledValueFromIntOrPercent(least, pods, true); err == nil && n >= pods {
			return "minAvailable is " + least.String()
		}
	}
	return ""
}

// AtMaximum are the workloads of a plan as they are at their maxima.
func (p *Plan) AtMaximum() map[*check.Workload]int {
	out := map[*check.Workload]int{}
	for i := range p.Proposals {
		if r := &p.Proposals[i]; r.horizontal() && r.Max > r.Replicas {
			out[r.workload] = r.Max
		}
	}
	return out
}
