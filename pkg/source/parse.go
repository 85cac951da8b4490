package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func parseJSON(name string, content []byte) ([]Document, error) {
	var docs []Document
	dec := json.NewDecoder(bytes.NewReader(content))
	end := int64(len(bytes.TrimRight(content, " \t\r\n")))
	lines := lineCounter{content: content, line: 1}
	for {
		at := Position{File: name, Document: len(docs) + 1}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		var syntax *json.SyntaxError
		switch {
		// A final line feed within a string also means that the file was truncated.
		case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Offset > end:
			at.Line = lines.at(end)
			return nil, fmt.Errorf("%s: incomplete: the JSON ends too early", at)
		case errors.As(err, &syntax):
			at.Line = lines.at(syntax.Offset)
			return nil, fmt.Errorf("%s: not JSON: %w", at, err)
		case err != nil:
			return nil, fmt.Errorf("%s: not JSON: %w", at, err)
		}
		at.Line = lines.at(dec.InputOffset() - int64(len(raw)))
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil || m == nil {
			return nil, fmt.Errorf("%s: expected an object, got %s", at, kindOfJSON(raw))
		}
		at.text = &text{bytes: raw, line: at.Line, asJSON: true}
		docs = append(docs, Document{At: at, Object: m})
	}
}

// lineCounter finds the lines of increasing offsets in one pass.
type lineCounter struct {
	content []byte
	offset  int64
	line    int
}

func (c *lineCounter) at(offset int64) int {
	if offset = min(offset, int64(len(c.content))); offset > c.offset {
		c.line += bytes.Count(c.content[c.offset:offset], []byte("\n"))
		c.offset = offset
	}
	return c.line
}

func parseYAML(name string, content []byte) ([]Document, error) {
	var docs []Document
	grows := growth(content)
	for _, part := range split(content) {
		if silent(part.bytes) {
			continue
		}
		at := Position{File: name, Document: len(docs) + 1, Line: part.line, text: &part}
		raw, err := toJSON(part.bytes, grows)
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
			return nil, fmt.Errorf("%s: expected an object, got %s", at, kindOfJSON(raw))
		}
		docs = append(docs, Document{At: at, Object: m})
	}
	if len(docs) > 0 && isHead(docs[0].Object) && !bytes.HasSuffix(bytes.TrimRight(content, " \t\r\n"), []byte("\n...")) {
		at := docs[len(docs)-1].At
		return nil, fmt.Errorf("%s: incomplete: the snapshot ends without its end mark", at)
	}
	return docs, nil
}

func kindOfJSON(raw []byte) string {
	switch raw[0] {
	case '[':
		return "a list"
	case '"':
		return "plain text"
	case '{':
		return "something else"
	}
	return "the value " + string(raw[:min(len(raw), 20)])
}

// endMark is the last line of a snapshot in YAML.
const endMark = "...\n"

// split cuts a stream at the marks "---" and "..." at the start of a line. A mark within a block
// scalar is indented, and within quotes it is not allowed. Text after a mark on its line belongs to
// the document.
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

// silent reports whether a document has only comments and directives.
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

// leading counts the lines before the first content.
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
