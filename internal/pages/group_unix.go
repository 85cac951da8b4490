//go:build unix

package pages

import (
	"os/exec"
	"syscall"
)

// inGroup puts a process into a process group of its own.
func inGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup kills a process and its children; they may have exited already.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
