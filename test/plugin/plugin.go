// Package plugin builds the program under test as it is released.
package plugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Build builds the plugin of a checkout into a file.
func Build(ctx context.Context, root, file string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, "./cmd/kubectl-sysop")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the plugin: %w\n%s", err, text)
	}
	return nil
}
