//go:build unix

package userfile

import (
	"io/fs"
	"os"
	"syscall"
)

// ExposedTo says which other users can read or change a file; empty for none.
func ExposedTo(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return exposed(info.Mode(), !ok || int(stat.Uid) == os.Getuid())
}
