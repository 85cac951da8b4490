//go:build unix

package regulate

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a group of processes of its own, so that what it started ends
// with it.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
