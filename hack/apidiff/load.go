package main

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load returns the packages in pkg/ of a checkout, by their path in it (pkg/graph), without
// internal packages and commands, which cannot be imported.
func load(ctx context.Context, top string) (map[string]*types.Package, error) {
	out := map[string]*types.Package{}
	switch _, err := os.Stat(filepath.Join(top, "pkg")); {
	case errors.Is(err, os.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, err
	}
	// With the flags of make build, and -trimpath, so that an unchanged package is compiled once,
	// in any directory.
	all, err := packages.Load(&packages.Config{
		Context: ctx, Dir: top, Env: append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0"), BuildFlags: []string{"-trimpath"},
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedModule,
	}, "./pkg/...")
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, p.Errors[0])
		}
		path := strings.TrimPrefix(p.PkgPath, p.Module.Path+"/")
		if p.Name == "main" || strings.Contains(path+"/", "/internal/") {
			continue
		}
		out[path] = p.Types
	}
	return out, nil
}
