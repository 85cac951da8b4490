package regulate

import (
	"os/exec"
	"strconv"
)

// ownGroup has what a command started end with it. Windows knows who started whom, but ends
// them together only on request.
func ownGroup(c *exec.Cmd) {
	c.Cancel = func() error {
		if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run() == nil {
			return nil
		}
		return c.Process.Kill()
	}
}
