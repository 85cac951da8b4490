package infer_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
)

// BenchmarkWalk walks objects of many operators; the time is that of one.
func BenchmarkWalk(b *testing.B) {
	f := readFixture(b, "testdata/platforms.txtar")
	set := relation.NewSet(infer.Rules(f.from(), f.kinds, nil)...)
	b.ReportAllocs()
	n, links := 0, 0
	for b.Loop() {
		o := f.objects[n%len(f.objects)]
		n++
		set.Links(o, func(int, relation.Link) { links++ })
	}
	b.ReportMetric(float64(links)/float64(n), "links/op")
}

// BenchmarkNothing walks an object that refers to nothing: a long report.
func BenchmarkNothing(b *testing.B) {
	var rows []any
	for range 100 {
		rows = append(rows, map[string]any{"severity": "HIGH", "title": "Something is wrong with it", "vulnerabilityID": "CVE-1", "installedVersion": "1.2", "resource": "libx", "score": 7.5, "links": []any{}})
	}
	f := readFixture(b, "testdata/tempo.txtar")
	o := f.objects[0]
	o.Fields()["spec"] = map[string]any{"report": map[string]any{"vulnerabilities": rows}}
	set := relation.NewSet(infer.Rules(f.from(), f.kinds, nil)...)
	b.ReportAllocs()
	for b.Loop() {
		set.Links(o, func(int, relation.Link) { b.Fatal("a link") })
	}
}

// BenchmarkRules is what every question pays: the table of three hundred kinds.
func BenchmarkRules(b *testing.B) {
	var all []object.Resource
	for i := range 300 {
		all = append(all, object.Resource{Group: "example.com", Version: "v1", Kind: "Kind" + string(rune('A'+i%26)) + string(rune('a'+i/26)), Plural: "kinds", Namespaced: true, Custom: true})
	}
	kinds := object.NewKinds(all)
	f := &fixture{kinds: kinds}
	b.ReportAllocs()
	for b.Loop() {
		relation.NewSet(infer.Rules(f.from(), kinds, nil)...)
	}
}
