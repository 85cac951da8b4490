//go:build !unix

// Package filelock is a lock between processes.
package filelock

import (
	"context"
	"errors"
)

// Lock fails: a test cluster runs on Linux and macOS.
func Lock(context.Context, string, func()) (func(), error) {
	return nil, errors.New("lock a file: test clusters run on Unix systems only")
}
