package cost

import (
	"testing"

	"github.com/shopspring/decimal"
)

// Ten thousand pods in a thousand stacks are to be rolled up in less than 70 ms and
// 30 MB, and allocated and rolled up in less than 150 ms and 60 MB.
func BenchmarkRoll(b *testing.B) {
	r, p := synthetic(1000)
	book := DefaultBook()
	for name, o := range map[string]Options{
		"even": {},
		"all":  {Sharing: ShareUsage, ShareIdle: true, ShareNamespaces: []string{"team-007"}, ShareOverhead: decimal.NewFromInt(1), Weighted: true},
	} {
		l := Allocate(r, p, book, o)
		for _, g := range []Grouping{{Keys: []Key{{By: ByStack}}}, {Keys: []Key{{By: ByNamespace}}}, {Keys: []Key{{By: ByResource}}}} {
			b.Run(name+"/"+keysOf(g), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if report := NewReport(r, p, l, g); report.Total.Pods != 10_000 {
						b.Fatal(report.Total.Pods, "pods")
					}
				}
			})
		}
	}
	b.Run("allocated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewReport(r, p, Allocate(r, p, book, Options{}), Grouping{})
		}
	})
}
