package graph_test

import (
	"runtime"
	"testing"
)

// The memory for an object is small, and does not grow with the number of objects.
func TestMemoryPerObject(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 110,000 objects")
	}
	const limit = 600
	var retained, allocated [2]float64
	for i, n := range []int{10_000, 100_000} {
		before := heap()
		var m runtime.MemStats
		c := newCluster().fill(n)
		runtime.ReadMemStats(&m)
		start := m.TotalAlloc
		g := c.build()
		runtime.ReadMemStats(&m)
		allocated[i] = float64(m.TotalAlloc-start) / float64(g.Len())
		retained[i] = float64(heap()-before) / float64(g.Len())
		if least := 3 * g.Len(); g.Edges() < least {
			t.Errorf("%d edges, want %d at least", g.Edges(), least)
		}
		runtime.KeepAlive(c)
		runtime.KeepAlive(g)
	}
	t.Logf("kept %.0f and %.0f bytes an object, allocated by Build %.0f and %.0f", retained[0], retained[1], allocated[0], allocated[1])
	if retained[1] > limit {
		t.Errorf("%.0f bytes an object are kept, want %d at most", retained[1], limit)
	}
	if allocated[1] > 1.5*allocated[0] {
		t.Errorf("Build allocates %.0f bytes an object of %d, and %.0f of ten times as many", allocated[0], 10_000, allocated[1])
	}
}
