//go:build !linux

package startup

// ReleasePages does nothing: only Linux counts and maps pages in a way that makes it worth it.
func ReleasePages() {}
