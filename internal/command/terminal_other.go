//go:build !windows

package command

// escapes says whether a terminal understands escape sequences.
func escapes(int) bool { return true }
