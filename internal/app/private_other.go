//go:build !unix

package app

import "io/fs"

// exposedTo is empty: the mode of a file does not say here which users can read or change it.
func exposedTo(fs.FileInfo) string { return "" }
