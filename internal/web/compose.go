package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
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
	// Unchecked is why it could not be validated.
	Unchecked string   `json:"unchecked,omitempty"`
	Commands  []string `json:"commands"`
	// DryRun says that the API server can try its installation.
	DryRun bool `json:"dryRun"`
}

type composedProblem struct {
	strict.Problem
	Path string `json:"path,omitempty"`
}

// compose answers what a manifest looks like that is given as text or as values, and what system
// validate says of it. It writes nothing.
func (a *API) compose(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
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
	var text string
	if given.YAML != nil {
		text = *given.YAML // as it was written, with its comments
	} else {
		var err error
		if text, err = manifestText(given.Manifest); err != nil {
			return nil, err
		}
	}
	c := composition{YAML: text, Problems: []composedProblem{}, Commands: []string{}, DryRun: a.DryRun != nil}
	if root, problem := strict.Document([]byte(text)); problem == nil && root != nil && root.Kind == yaml.MappingNode {
		c.Manifest, _ = plainValue(root, maxComposedDepth)
	}
	switch problems, err := a.validate(ctx, text); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		c.Unchecked = err.Error()
	default:
		for _, p := range problems {
			c.Problems = append(c.Problems, located(p))
		}
	}
	if len(c.Problems) == 0 && c.Unchecked == "" {
		c.Commands = []string{
			"kubectl sysop system validate system.yaml" + a.ValidateFlags,
			"kubectl sysop install -f system.yaml --dry-run=server" + a.InstallFlags,
			"kubectl sysop install -f system.yaml" + a.InstallFlags,
		}
	}
	return json.Marshal(c)
}

// validate validates a manifest as system validate does, in the namespace that it names.
func (a *API) validate(ctx context.Context, text string) ([]strict.Problem, error) {
	catalogue, err := a.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	in, namespace := a.Page.Input.Another(""), ""
	in.Config.Namespace, in.AllNamespaces, in.Stdin = &namespace, false, strings.NewReader(text)
	v := systems.ValidateRequest{File: "-", Catalogue: catalogue}
	if in.From == "-" { // it was read once, and is not read again
		in.From, v.Offline = "", true
	}
	checked, err := systems.Validate(ctx, in, v)
	return checked.Problems, err
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
