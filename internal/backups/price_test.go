package backups

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

func TestAddPrices(t *testing.T) {
	plan := func() *backup.Plan {
		return &backup.Plan{Parts: []backup.Part{{Method: backup.BySnapshot, Size: "5Gi"}, {Method: backup.ByOperator, Size: "10Gi"}, {Method: backup.BySnapshot, Size: "512Mi"}}}
	}
	book, problems := cost.ParseBook("prices.yaml", []byte(`{apiVersion: sysop.dev/v1alpha1, kind: PriceBook, currency: EUR, cpu: "0.03", memory: "0.004", storage: "0.0001", snapshot: {price: "0.05", per: month}}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := plan()
	AddPrices(p, book)
	if p.Price != "0.275" || p.Currency != "EUR" || p.Parts[0].Price != "0.25" || p.Parts[1].Price != "" || p.Parts[2].Price != "0.025" || len(p.Notes) > 0 {
		t.Errorf("the plan is %+v", p)
	}
	p = plan()
	AddPrices(p, cost.DefaultBook())
	if p.Price != "" || p.Parts[0].Price != "" || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "is unknown") {
		t.Errorf("without a price, the plan is %+v", p)
	}
}
