package regulate

import (
	"os/exec"
	"strconv"
)

// ownGroup ends the children of a command with it. Windows kills a process tree only on request.
func ownGroup(c *exec.Cmd) {
	c.Cancel = func() error {
		if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run() == nil {
			return nil
		}
		return c.Process.Kill()
	}
}
