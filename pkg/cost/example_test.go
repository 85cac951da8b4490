package cost_test

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A database of one core that three shops share. A third of a core-hour has no end in
// decimals: what is split adds up to the whole all the same.
func ExampleAllocate() {
	book, problems := cost.ParseBook("prices.yaml", []byte(`
apiVersion: sysop.dev/v1alpha1
kind: PriceBook
currency: EUR
cpu: "0.10"
memory: "0.01"
storage: "0.0001"
`))
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	db := object.Ref{Kind: "Pod", Namespace: "shop", Name: "db"}
	var shops []object.Ref
	for _, name := range []string{"a", "b", "c"} {
		shops = append(shops, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name})
	}
	one := decimal.NewFromInt(1)
	reading := &metrics.UsageReport{Hours: one, Pods: []metrics.Pod{{Ref: db, Hours: one, Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: one})}}}
	placed := &metrics.Attribution{Stacks: shops, Of: map[object.Ref]metrics.Path{db: {Stacks: shops}}}

	ledger := cost.Allocate(reading, placed, book, cost.Options{Sharing: cost.ShareEven})
	for _, c := range ledger.Charges {
		fmt.Println(c.Stack.Name, c.Quantity, c.Unit, "at", c.Price, "is", c.Cost)
	}
	fmt.Println(ledger.Total(), ledger.Currency)
	// Output:
	// a 0.333333333334 Core-Hours at 0.1 is 0.0333333333334
	// b 0.333333333333 Core-Hours at 0.1 is 0.0333333333333
	// c 0.333333333333 Core-Hours at 0.1 is 0.0333333333333
	// 0.1 EUR
}
