//go:build unix

package regulate

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in its own process group, so that its children end with it.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
