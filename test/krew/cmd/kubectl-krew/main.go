// Command kubectl-krew stands in for krew where tests run: kubectl krew.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/kubectl-sysop/kubectl-sysop/test/krew/standin"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	k, err := standin.New(os.Getenv, os.Stdout, os.Stderr)
	if err != nil {
		return err
	}
	return k.Run(ctx, os.Args[1:])
}
