package apply

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// ReadFiles reads the objects of files, and of all .yaml, .yml and .json files
// below directories, in the order of their names.
func ReadFiles(paths ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path != p && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			these, err := Parse(b)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			objects = append(objects, these...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read objects: %w", err)
		}
	}
	return objects, nil
}

// Parse reads YAML documents or JSON, and expands lists.
func Parse(b []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b)))
	for {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parse objects: %w", err)
		}
		o := &unstructured.Unstructured{}
		if err := utilyaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, fmt.Errorf("parse objects: %w", err)
		}
		if len(o.Object) == 0 {
			continue // a comment, or nothing
		}
		if o.GetKind() == "" || o.GetAPIVersion() == "" {
			return nil, errors.New("parse objects: a document has no kind or no apiVersion")
		}
		if !o.IsList() {
			objects = append(objects, o)
			continue
		}
		err = o.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*unstructured.Unstructured)) // a list's items are what the list is
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("parse a list of objects: %w", err)
		}
	}
}
