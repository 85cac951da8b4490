// Package timeout scales the deadlines of tests: a slow or busy machine makes a test slow, not
// wrong.
package timeout

import (
	"runtime"
	"time"
)

const (
	// rounds is the fixed piece of work that is timed when a test binary starts.
	rounds = 30_000_000
	// idle is how long that takes on an idle core of a common machine.
	idle = 50 * time.Millisecond
	// most limits the factor, so that a test that hangs still ends.
	most = 20
)

// factor is how many times slower than an idle machine this one was at the start.
var factor = measure()

// Scaled returns how long a test waits on this machine, for what takes less than d on an idle one.
func Scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }

func measure() float64 {
	begin := time.Now()
	runtime.KeepAlive(work(rounds))
	took := time.Since(begin)
	return min(max(1, float64(took)/float64(idle)), most)
}

func work(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
