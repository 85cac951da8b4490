package skeleton

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// ReadFolder returns the CustomResourceDefinitions in a directory and below: in YAML and JSON
// files, whose other objects it ignores, and in skeletons. Those of the newest releases come first.
func ReadFolder(name string) ([]map[string]any, error) {
	var all []map[string]any
	skeletons := map[string]bool{}
	err := filepath.WalkDir(name, func(p string, e fs.DirEntry, err error) error {
		switch ext := path.Ext(strings.TrimSuffix(p, ".gz")); {
		case err != nil || e.IsDir():
			return err
		case ext == Extension:
			skeletons[filepath.Dir(p)] = true
			return nil
		case !slices.Contains([]string{".yaml", ".yml", ".json"}, ext):
			return nil
		}
		docs, err := parse(p)
		for _, d := range docs {
			if d.Object["kind"] == "CustomResourceDefinition" {
				all = append(all, d.Object)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the definitions: %w", err)
	}
	for folder := range skeletons {
		files, err := ReadAll(os.DirFS(folder))
		if err != nil {
			return nil, err
		}
		for _, k := range NewestFirst(files) {
			all = append(all, k.Definition)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read the definitions: there is no CustomResourceDefinition in %s", name)
	}
	return all, nil
}

func parse(name string) ([]source.Document, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	return source.Parse(name, f)
}
