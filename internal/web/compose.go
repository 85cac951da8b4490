package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const (
	// maxComposedBytes bounds a manifest that is composed on the page.
	maxComposedBytes = 256 << 10
	// maxComposedDepth is how deep a manifest is nested that the board shows.
	maxComposedDepth = 100
)

// composition is a manifest in both its forms, and what is wrong with it.
type composition struct {
	YAML string `json:"yaml"`
	// Manifest is null where the text is no document that a board could show.
	Manifest any               `json:"manifest"`
	Problems []composedProblem `json:"problems"`
	Commands []string          `json:"commands"`
}

type composedProblem struct {
	strict.Problem
	Path string `json:"path,omitempty"`
}

// compose answers what a manifest looks like that is given as text or as values. It reads and
// writes nothing else.
func (a *API) compose(_ context.Context, body json.RawMessage) (json.RawMessage, error) {
	var given struct {
		YAML     *string         `json:"yaml"`
		Manifest json.RawMessage `json:"manifest"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return nil, Bad("expected {yaml} or {manifest}: %w", err)
	}
	if (given.YAML == nil) == (given.Manifest == nil) {
		return nil, Bad("expected either yaml or manifest")
	}
	if len(body) > maxComposedBytes {
		return nil, Bad("the manifest has more than %d KiB: too large for the page", maxComposedBytes>>10)
	}
	c := composition{Problems: []composedProblem{}, Commands: []string{}}
	if given.YAML != nil {
		// It stays as it was written, with its comments.
		c.read(*given.YAML, a.CatalogFlags)
		return json.Marshal(c)
	}
	text, err := manifestText(given.Manifest)
	if err != nil {
		return nil, err
	}
	c.read(text, a.CatalogFlags)
	return json.Marshal(c)
}

// read fills in what a text says; flags are those of the commands for it.
func (c *composition) read(text, flags string) {
	c.YAML = text
	if root, problem := strict.Document([]byte(text)); problem == nil && root != nil && root.Kind == yaml.MappingNode {
		c.Manifest, _ = plainValue(root, maxComposedDepth)
	}
	_, problems := system.Parse("system.yaml", []byte(text))
	for _, p := range problems {
		c.Problems = append(c.Problems, located(p))
	}
	if len(problems) == 0 {
		c.Commands = []string{
			"kubectl sysop system validate system.yaml" + flags,
			"kubectl sysop install -f system.yaml --dry-run=server" + flags,
			"kubectl sysop install -f system.yaml" + flags,
		}
	}
}

var problemPath = regexp.MustCompile(`^((?:apiVersion|kind|metadata|spec)(?:[.\[][^\s:]*)?): `)

// located takes the path out of a message that begins with it.
func located(p strict.Problem) composedProblem {
	if m := problemPath.FindStringSubmatch(p.Message); m != nil {
		p.Message = p.Message[len(m[0]):]
		return composedProblem{p, m[1]}
	}
	return composedProblem{Problem: p}
}

// manifestText is the text of a manifest that was given as values, in the order of the documentation.
// It says what was given: defaults are not filled in, nor are templates.
func manifestText(manifest json.RawMessage) (string, error) {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return "", Bad("the manifest is not a JSON object: %w", err)
	}
	if fields == nil {
		return "", Bad("the manifest is null")
	}
	root := orderedNode(fields, false)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return "", fmt.Errorf("write the manifest: %w", err)
	}
	if err := encoder.Close(); err != nil {
		return "", fmt.Errorf("write the manifest: %w", err)
	}
	return out.String(), nil
}

// manifestOrder is in which order keys are written; others follow by name.
var manifestOrder = []string{
	"apiVersion", "kind", "metadata", "name", "when", "signal", "from", "to", "cascade", "recover", "namespace", "spec", "description", "values",
	"apps", "roots", "operator", "operators", "version", "resources", "gitops", "on", "inputs", "upgrade", "app", "root", "path", "dependencies",
	"connections", "reason", "regulation", "chargeback", "waivers",
}

// orderedNode is a value as YAML. What is free is ordered by name, but for what every object has.
func orderedNode(v any, free bool) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		rank := func(key string) int {
			i := slices.Index(manifestOrder, key)
			if i < 0 || free && key != "apiVersion" && key != "kind" && key != "metadata" {
				return len(manifestOrder)
			}
			return i
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range keys {
			n.Content = append(n.Content, strict.KeyNode(k), orderedNode(v[k], free || k == "values" || k == "resources"))
		}
		return n
	case []any:
		return strict.ListNode(len(v), func(i int) *yaml.Node { return orderedNode(v[i], free) })
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return strict.ValueNode(i)
		}
		f, _ := v.Float64()
		return strict.ValueNode(f)
	}
	return strict.ValueNode(v)
}

// plainValue is a node as values of JSON; false where it has others.
func plainValue(n *yaml.Node, depth int) (any, bool) {
	if depth == 0 {
		return nil, false
	}
	switch n.Kind {
	case yaml.MappingNode:
		all := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			_, twice := all[k.Value]
			v, ok := plainValue(n.Content[i+1], depth-1)
			if !ok || twice || k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" {
				return nil, false
			}
			all[k.Value] = v
		}
		return all, true
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, ok := plainValue(item, depth-1)
			if !ok {
				return nil, false
			}
			all = append(all, v)
		}
		return all, true
	case yaml.ScalarNode:
		return strict.Scalar(n)
	}
	return nil, false
}
