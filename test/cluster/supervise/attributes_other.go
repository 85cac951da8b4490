//go:build !unix

package supervise

import "syscall"

// Detached exists so that the package compiles: there are no sessions here.
func Detached() *syscall.SysProcAttr { return nil }

func child() *syscall.SysProcAttr { return nil }
