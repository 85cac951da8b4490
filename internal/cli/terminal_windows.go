package cli

import "syscall"

// processed is ENABLE_VIRTUAL_TERMINAL_PROCESSING: a console understands escape sequences.
const processed = 0x0004

// escapes says whether a terminal understands escape sequences: consoles of Windows do so only
// if they are told to, and old ones never.
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
