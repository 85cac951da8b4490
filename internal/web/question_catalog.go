package web

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

type catalogAnswer struct {
	Entries []catalogEntry `json:"entries"`
	// Rates are what requests cost, by the price book of the page; absent without one.
	Rates *catalogRates `json:"rates,omitempty"`
}

// catalogRates are amounts of the currency a month: of a core, and of a GiB.
type catalogRates struct {
	Currency string  `json:"currency"`
	CPU      float64 `json:"cpu"`
	Memory   float64 `json:"memory"`
	Storage  float64 `json:"storage"`
}

type catalogEntry struct {
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Versions    []string      `json:"versions"` // that can be installed
	Kinds       []catalogKind `json:"kinds"`
	// Relations are those by a plain field of an object.
	Relations []catalogRelation `json:"relations"`
}

type catalogRelation struct {
	From     []string `json:"from"`
	To       []string `json:"to"`
	Relation string   `json:"relation"`
	Field    string   `json:"field"`
}

type catalogKind struct {
	Kind     string   `json:"kind"`
	Group    string   `json:"group"`
	Versions []string `json:"versions"`
	// Served says that the cluster serves the kind, so no operator has to be installed.
	Served bool `json:"served,omitempty"`
	// Composes are the kinds of objects that the operator makes for an instance.
	Composes []string `json:"composes"`
	// Example is the one of the newest version that has one.
	Example map[string]any `json:"example,omitempty"`
}

// catalogue answers which operators there are to choose from, as install reads them.
func (a *API) catalogue(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	answer := catalogAnswer{Entries: []catalogEntry{}}
	catalogue, err := a.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	kinds := a.Page.Kinds()
	for _, e := range catalogue.Entries() {
		entry := catalogEntry{Name: e.Name, Title: e.Title, Description: e.Description, Versions: []string{}, Kinds: []catalogKind{}, Relations: []catalogRelation{}}
		for i := range e.Versions {
			entry.Versions = append(entry.Versions, e.Versions[i].Version)
		}
		for _, k := range e.Kinds {
			gk := declare.GroupKind(k.Kind)
			_, served := kinds.Kind(gk)
			entry.Kinds = append(entry.Kinds, catalogKind{gk.Kind, gk.Group, k.Versions, served, append([]string{}, k.Composes...), exampleOf(&e, gk)})
		}
		for _, r := range e.Relations {
			if r.Field != "" && len(r.To) > 0 && !strings.ContainsAny(r.Field, "*\"") && !slices.Contains(r.To, "*") {
				entry.Relations = append(entry.Relations, catalogRelation{r.From, r.To, r.Relation, r.Field})
			}
		}
		answer.Entries = append(answer.Entries, entry)
	}
	answer.Rates = a.rates()
	return json.Marshal(answer)
}

// exampleOf returns the published example of a kind, or nil.
func exampleOf(e *catalog.Entry, kind schema.GroupKind) map[string]any {
	for i := range e.Versions {
		for _, text := range e.Versions[i].Examples {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(text), &o); err != nil {
				continue // the catalogue was checked when it was read
			}
			version, _ := o["apiVersion"].(string)
			if gv, err := schema.ParseGroupVersion(version); err == nil && gv.Group == kind.Group && o["kind"] == kind.Kind {
				return o
			}
		}
	}
	return nil
}

// rates are the prices of requests on a node without labels.
func (a *API) rates() *catalogRates {
	if a.Page.Request == nil || a.Page.Request.Book == nil {
		return nil
	}
	b := a.Page.Request.Book
	node, gib := b.Node(nil, ""), b.Storage("", "")
	month := func(d decimal.Decimal) float64 { return d.Mul(decimal.New(cost.HoursPerMonth, 0)).InexactFloat64() }
	return &catalogRates{b.Currency, month(node.CPU.Net), month(node.Memory.Net), month(gib.Net)}
}
