package cost

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// synthetic is a reading of stacks with ten pods of two containers each and a claim,
// on nodes of a hundred pods; every tenth stack shares a pod with the next.
func synthetic(stacks int) (*metrics.UsageReport, *metrics.Attribution) {
	hour := decimal.NewFromInt(1)
	r := &metrics.UsageReport{Hours: hour}
	p := &metrics.Attribution{Of: map[object.Ref]metrics.Path{}}
	for s := range stacks {
		ns := fmt.Sprintf("team-%03d", s%100)
		root := object.Ref{Group: "example.com", Kind: "Moodle", Namespace: ns, Name: fmt.Sprintf("site-%04d", s)}
		p.Stacks = append(p.Stacks, root)
		for i := range 10 {
			pod := metrics.Pod{
				Ref: object.Ref{Kind: "Pod", Namespace: ns, Name: fmt.Sprintf("site-%04d-%d", s, i)}, UID: types.UID(fmt.Sprintf("uid-%d-%d", s, i)),
				Node: fmt.Sprintf("node-%03d", (s*10+i)/100), Hours: hour,
				Used:      metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(int64(137+s+i), -3), metrics.Memory: decimal.NewFromInt(int64(300<<20 + 4096*s))}),
				Requested: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(250, -3), metrics.Memory: decimal.NewFromInt(256 << 20)}),
				Charged:   metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(int64(250+s), -3), metrics.Memory: decimal.NewFromInt(int64(300<<20 + 4096*s))}),
				Containers: []metrics.Container{
					{Name: "app", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(100, -3)})},
					{Name: "proxy", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.New(int64(37+s+i), -3)})},
				},
			}
			r.Pods = append(r.Pods, pod)
			place := metrics.Path{Stacks: []object.Ref{root}, Path: []object.Ref{root, {Group: "apps", Kind: "StatefulSet", Namespace: ns, Name: root.Name}}}
			if i == 0 && s%10 == 1 {
				place.Stacks = []object.Ref{p.Stacks[s-1], root}
			}
			p.Of[pod.Ref] = place
		}
		first := r.Pods[len(r.Pods)-10]
		claim := metrics.Claim{
			Ref: object.Ref{Kind: "PersistentVolumeClaim", Namespace: ns, Name: first.Ref.Name}, UID: first.UID, Class: "standard", Hours: hour,
			Claimed: decimal.NewFromInt(10 << 30), Mounts: []metrics.Mount{{Pod: first.Ref, UID: first.UID, Hours: hour}},
		}
		r.Claims = append(r.Claims, claim)
		p.Of[claim.Ref] = p.Of[first.Ref]
	}
	for n := range stacks / 10 {
		r.Nodes = append(r.Nodes, metrics.Node{
			Name: fmt.Sprintf("node-%03d", n), Hours: hour, Whole: true,
			Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: decimal.NewFromInt(64), metrics.Memory: decimal.NewFromInt(256 << 30)}),
		})
	}
	return r, p
}

func BenchmarkAllocate(b *testing.B) {
	r, p := synthetic(1000)
	book := DefaultBook()
	for name, o := range map[string]Options{
		"even": {},
		"all":  {Sharing: ShareUsage, ShareIdle: true, ShareNamespaces: []string{"team-007"}, ShareOverhead: decimal.NewFromInt(1), Weighted: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if l := Allocate(r, p, book, o); len(l.Charges) < 20_000 {
					b.Fatal(len(l.Charges), "charges")
				}
			}
		})
	}
}
