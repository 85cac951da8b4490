// Package startup keeps down what the initialization of libraries takes. It delays the first
// garbage collection of the process when it is initialized itself, which is before most libraries
// are: these make 10 MB of heap that stay, and two collections of them would take a quarter of what
// a short command takes.
package startup

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection, in percent of the runtime's 4 MB, is when the garbage collector
// runs for the first time: at 24 MB. A question about one stack is answered before
// that, and spares a fifth of its CPU time. Afterwards the usual 100 holds, so
// that memory grows with what is kept.
const firstCollection = 600

var _ = putOffCollection()

// putOffCollection does nothing where the user has set GOGC or GOMEMLIMIT.
func putOffCollection() bool {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, 100)
	return true
}
