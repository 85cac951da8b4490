package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// configVariable names a file that replaces the one in the user's configuration directory.
const configVariable = "KUBECTL_SYSOP_CONFIG"

// settings are what a user keeps in a file.
type settings struct {
	catalogues []catalogueSource
}

// catalogueSource is where a further catalogue is.
type catalogueSource struct {
	// address is a directory, a .tar or .tgz, or an http(s) or OCI address of one.
	address string
	// key is a file with the public key that it must be signed with; empty for none.
	key string
	// name is the one that it must give itself where it is signed; empty for any.
	name string
}

// maxConfigBytes is more than any file of settings has.
const maxConfigBytes = 1 << 20

// readSettings reads the file of settings. That there is none is fine, unless one is named.
func (c *common) readSettings(ctx context.Context) (settings, error) {
	name := c.env.Getenv(configVariable)
	named := name != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return settings{}, nil //nolint:nilerr // without a home there are no settings
		}
		name = filepath.Join(dir, "kubectl-sysop", "config.yaml")
	}
	data, err := app.ReadFile(ctx, name, maxConfigBytes, "file of settings")
	if errors.Is(err, fs.ErrNotExist) && !named {
		return settings{}, nil
	}
	if err != nil {
		return settings{}, fmt.Errorf("read the settings: %w", err)
	}
	s, problems := parseSettings(data, filepath.Dir(name))
	if len(problems) > 0 {
		return settings{}, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "docs/catalog.md has an example")
	}
	return s, nil
}

// parseSettings reads settings; paths in them are relative to a directory.
func parseSettings(data []byte, folder string) (settings, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return settings{}, []strict.Problem{*problem}
	case root == nil:
		return settings{}, nil
	}
	var s settings
	m := &strict.Mapping{}
	m.Fields = []strict.Field{
		{Name: "apiVersion", Required: true, Set: func(n *yaml.Node) { m.Want(n, declare.APIVersion) }},
		{Name: "kind", Required: true, Set: func(n *yaml.Node) { m.Want(n, "Config") }},
		{Name: "catalogs", Set: func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				m.Report(n, "expected a list of catalogs: {address, key, name}")
				return
			}
			for _, item := range n.Content {
				var one catalogueSource
				inner := &strict.Mapping{}
				inner.Fields = []strict.Field{
					{Name: "address", Required: true, Set: func(n *yaml.Node) { one.address = resolvePath(folder, inner.Text(n)) }},
					{Name: "key", Set: func(n *yaml.Node) { one.key = resolvePath(folder, inner.Text(n)) }},
					{Name: "name", Set: func(n *yaml.Node) { one.name = inner.Text(n) }},
				}
				inner.Read(item)
				if one.name != "" && one.key == "" {
					inner.Report(item, "only a signed catalog has a name: expected a key beside it")
				}
				m.Problems = append(m.Problems, inner.Problems...)
				s.catalogues = append(s.catalogues, one)
			}
		}},
	}
	m.Read(root)
	return s, m.Problems
}

// resolvePath joins a relative path to a directory; it keeps addresses.
func resolvePath(folder, path string) string {
	if path == "" || filepath.IsAbs(path) || isAddress(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// isAddress says whether a text is an address rather than a file.
func isAddress(text string) bool {
	for _, scheme := range []string{"https://", "http://", "oci://"} {
		if len(text) > len(scheme) && text[:len(scheme)] == scheme {
			return true
		}
	}
	return false
}
