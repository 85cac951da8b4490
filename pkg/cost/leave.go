package cost

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Leave leaves charges that are others' out of a ledger, for a question that is not
// about all that was charged. Of claims that others mount as well the reading keeps the
// part that is left. It changes both.
func Leave(r *metrics.Reading, l *Ledger, others func(*Charge) bool) {
	type quantities struct{ all, left decimal.Decimal }
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
		if !others(c) {
			q.left = q.left.Add(c.Quantity)
		}
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if q := claims[c.Ref]; q != nil && !q.left.Equal(q.all) {
			c.Claimed = c.Claimed.Mul(q.left).DivRound(q.all, places)
			c.Used = c.Used.Mul(q.left).DivRound(q.all, places)
		}
	}
	r.Claims = slices.DeleteFunc(r.Claims, func(c metrics.Claim) bool {
		q := claims[c.Ref]
		return q != nil && q.left.IsZero() && q.all.IsPositive()
	})
	l.Charges = slices.DeleteFunc(l.Charges, func(c Charge) bool { return others(&c) })
}
