//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// usage is what this process has used: CPU time, and its highest resident
// memory, which is 0 where there is no /proc.
func usage() (cpu time.Duration, peak int64, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, fmt.Errorf("measure this process: %w", err)
	}
	id, err := supervise.Identify(os.Getpid())
	if err != nil {
		return 0, 0, err
	}
	if _, p, err := id.Memory(); err == nil {
		peak = p
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), peak, nil
}
