package supervise

import "syscall"

// Detached are the attributes of a process in a session of its own, which a
// terminal's Ctrl-C and hang-up do not reach.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// child is killed by the kernel when its parent ends.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
