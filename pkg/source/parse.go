package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func parseJSON(name string, content []byte) ([]Document, error) {
	var docs []Document
	dec := json.NewDecoder(bytes.NewReader(content))
	lineAt := func(offset int64) int {
		return 1 + bytes.Count(content[:min(offset, int64(len(content)))], []byte("\n"))
	}
	for {
		at := Place{File: name, Document: len(docs) + 1}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			at.Line = lineAt(int64(len(bytes.TrimRight(content, " \t\r\n"))))
			return nil, fmt.Errorf("%s: cut short: the JSON ends too early", at)
		case errors.As(err, &syntax):
			at.Line = lineAt(syntax.Offset)
			return nil, fmt.Errorf("%s: not JSON: %w", at, err)
		case err != nil:
			return nil, fmt.Errorf("%s: not JSON: %w", at, err)
		}
		at.Line = lineAt(dec.InputOffset() - int64(len(raw)))
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil || m == nil {
			return nil, fmt.Errorf("%s: not an object but %s", at, kindOfJSON(raw))
		}
		at.text = &text{bytes: raw, line: at.Line, asJSON: true}
		docs = append(docs, Document{At: at, Object: m})
	}
}

func parseYAML(name string, content []byte) ([]Document, error) {
	var docs []Document
	for _, part := range split(content) {
		if silent(part.bytes) {
			continue
		}
		at := Place{File: name, Document: len(docs) + 1, Line: part.line, text: &part}
		raw, err := toJSON(part.bytes)
		if err == nil {
			err = trailing(part.bytes)
		}
		if err != nil {
			return nil, yamlError(at, err)
		}
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		var m map[string]any
		at.Line += leading(part.bytes)
		if err := utiljson.Unmarshal(raw, &m); err != nil || m == nil {
			return nil, fmt.Errorf("%s: not an object but %s", at, kindOfJSON(raw))
		}
		docs = append(docs, Document{At: at, Object: m})
	}
	if len(docs) > 0 && isHead(docs[0].Object) && !bytes.HasSuffix(bytes.TrimRight(content, " \t\r\n"), []byte("\n...")) {
		at := docs[len(docs)-1].At
		return nil, fmt.Errorf("%s: cut short: the snapshot ends without its end mark", at)
	}
	return docs, nil
}

// endMark is the last line of a snapshot in YAML.
const endMark = "...\n"

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

func kindOfJSON(raw []byte) string {
	switch raw[0] {
	case '[':
		return "a list"
	case '"':
		return "plain text"
	case '{':
		return "something that is none"
	}
	return "the value " + string(raw[:min(len(raw), 20)])
}

// split cuts a stream at the marks "---" and "..." at the head of a line. Within
// a block scalar a mark is indented, and within quotes it is not allowed. What
// follows a mark on its line belongs to the document.
func split(content []byte) []text {
	var parts []text
	begin, line, first := 0, 1, 1
	for pos := 0; pos < len(content); line++ {
		end := len(content)
		if n := bytes.IndexByte(content[pos:], '\n'); n >= 0 {
			end = pos + n + 1
		}
		if mark(content[pos:end]) {
			parts = append(parts, text{bytes: content[begin:pos], line: first})
			begin, first = pos+len("---"), line
		}
		pos = end
	}
	return append(parts, text{bytes: content[begin:], line: first})
}

func mark(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok {
		rest, ok = bytes.CutPrefix(line, []byte("..."))
	}
	return ok && (len(rest) == 0 || strings.IndexByte("\n\r \t", rest[0]) >= 0)
}

// silent says that a document is only comments and directives.
func silent(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		if speaks(line) && line[0] != '%' {
			return false
		}
	}
	return true
}

func speaks(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) > 0 && t[0] != '#'
}

// leading counts the lines before the first that says something.
func leading(doc []byte) int {
	n := 0
	for line := range bytes.Lines(doc) {
		if speaks(line) {
			break
		}
		n++
	}
	return n
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
