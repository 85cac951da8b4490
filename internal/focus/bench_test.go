package focus_test

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// manyCharges is a reading of so many pods, four to a stack, of which one is shared
// with the next.
func manyCharges(pods int) (*metrics.UsageReport, *metrics.Attribution) {
	r := &metrics.UsageReport{To: at("2026-11-15T10:00:00Z"), Hours: dec("1")}
	p := &metrics.Attribution{Of: map[object.Ref]metrics.Path{}}
	stack := func(i int) object.Ref {
		return object.Ref{Group: "example.com", Kind: "Shop", Namespace: fmt.Sprint("team-", i%50), Name: fmt.Sprint("shop-", i)}
	}
	for i := range pods {
		pod := object.Ref{Kind: "Pod", Namespace: fmt.Sprint("team-", i/4%50), Name: fmt.Sprintf("web-6c9f7d5b8-%06d", i)}
		amounts := metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(int64(i), -5), metrics.Memory: decimal.NewFromInt(int64(i) * 4096)})
		r.Pods = append(r.Pods, metrics.Pod{
			Ref: pod, UID: types.UID(fmt.Sprintf("0c9d2c5e-0000-4000-8000-%012d", i)), Node: fmt.Sprint("node-", i%100), Hours: dec("1"),
			Charged: amounts, Used: amounts, Requested: amounts,
		})
		stacks := []object.Ref{stack(i / 4)}
		if i%4 == 0 {
			stacks = append(stacks, stack(i/4+1))
		}
		p.Of[pod] = metrics.Path{Stacks: stacks, Path: stacks[:1]}
	}
	for i := range pods/4 + 1 {
		p.Stacks = append(p.Stacks, stack(i))
	}
	return r, p
}

// BenchmarkFormats shows what the formats for machines cost: time and memory grow with
// the rows and no faster.
func BenchmarkFormats(b *testing.B) {
	for _, pods := range []int{1_000, 10_000} {
		r, p := manyCharges(pods)
		l := cost.Allocate(r, p, cost.DefaultBook(), cost.Options{})
		rep := cost.NewReport(r, p, l, cost.Grouping{})
		for _, version := range focus.Versions() {
			b.Run(fmt.Sprintf("focus-%s/%d", version, pods), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := focus.CSV(l, r, p, focusOptions(version)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("csv/%d", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				export.CSV(rep, map[string]*metrics.UsageReport{"": r}, nil)
			}
		})
		b.Run(fmt.Sprintf("openmetrics/%d", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				export.Families(rep, map[string]*metrics.UsageReport{"": r})
			}
		})
	}
}
