package cli

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

// PutOffCollection puts the first garbage collection of the process off. Who has
// set GOGC or GOMEMLIMIT has decided otherwise.
func PutOffCollection() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, 100)
}
