package cost

import (
	"math/big"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// LoadBalancer is the Resource of charges for load balancers, by the hour. Nothing
// else in a reading counts them.
const LoadBalancer metrics.Resource = "loadBalancer"

// The units of quantities, written as FOCUS has them (Unit Format).
const (
	CoreHours = "Core-Hours"
	GiBHours  = "GiB-Hours"
	GiB       = "GiB"
	Hours     = "Hours"
)

// quantity returns an amount in the unit that a resource is priced in, with at most
// 12 decimal places (half a unit is rounded away from zero), and the unit.
func quantity(res metrics.Resource, amount decimal.Decimal) (decimal.Decimal, string) {
	switch res {
	case metrics.CPU:
		return amount.Round(places), CoreHours
	case metrics.Memory, metrics.Storage, metrics.Ephemeral:
		return gibibytes(amount), GiBHours
	case metrics.Received, metrics.Sent:
		return gibibytes(amount), GiB
	case LoadBalancer:
		return amount.Round(places), Hours
	}
	if isHugePages(res) {
		return gibibytes(amount), GiBHours
	}
	return amount.Round(places), pieceHours(res)
}

// isHugePages says that a resource is huge pages of a size: memory, which Kubernetes counts in
// bytes, and in the capacity of memory as well.
func isHugePages(res metrics.Resource) bool { return strings.HasPrefix(string(res), "hugepages-") }

// gibibytes returns bytes in GiB. A division by 2^30 is a finite decimal, but with up
// to 30 places more; it is rounded to 12 of them, once.
func gibibytes(bytes decimal.Decimal) decimal.Decimal {
	if bytes.Exponent() < -places {
		return bytes.DivRound(decimal.NewFromInt(1<<30), places)
	}
	n := bytes.Shift(places).BigInt()
	n.Add(n, big.NewInt(1<<29)).Rsh(n, 30)
	return decimal.NewFromBigInt(n, -places)
}

// pieceHours names the unit of an extended resource: GPU-Hours for nvidia.com/gpu.
func pieceHours(res metrics.Resource) string {
	piece := string(res)
	piece = piece[strings.LastIndexByte(piece, '/')+1:]
	switch piece {
	case "gpu", "tpu", "npu", "dpu", "fpga":
		piece = strings.ToUpper(piece)
	default:
		// A unit is a word that begins with a capital: Mig1g5gb of nvidia.com/mig-1g.5gb.
		piece = strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				return c
			}
			return -1
		}, piece)
		if piece == "" || piece[0] <= '9' {
			piece = "Piece" + piece
		}
		piece = strings.ToUpper(piece[:1]) + piece[1:]
	}
	return piece + "-Hours"
}

// price returns the price of a resource of pods and nodes; false where the book has none.
// Huge pages are priced as memory, unless the book has a price of their own.
func (r *Rates) price(res metrics.Resource) (Price, bool) {
	switch res {
	case metrics.CPU:
		return r.CPU, r.CPU.stated()
	case metrics.Memory:
		return r.Memory, r.Memory.stated()
	}
	if !res.IsExtended() {
		return Price{}, false
	}
	price, ok := r.Extended[res]
	if !ok && isHugePages(res) {
		return r.Memory, r.Memory.stated()
	}
	return price, ok
}

// stated reports whether a book has the price. A price of zero also has a line in the book: the
// ledger lists it with a cost of zero.
func (p Price) stated() bool { return p.SKU != "" || !p.List.IsZero() || !p.Net.IsZero() }
