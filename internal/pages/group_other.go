//go:build !unix

package pages

import "os/exec"

// inGroup does nothing without process groups.
func inGroup(*exec.Cmd) {}

// endGroup kills a process; it may have exited already.
func endGroup(c *exec.Cmd) { _ = c.Process.Kill() }
