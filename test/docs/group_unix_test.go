//go:build unix

package docs

import "syscall"

// endGroup ends a process and those that it started.
func endGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
