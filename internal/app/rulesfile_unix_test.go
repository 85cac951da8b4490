//go:build unix

package app

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadPipe: what never ends is not waited for. Windows has no pipes among its files.
func TestReadPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadRulesFile(ctx, pipe); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe: %v", err)
	}
}
