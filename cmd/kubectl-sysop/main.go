// Command kubectl-sysop is the kubectl plugin: kubectl sysop.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/startup"
)

func main() {
	startup.ReleasePages()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal kills the process at once.
	context.AfterFunc(ctx, stop)
	cli.HushCompletion(os.Args)
	code := cli.Main(ctx, cli.Process(examples.Demo()), os.Args[1:])
	stop()
	os.Exit(code)
}
