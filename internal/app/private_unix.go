//go:build unix

package app

import (
	"io/fs"
	"os"
	"syscall"
)

// exposedTo says which other users can read or change a file; empty for none.
func exposedTo(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return exposed(info.Mode(), !ok || int(stat.Uid) == os.Getuid())
}
