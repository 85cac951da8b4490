package logs

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRead merges the logs of fifty containers, of a thousand lines each.
func BenchmarkRead(b *testing.B) {
	const containers, lines = 50, 1000
	written, all := map[string]string{}, make([]Container, containers)
	for i := range all {
		pod := fmt.Sprint("p", i)
		all[i] = named(pod)
		texts := make([]string, lines)
		for j := range texts {
			texts[j] = fmt.Sprintf("request %d of %s took 12 ms", j, pod)
		}
		written[pod] = stamped(i, texts...)
	}
	for _, most := range []int{containers, 10} {
		b.Run(fmt.Sprint(most, " at once"), func(b *testing.B) {
			r := Reader{Open: texts(written), Max: most, IdleTimeout: time.Minute}
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if _, err := r.Read(b.Context(), all, Options{}, func(Line) error { n++; return nil }); err != nil || n != containers*lines {
					b.Fatal(n, err)
				}
			}
		})
	}
}
