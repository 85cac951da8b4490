package strict

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// CheckBounds refuses a text of others that grows when a parser reads it which writes aliases
// out: of more nodes than MaxNodes, or whose aliases add more than MaxGrowth. What is no
// YAML is left to that parser, which says so in its own words.
func CheckBounds(text []byte) error {
	if err := CheckNodes(text); err != nil {
		return err
	}
	if !bytes.ContainsRune(text, '*') {
		return nil
	}
	g := Growth{Left: MaxGrowth}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return nil // the end, or no YAML
		}
		if err := g.Take(&doc); err != nil {
			return err
		}
	}
}
