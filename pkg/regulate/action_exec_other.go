//go:build !unix && !windows

package regulate

import "os/exec"

// ownGroup does nothing: this platform has no process groups, so children of the command may
// outlive it.
func ownGroup(*exec.Cmd) {}
