package strict

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// CheckBounds refuses an untrusted text that would grow in a parser that expands aliases: one
// of more nodes than MaxNodes, or whose aliases add more than MaxGrowth. Text that is not YAML
// is left to that parser, which reports it.
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
