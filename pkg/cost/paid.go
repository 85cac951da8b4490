package cost

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Paid leaves in a ledger what stacks pay, for a question about some stacks: charges
// of nobody's are dropped, and of claims that others mount as well the reading keeps
// the part that is paid; it changes both.
func Paid(r *metrics.Reading, l *Ledger) {
	type quantities struct{ all, paid decimal.Decimal }
	claims := map[object.Ref]*quantities{}
	for i := range l.Charges {
		c := &l.Charges[i]
		if !isClaim(c.Item) || c.Kind != Used && c.Kind != Unmounted {
			continue
		}
		q := claims[c.Item]
		if q == nil {
			q = &quantities{}
			claims[c.Item] = q
		}
		q.all = q.all.Add(c.Quantity)
		if c.Stack != (object.Ref{}) {
			q.paid = q.paid.Add(c.Quantity)
		}
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if q := claims[c.Ref]; q != nil && !q.paid.Equal(q.all) {
			c.Claimed = c.Claimed.Mul(q.paid).DivRound(q.all, places)
			c.Used = c.Used.Mul(q.paid).DivRound(q.all, places)
		}
	}
	r.Claims = slices.DeleteFunc(r.Claims, func(c metrics.Claim) bool {
		q := claims[c.Ref]
		return q != nil && q.paid.IsZero() && q.all.IsPositive()
	})
	l.Charges = slices.DeleteFunc(l.Charges, func(c Charge) bool { return c.Stack == (object.Ref{}) })
}
