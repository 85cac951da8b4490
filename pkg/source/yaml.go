package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

var errExpands = errors.New("its aliases expand to far more than it holds")

// toJSON reads YAML as kubectl apply does: YAML 1.1 as far as Kubernetes goes,
// and a field that is there twice is an error.
func toJSON(doc []byte) ([]byte, error) {
	if mayAlias(doc) {
		var root yamlv3.Node
		if err := yamlv3.Unmarshal(doc, &root); err != nil {
			return nil, err
		}
		if size(&root, map[*yamlv3.Node]int{}) > max(16<<20, 4*len(doc)) {
			return nil, errExpands
		}
	}
	if bytes.Contains(doc, []byte("<<")) {
		// Being strict, the parser takes a field that overrides a merged one for one
		// that is there twice.
		return yaml.YAMLToJSON(doc)
	}
	return yaml.YAMLToJSONStrict(doc)
}

// trailing says what is wrong behind the first node of a document, which is all
// that the parser looks at. Where that is a block at the head of its lines,
// nothing can be behind it.
func trailing(doc []byte) error {
	for line := range bytes.Lines(doc) {
		if !speaks(line) {
			continue
		}
		if strings.IndexByte(" \t{[\"'|>&!*", line[0]) < 0 {
			return nil
		}
		break
	}
	var node yamlv3.Node
	dec := yamlv3.NewDecoder(bytes.NewReader(doc))
	for {
		switch err := dec.Decode(&node); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// mayAlias says whether there is what may be an alias; a dump seldom has anything
// like it.
func mayAlias(doc []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(doc[at:], '*')
		if n < 0 {
			return false
		}
		at += n
		if at+1 < len(doc) && (at == 0 || strings.IndexByte(" \t\r\n[{,:", doc[at-1]) >= 0) && strings.IndexByte(" \t\r\n*/,]}", doc[at+1]) < 0 {
			return true
		}
	}
}

// size is about how many bytes a node holds with its aliases written out. The
// parser bounds how many nodes these make, and not how long they are.
func size(n *yamlv3.Node, known map[*yamlv3.Node]int) int {
	const far = 1 << 40
	if s, ok := known[n]; ok {
		return s
	}
	known[n] = far // an alias within what it stands for
	s := len(n.Value) + 16
	if n.Alias != nil {
		s += size(n.Alias, known)
	}
	for _, below := range n.Content {
		s = min(s+size(below, known), far)
	}
	known[n] = s
	return s
}

var yamlLine = regexp.MustCompile(`\bline (\d+): ?`)

// yamlError says what is wrong with YAML, and in which line of the file.
func yamlError(at Place, err error) error {
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	msg = strings.TrimPrefix(strings.TrimPrefix(msg, "yaml: "), "unmarshal errors:")
	msg, _, _ = strings.Cut(strings.TrimSpace(msg), "\n")
	end := false // it is wrong where it ends
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		n, _ := strconv.Atoi(m[1])
		// The parser counts from 0 and the scanner, and what comes after, from 1.
		if strings.Contains(msg, "did not find expected") && !strings.Contains(msg, "expected ':'") {
			n++
		}
		lines := bytes.Count(bytes.TrimRight(at.text.bytes, "\r\n"), []byte("\n")) + 1
		end = n > lines
		at.Line += min(max(n, 1), lines) - 1
		msg = yamlLine.ReplaceAllString(msg, "")
	}
	if end || strings.Contains(msg, "found unexpected end of stream") {
		return fmt.Errorf("%s: cut short: %s", at, msg)
	}
	return fmt.Errorf("%s: not YAML: %s", at, cmp.Or(msg, "no reason given"))
}
