//go:build unix

package pages

import (
	"os/exec"
	"syscall"
)

// inGroup makes a process the first of a group of its own.
func inGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends a process and those that it started. That there are none any more is no error.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
