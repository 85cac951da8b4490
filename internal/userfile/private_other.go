//go:build !unix

package userfile

import "io/fs"

// ExposedTo is empty: the mode of a file does not say here which users can read or change it.
func ExposedTo(fs.FileInfo) string { return "" }
