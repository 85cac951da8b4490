package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// manifest is a manifest as a schema sees it. It is read as YAML 1.2, where on is text.
func manifest(t *testing.T, text []byte) any {
	t.Helper()
	root, problem := strict.Document(text)
	if problem != nil || root == nil {
		t.Fatalf("%v in\n%s", problem, text)
	}
	asJSON, err := json.Marshal(plain(t, root))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func plain(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			all[n.Content[i].Value] = plain(t, n.Content[i+1])
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			all = append(all, plain(t, item))
		}
		return all
	}
	if n.ShortTag() == "!!timestamp" {
		return n.Value
	}
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSystems: every manifest that is read is one to the schema too, and so is its normal
// form.
func TestSystems(t *testing.T) {
	files, _ := filepath.Glob("../../pkg/system/testdata/*.yaml")
	more, _ := filepath.Glob("../../examples/system/*system*.yaml")
	files = append(append(files, more...), "../../examples/demo-system.yaml")
	schema := compile(t, "system")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sys, problems := system.Parse(name, text)
		if sys == nil {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		normal, err := sys.YAML()
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{text, normal} {
			if err := schema.Validate(manifest(t, form)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, form)
			}
		}
	}
}

// spoiled is a change to the manifest with every field, what the parser says of it, and
// whether the schema can tell.
type spoiled struct {
	old, new string
	says     string
	schema   bool
}

// TestSpoiledSystems: each change is refused by the parser, with the path to its place and
// the nearest valid name, and by the schema where that can tell.
func TestSpoiledSystems(t *testing.T) {
	text, err := os.ReadFile("../../pkg/system/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schema := compile(t, "system")
	for i, c := range spoiledSystems {
		t.Run(fmt.Sprintf("%d %s", i, c.new), func(t *testing.T) {
			if strings.Count(string(text), c.old) == 0 {
				t.Fatalf("there is no %q", c.old)
			}
			spoilt := []byte(strings.Replace(string(text), c.old, c.new, 1))
			sys, problems := system.Parse("f", spoilt)
			told := make([]string, 0, len(problems))
			for _, p := range problems {
				told = append(told, p.String())
			}
			if sys != nil || !strings.Contains(strings.Join(told, "\n"), c.says) {
				t.Errorf("it is told:\n%s\nwant: %s", strings.Join(told, "\n"), c.says)
			}
			if err := schema.Validate(manifest(t, spoilt)); (err != nil) != c.schema {
				t.Errorf("the schema says %v", err)
			}
		})
	}
}
