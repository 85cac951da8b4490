//go:build unix && !linux

package supervise

import "syscall"

// Detached are the attributes of a process in a session of its own, which a
// terminal's Ctrl-C and hang-up do not reach.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// child ends with the supervisor's Serve; nothing ends it if the supervisor
// itself is killed.
func child() *syscall.SysProcAttr { return nil }
