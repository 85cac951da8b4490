//go:build !unix

package pages

import "os/exec"

// inGroup does nothing where there are no groups of processes.
func inGroup(*exec.Cmd) {}

// endGroup ends a process. That it has ended is no error.
func endGroup(c *exec.Cmd) { _ = c.Process.Kill() }
