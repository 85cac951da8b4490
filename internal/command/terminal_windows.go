package command

import "syscall"

// processed is ENABLE_VIRTUAL_TERMINAL_PROCESSING: a console understands escape sequences.
const processed = 0x0004

// escapes enables escape sequences: consoles of Windows interpret them only in that mode, and
// old ones never.
func escapes(fd int) bool {
	var mode uint32
	if syscall.GetConsoleMode(syscall.Handle(fd), &mode) != nil {
		return false
	}
	if mode&processed != 0 {
		return true
	}
	done, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode").Call(uintptr(fd), uintptr(mode|processed))
	return done != 0
}
