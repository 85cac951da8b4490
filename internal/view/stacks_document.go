package view

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StacksDocument is the stacks that were found, with their health, usage and
// cost (docs/schema/stacks.json). Times are RFC 3339. CPU is in cores, memory
// and storage in bytes; what is unknown is left out.
type StacksDocument struct {
	Head `json:",inline"`
	// At is when it was measured.
	At       string `json:"at"`
	Currency string `json:"currency"`
	// Prices is the name of the price book.
	Prices string `json:"prices"`
	// SharedAmong is among which stacks the cost of what several need is split: all of the
	// cluster, or those of the namespace.
	SharedAmong string          `json:"sharedAmong"`
	Stacks      []StackDocument `json:"stacks"`
	Total       StackSum        `json:"total"`
	None        NoneDocument    `json:"none"`
	Notes       []document.Note `json:"notes"`
	Gaps        []object.Gap    `json:"gaps"`
}

// StackDocument is a stack that was found.
type StackDocument struct {
	// Name is a ROOT that means it: an object, or helm/NAMESPACE/NAME.
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// GroupedBy is what its roots say that they belong together by: helm, app or applyset.
	GroupedBy string `json:"groupedBy,omitempty"`
	// Roots are the workloads and custom resources that it was found by.
	Roots []string `json:"roots"`
	// Objects is how many are in it, without boundaries.
	Objects int                 `json:"objects"`
	Health  StackHealthDocument `json:"health"`
	Pods    StackPodsDocument   `json:"pods"`
	Used    AmountsDocument     `json:"used"`
	// Requests is what its containers ask for, and Claimed what its volumes hold.
	Requests AmountsDocument `json:"requests"`
	Claimed  AmountsDocument `json:"claimed"`
	Cost     CostDocument    `json:"cost"`
	// Created is when the first of its roots was.
	Created string `json:"created,omitempty"`
	// Shared are objects that other stacks have as well: the topmost of them.
	Shared []string `json:"shared"`
	// Cluster says that it is one of the cluster itself, as its DNS is.
	Cluster bool `json:"cluster"`
}

// StackHealthDocument is the health of a stack.
type StackHealthDocument struct {
	Status string               `json:"status"`
	Since  string               `json:"since,omitempty"`
	Causes []StackCauseDocument `json:"causes"`
}

// StackCauseDocument is a cause of the health of a stack, the deepest first.
type StackCauseDocument struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   string `json:"since,omitempty"`
}

// StackPodsDocument counts pods: all that run or wait, those of which the usage is known,
// and those that are Healthy.
type StackPodsDocument struct {
	Total    int `json:"total"`
	Measured int `json:"measured"`
	Healthy  int `json:"healthy"`
}

// StackSum is the sum over the stacks. A pod that several of them have counts once.
type StackSum struct {
	Stacks int             `json:"stacks"`
	Pods   int             `json:"pods"`
	Used   AmountsDocument `json:"used"`
	Cost   CostDocument    `json:"cost"`
}

// NoneDocument is what belongs to no stack, without boundaries.
type NoneDocument struct {
	Count int `json:"count"`
	// Objects are these, with --all.
	Objects []ExcludedDocument `json:"objects,omitempty"`
}

// ExcludedDocument is an object that is in no stack.
type ExcludedDocument struct {
	ID string `json:"id"`
	// ExclusionReason is why it is in none.
	ExclusionReason string `json:"exclusionReason"`
	Status          string `json:"status,omitempty"`
	Reason          string `json:"reason,omitempty"`
	Message         string `json:"message,omitempty"`
}

func (v *stacksView) document() StacksDocument {
	doc := StacksDocument{
		Head: HeadOf("Stacks"), At: v.o.Reading.To.UTC().Format(time.RFC3339), Currency: v.o.Currency, Prices: v.o.Prices, SharedAmong: v.o.SharedAmong,
		None: NoneDocument{Count: v.o.Rest}, Notes: document.NotesOf(v.o.Reading), Gaps: v.o.Gaps,
	}
	for i := range v.rows {
		doc.Stacks = append(doc.Stacks, v.stack(&v.rows[i]))
	}
	for _, o := range v.o.Others {
		d := ExcludedDocument{ID: o.Object.String(), ExclusionReason: o.Why, Status: string(o.Health.Status)}
		if o.Health.Status.Worse(health.Healthy) {
			d.Reason, d.Message = o.Health.Reason, o.Health.Message
		}
		doc.None.Objects = append(doc.None.Objects, d)
	}
	doc.Total = StackSum{Stacks: len(v.rows), Pods: v.total.Pods, Used: amountsDocument(v.total.Used), Cost: costDocument(v.total, true)}
	return doc
}

func (v *stacksView) stack(r *StackRow) StackDocument {
	d := StackDocument{
		Name: r.Name.String(), Namespace: r.Name.Namespace, GroupedBy: r.By, Roots: refIDs(r.Roots), Objects: r.Objects,
		Health:  StackHealthDocument{Status: string(r.Status()), Since: Moment(r.since())},
		Created: Moment(r.Created), Shared: refIDs(r.Shared), Cluster: r.Cluster,
	}
	for _, c := range r.Causes {
		d.Health.Causes = append(d.Health.Causes, StackCauseDocument{c.Object.String(), string(c.Health.Status), c.Health.Reason, c.Health.Message, Moment(c.Health.Since)})
	}
	if r.Row != nil {
		d.Pods = StackPodsDocument{r.Row.Pods, r.Row.Measured, r.HealthyPods}
		d.Used, d.Requests, d.Claimed, d.Cost = amountsDocument(r.Row.Used), amountsDocument(r.Row.Requested), amountsDocument(r.Row.Claimed), costDocument(r.Row, true)
	}
	return d
}

// refIDs writes objects as documents do.
func refIDs(list []object.Ref) []string {
	ids := make([]string, 0, len(list))
	for _, r := range list {
		ids = append(ids, r.String())
	}
	return ids
}
