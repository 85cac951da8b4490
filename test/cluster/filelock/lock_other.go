//go:build !unix

// Package filelock lets one process at a time do something.
package filelock

import (
	"context"
	"errors"
)

// Lock refuses: a test cluster runs on Linux and macOS.
func Lock(context.Context, string, func()) (func(), error) {
	return nil, errors.New("lock a file: test clusters run on Unix systems only")
}
