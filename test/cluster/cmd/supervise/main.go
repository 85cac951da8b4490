// Command supervise runs the processes of a test cluster and kills them when
// its standard input closes. Package supervise has the other end and says why.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

func main() {
	runtime.LockOSThread() // children are tied to this thread, which lives as long as the process
	// The starter may have exited when an exit is reported: that must not end the supervisor before
	// it has ended the rest.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := supervise.Serve(ctx, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
