package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Document is one document of a file, with its position.
type Document struct {
	At     Position
	Object map[string]any
}

// Position is the position of a document or of an item of a list.
type Position struct {
	File     string
	Document int // from 1, without empty ones
	Line     int // from 1, of the start of the document; 0 if unknown
	items    []int
	text     *text
}

// text is the source of a document. To find the line of an error it is parsed a second time, which
// only an error is worth.
type text struct {
	bytes  []byte
	line   int // of its first byte
	asJSON bool
}

// item returns the position of an item of the list at p.
func (p Position) item(i int) Position {
	p.items = append(slices.Clip(p.items), i)
	return p
}

// String returns file:line: document N, item N.
func (p Position) String() string {
	line := p.Line
	if len(p.items) > 0 && p.text != nil {
		if n := p.text.lineOf(p.items); n > 0 {
			line = n
		}
	}
	var b strings.Builder
	b.WriteString(p.File)
	if line > 0 {
		fmt.Fprintf(&b, ":%d", line)
	}
	fmt.Fprintf(&b, ": document %d", p.Document)
	for _, i := range p.items {
		fmt.Fprintf(&b, ", item %d", i+1)
	}
	return b.String()
}

// lineOf returns the line of an item of a list, or of nested lists, or 0.
func (t *text) lineOf(items []int) int {
	if t.asJSON {
		if at := offsetOf(t.bytes, items); at >= 0 {
			return t.line + bytes.Count(t.bytes[:at], []byte("\n"))
		}
		return 0
	}
	var root yamlv3.Node
	if yamlv3.Unmarshal(t.bytes, &root) != nil || len(root.Content) == 0 {
		return 0
	}
	node := root.Content[0]
	for _, i := range items {
		if node = itemOf(node, i); node == nil {
			return 0
		}
	}
	return t.line + node.Line - 1
}

func itemOf(list *yamlv3.Node, item int) *yamlv3.Node {
	if list.Kind != yamlv3.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(list.Content); i += 2 {
		if list.Content[i].Value == "items" && item < len(list.Content[i+1].Content) {
			return list.Content[i+1].Content[item]
		}
	}
	return nil
}

// offsetOf returns the offset of an item in JSON, or -1.
func offsetOf(doc []byte, items []int) int {
	at := 0
	for _, i := range items {
		n := offsetOfItem(doc[at:], i)
		if n < 0 {
			return -1
		}
		at += n
	}
	return at
}

func offsetOfItem(doc []byte, item int) int {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if _, err := dec.Token(); err != nil {
		return -1
	}
	var skip json.RawMessage
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return -1
		}
		if key != "items" {
			if dec.Decode(&skip) != nil {
				return -1
			}
			continue
		}
		if _, err := dec.Token(); err != nil {
			return -1
		}
		for n := 0; dec.More(); n++ {
			if dec.Decode(&skip) != nil {
				return -1
			}
			if n == item {
				return int(dec.InputOffset()) - len(skip)
			}
		}
		return -1
	}
	return -1
}
