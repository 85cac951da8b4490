// Package systems answers the questions about Systems: their manifests (read, validated, drafted from
// running stacks, exported with their objects) and their adoption in a cluster. A request goes in and
// a result comes out. View observes the apps of a System; regulation and installation use it and
// Cluster, too.
package systems

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Demo names the manifest of the example where a file is expected.
const Demo = "demo"

// FormatHint is a way out of a manifest that is refused.
const FormatHint = "docs/system.md is the format; kubectl sysop system validate FILE checks a manifest"

// Read reads a manifest: FILE, "-" for standard input, or "demo". Any problem refuses
// it.
func Read(ctx context.Context, in *app.Input, file string) (*system.System, error) {
	sys, _, err := readText(ctx, in, file)
	return sys, err
}

// readText reads a manifest, and returns its text as well.
func readText(ctx context.Context, in *app.Input, file string) (*system.System, string, error) {
	text, err := Text(ctx, in, file)
	if err != nil {
		return nil, "", err
	}
	sys, problems := system.Parse(FileName(file), text)
	if len(problems) > 0 {
		return nil, "", hint.With(&hint.Lines{Lines: hint.Placed(FileName(file), problems)}, FormatHint)
	}
	return sys, string(text), nil
}

// parse returns a System, or what is wrong with it, or why it cannot be read.
func parse(ctx context.Context, in *app.Input, file string) (*system.System, []strict.Problem, error) {
	data, err := Text(ctx, in, file)
	if err != nil {
		return nil, nil, err
	}
	sys, problems := system.Parse(FileName(file), data)
	return sys, problems, nil
}

// FileName is how a manifest is called in messages.
func FileName(file string) string {
	switch file {
	case "-":
		return "standard input"
	case Demo:
		return "demo-system.yaml"
	}
	return file
}

// Text returns the text of a manifest.
func Text(ctx context.Context, in *app.Input, file string) ([]byte, error) {
	text, err := rawText(ctx, in, file)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return text, nil
}

func rawText(ctx context.Context, in *app.Input, file string) ([]byte, error) {
	switch file {
	case "":
		return nil, errors.New("no FILE is named")
	case Demo:
		return examples.DemoSystem(), nil
	case "-":
		if in.From == "-" {
			return nil, errors.New("standard input is the snapshot of --from: write the manifest to a FILE")
		}
		return userfile.Await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(in.Stdin, system.MaxBytes+1)) })
	}
	return userfile.Read(ctx, file, system.MaxBytes, "manifest of a System")
}

// Place gives a System that names no namespace that of the user.
func Place(s *system.System, namespace string, named bool) error {
	if named && s.Namespace != "" && s.Namespace != namespace {
		return hint.With(fmt.Errorf("-n %s: the manifest says that the System is in namespace %s", namespace, s.Namespace), "without metadata.namespace a manifest is for any namespace; make a bundle of it again with kubectl sysop catalog bundle -f FILE")
	}
	s.Namespace = cmp.Or(s.Namespace, namespace)
	return nil
}
