package backups

import (
	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// AddPrices adds what the snapshots of a plan cost a month. A snapshot takes as much as its claim at
// most. What operators store is not priced. Without a price of snapshots, their cost is unknown.
func AddPrices(p *backup.Plan, book *cost.Book) {
	sum, priced := decimal.Zero, false
	for i := range p.Parts {
		part := &p.Parts[i]
		size, err := resource.ParseQuantity(part.Size)
		if part.Method != backup.BySnapshot || err != nil {
			continue
		}
		price, found := book.Snapshot(part.Object.Namespace)
		if !found {
			p.Notes = append(p.Notes, "what the snapshots cost is unknown: the price book has no price of them (snapshot)")
			p.Price, p.Currency = "", ""
			return
		}
		month := decimal.NewFromInt(size.Value()).DivRound(decimal.NewFromInt(1<<30), cost.Digits).Mul(price.Net).Mul(decimal.NewFromInt(cost.HoursPerMonth))
		part.Price = month.Round(priceDigits).String()
		sum, priced = sum.Add(month), true
	}
	if priced {
		p.Price, p.Currency = sum.Round(priceDigits).String(), book.Currency
	}
}

// priceDigits are enough for a snapshot of 1 GiB.
const priceDigits = 4
