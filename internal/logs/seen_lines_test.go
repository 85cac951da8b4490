package logs

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// However often a log is cut and opened again, each line comes once, in its place: times
// that many lines share, and seconds from which a server begins, are no trouble.
func TestPast(t *testing.T) {
	start := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var log []Line
		for i, at := range slices.Sorted(func(yield func(int) bool) {
			for range 40 {
				if !yield(rnd.IntN(60)) {
					return
				}
			}
		}) {
			log = append(log, Line{Time: start.Add(time.Duration(at) * 100 * time.Millisecond), Text: string(rune('A' + i))})
		}
		var p seenLines
		var got []Line
		for len(got) < len(log) {
			p.restart()
			since := p.last.Truncate(time.Second)
			count := 1 + rnd.IntN(12)
			for _, l := range log {
				if l.Time.Before(since) {
					continue
				}
				if p.fresh(l) {
					got = append(got, l)
					if count--; count == 0 {
						break
					}
				}
			}
		}
		if !slices.EqualFunc(got, log, func(a, b Line) bool { return a.Text == b.Text }) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, log)
		}
	}
}

func TestPastOfTheServersOwnLines(t *testing.T) {
	var p seenLines
	at := Line{Time: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)}
	for i, c := range []struct {
		line Line
		want bool
	}{{Line{Text: "no log"}, true}, {Line{Text: "no log"}, false}, {at, true}, {Line{Text: "other"}, true}} {
		p.restart()
		if p.skip > 0 {
			p.skip = 0
		}
		if got := p.fresh(c.line); got != c.want {
			t.Errorf("line %d: %v", i, got)
		}
	}
}

// Programs write to two streams, whose times need not be in order.
func TestPastOfLinesOutOfOrder(t *testing.T) {
	var p seenLines
	at := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	p.restart()
	for i, s := range []int{1, 3, 2, 4} {
		if !p.fresh(Line{Time: at.Add(time.Duration(s) * time.Millisecond)}) {
			t.Errorf("line %d is left out", i)
		}
	}
}
