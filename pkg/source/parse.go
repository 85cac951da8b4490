package source

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Document is one document of a file, and where it begins.
type Document struct {
	At     Place
	Object map[string]any
	text   []byte // YAML, for finding lines when something is wrong
}

// Place is where an object stands in a snapshot.
type Place struct {
	File     string
	Document int // from 1
	Line     int // from 1; 0 where it is not known
	item     int
	list     *Document
}

func (p Place) String() string {
	line := p.Line
	if p.list != nil {
		line = p.list.lineOf(p.item - 1)
	}
	var b strings.Builder
	b.WriteString(p.File)
	if line > 0 {
		fmt.Fprintf(&b, ":%d", line)
	}
	fmt.Fprintf(&b, ": document %d", p.Document)
	if p.item > 0 {
		fmt.Fprintf(&b, ", item %d", p.item)
	}
	return b.String()
}

func (d *Document) item(i int) Place {
	return Place{File: d.At.File, Document: d.At.Document, item: i + 1, list: d}
}

// lineOf finds the line of an item of a list. The text is parsed a second time
// for it, which only an error is worth.
func (d *Document) lineOf(item int) int {
	var root yamlv3.Node
	if yamlv3.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return d.At.Line
	}
	top := root.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == "items" && item < len(top.Content[i+1].Content) {
			return d.At.Line + top.Content[i+1].Content[item].Line - 1
		}
	}
	return d.At.Line
}

// Open reads a snapshot: a file, a folder of files, "-" for standard input, or
// "demo" for the example, which the caller embeds. Files are YAML or JSON, one
// document or many, Lists among them, and may be gzipped.
func Open(name string, stdin io.Reader, demo fs.FS) (*Snapshot, error) {
	docs, err := open(name, stdin, demo)
	if err != nil {
		return nil, err
	}
	return NewSnapshot(name, docs)
}

func open(name string, stdin io.Reader, demo fs.FS) ([]Document, error) {
	switch name {
	case "demo":
		return readAll(demo, "demo")
	case "-":
		return Parse("standard input", stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	if info.IsDir() {
		return readAll(os.DirFS(name), name)
	}
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	defer f.Close()
	return Parse(name, f)
}

// readAll parses every snapshot file below a folder, in the order of their names.
func readAll(dir fs.FS, name string) ([]Document, error) {
	var docs []Document
	err := fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isSnapshotFile(p) {
			return err
		}
		f, err := dir.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		more, err := Parse(path.Join(name, p), f)
		docs = append(docs, more...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json file", name)
	}
	return docs, nil
}

func isSnapshotFile(p string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(strings.TrimSuffix(p, ".gz")))
}

// Parse reads the documents of one file. The name is for messages.
func Parse(name string, r io.Reader) ([]Document, error) {
	br := bufio.NewReader(r)
	if head, _ := br.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		br = bufio.NewReader(gz)
	}
	text, err := io.ReadAll(br)
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%s: cut short: %w", name, err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) > 0 && t[0] == '{' {
		return parseJSON(name, text)
	}
	return parseYAML(name, text)
}

func parseJSON(name string, text []byte) ([]Document, error) {
	var docs []Document
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		at := Place{File: name, Document: len(docs) + 1}
		start := dec.InputOffset()
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			at.Line = 1 + bytes.Count(text[:max(start, offset(err, int64(len(text))))], []byte("\n"))
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, fmt.Errorf("%s: cut short: %w", at, err)
			}
			return nil, fmt.Errorf("%s: not JSON: %w", at, err)
		}
		at.Line = 1 + bytes.Count(text[:dec.InputOffset()-int64(len(raw))], []byte("\n"))
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%s: not an object: %w", at, err)
		}
		docs = append(docs, Document{At: at, Object: m, text: raw})
	}
}

func offset(err error, end int64) int64 {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return min(syntax.Offset, end)
	}
	return end
}

func parseYAML(name string, text []byte) ([]Document, error) {
	var docs []Document
	number := 0
	for _, part := range split(text) {
		if len(bytes.TrimSpace(stripComments(part.text))) == 0 {
			continue
		}
		number++
		at := Place{File: name, Document: number, Line: part.line}
		raw, err := yaml.YAMLToJSON(part.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", yamlPlace(at, err), yamlMessage(err))
		}
		var m map[string]any
		if err := utiljson.Unmarshal(raw, &m); err != nil || m == nil {
			return nil, fmt.Errorf("%s: not an object but %s", at, cmp.Or(kindOfJSON(raw), "nothing"))
		}
		at.Line += leading(part.text)
		docs = append(docs, Document{At: at, Object: m, text: part.text})
	}
	return docs, nil
}

func kindOfJSON(raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "plain text"
	}
	return "a scalar"
}

// part is the text between two document marks, and its first line.
type part struct {
	text []byte
	line int
}

// split cuts a stream at lines that begin with "---". A mark within a block
// scalar is indented there, so it never is at the head of a line.
func split(text []byte) []part {
	var parts []part
	begin, line, first := 0, 1, 1
	for pos := 0; pos < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[pos:], '\n'); n >= 0 {
			end = pos + n + 1
		}
		if mark(text[pos:end]) {
			parts = append(parts, part{text[begin:pos], first})
			begin, first = end, line+1
		}
		pos = end
		line++
	}
	return append(parts, part{text[begin:], first})
}

func mark(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r' || rest[0] == ' ' || rest[0] == '\t')
}

func stripComments(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' && !bytes.Equal(t, []byte("...")) {
			out = append(out, line...)
		}
	}
	return out
}

// leading counts the lines before the first that says something.
func leading(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return n
		}
		n++
	}
	return 0
}

var yamlLine = regexp.MustCompile(`\bline (\d+): ?`)

// yamlPlace moves a place to the line that a YAML error names, which counts from
// the head of the document.
func yamlPlace(at Place, err error) Place {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			at.Line += n - 1
		}
	}
	return at
}

func yamlMessage(err error) error {
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return errors.New("not YAML: " + strings.TrimPrefix(yamlLine.ReplaceAllString(msg, ""), "yaml: "))
}

func compareNames(a, b metav1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) }
