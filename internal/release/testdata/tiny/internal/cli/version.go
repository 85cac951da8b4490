// Package cli has what the linker sets.
package cli

// Version is set by the linker.
var Version = "dev"
