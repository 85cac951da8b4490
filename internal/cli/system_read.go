package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// demoSystem names the manifest of the example where a file is expected.
const demoSystem = "demo"

// systemHint is a way out of a manifest that is refused.
const systemHint = "docs/system.md is the format; kubectl sysop system validate FILE checks a manifest"

// readSystem reads a manifest: FILE, "-" for standard input, or "demo". Any problem refuses
// it.
func (c *common) readSystem(ctx context.Context, file string) (*system.System, error) {
	sys, problems, err := c.parseSystem(ctx, file)
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(systemName(file), problems)}, systemHint)
	}
	return sys, err
}

// parseSystem returns a System, or what is wrong with it, or why it cannot be read.
func (c *common) parseSystem(ctx context.Context, file string) (*system.System, []strict.Problem, error) {
	data, err := c.systemText(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, fmt.Errorf("read the manifest: %w", err)
	}
	sys, problems := system.Parse(systemName(file), data)
	return sys, problems, nil
}

// systemName is how a manifest is called in messages.
func systemName(file string) string {
	switch file {
	case "-":
		return "standard input"
	case demoSystem:
		return "demo-system.yaml"
	}
	return file
}

func (c *common) systemText(ctx context.Context, file string) ([]byte, error) {
	switch file {
	case "":
		return nil, errors.New("no FILE is named")
	case demoSystem:
		return examples.DemoSystem(), nil
	case "-":
		if c.From == "-" {
			return nil, errors.New("standard input is the snapshot of --from: write the manifest to a FILE")
		}
		return app.Awaited(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(c.env.In, system.MaxBytes+1)) })
	}
	return app.ReadFile(ctx, file, system.MaxBytes, "manifest of a System")
}
