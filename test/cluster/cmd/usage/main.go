//go:build unix

// Command usage runs a program, and writes on stderr behind its output what it took: CPU seconds
// and peak memory in bytes. It is small: a process is accounted the memory of that which
// starts it.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if account, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		fmt.Fprintf(os.Stderr, "usage: cpu_ns=%d peak_kib=%d\n", cpu.Nanoseconds(), account.Maxrss)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage:", err)
		os.Exit(1)
	}
}
