package catalogs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// SettingsVariable names a file that replaces the one in the user's configuration directory.
const SettingsVariable = "KUBECTL_SYSOP_CONFIG"

// maxSettingsBytes is above the size of any file of settings.
const maxSettingsBytes = 1 << 20

// readSettings reads the catalogs of the settings. The file may be missing, unless the variable
// names it.
func readSettings(ctx context.Context, getenv func(string) string) ([]Source, error) {
	name := getenv(SettingsVariable)
	named := name != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil //nolint:nilerr // a user without a home directory has no settings
		}
		name = filepath.Join(dir, "kubectl-sysop", "config.yaml")
	}
	data, err := userfile.Read(ctx, name, maxSettingsBytes, "file of settings")
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	sources, problems := parseSettings(data, filepath.Dir(name))
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "docs/catalog.md has an example")
	}
	return sources, nil
}

// settings is a file of settings.
type settings struct {
	Catalogs []Source `json:"catalogs" read:"source,empty" want:"a list of catalogs: {address, key, name}"`
}

// parseSettings parses settings, with paths relative to a directory.
func parseSettings(data []byte, folder string) ([]Source, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil:
		return nil, nil
	}
	formats := strict.Formats{
		"place": func(m *strict.Mapping, n *yaml.Node) string { return resolvePath(folder, m.Text(n)) },
	}
	formats["source"] = func(m *strict.Mapping, n *yaml.Node) (one Source) {
		m.Struct(n, &one, formats)
		if one.Name != "" && one.Key == "" {
			m.Report(n, "only a signed catalog has a name: expected a key beside it")
		}
		return one
	}
	var all settings
	var m strict.Mapping
	m.Struct(root, &all, formats, m.Head(declare.APIVersion, "Config")...)
	return all.Catalogs, m.Problems
}

// resolvePath joins a relative path to a directory, and keeps addresses.
func resolvePath(folder, path string) string {
	if path == "" || filepath.IsAbs(path) || isAddress(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// isAddress says whether a text is an address rather than a file.
func isAddress(text string) bool {
	return field.IsWebURL(text) || field.URLScheme(text) == "oci"
}
