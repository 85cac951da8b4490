package startup

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ReleasePages gives back the pages of the program's file that its initialization read, which are
// half of the code and of the constants. The kernel counts them as memory of the process; it maps
// those again that are still needed. Under a debugger nothing is released: breakpoints are
// written into these pages.
func ReleasePages() {
	status, _ := os.ReadFile("/proc/self/status")
	maps, _ := os.ReadFile("/proc/self/maps")
	file, err := os.Readlink("/proc/self/exe")
	if err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line) // 00400000-02cc7000 r-xp 00000000 fe:00 1234 /path
		if !strings.HasSuffix(line, " "+file+"\n") || strings.Contains(fields[1], "w") {
			continue // What the process may have changed stays.
		}
		low, high, _ := strings.Cut(fields[0], "-")
		from, _ := strconv.ParseUint(low, 16, 64)
		to, _ := strconv.ParseUint(high, 16, 64)
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), syscall.MADV_DONTNEED)
	}
}
