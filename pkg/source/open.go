package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// Open reads a snapshot: a file, a directory of files, "-" for standard input, or "demo" for the
// example, which the caller embeds. Files are YAML or JSON, one document or many, including Lists,
// and may be gzipped.
func Open(name string, stdin io.Reader, demo fs.FS) (*Snapshot, error) {
	return SnapshotOptions{}.Open(name, stdin, demo)
}

// Open reads a snapshot as Open does, with these options.
func (o SnapshotOptions) Open(name string, stdin io.Reader, demo fs.FS) (*Snapshot, error) {
	docs, err := open(name, stdin, demo)
	if err != nil {
		return nil, err
	}
	return o.New(name, docs)
}

func open(name string, stdin io.Reader, demo fs.FS) ([]Document, error) {
	switch {
	case name == "demo" && demo != nil:
		return readAll(demo, "demo")
	case name == "-" && stdin != nil:
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
	defer func() { _ = f.Close() }()
	return Parse(name, f)
}

// readAll parses every snapshot file below a directory, ordered by name.
func readAll(dir fs.FS, name string) ([]Document, error) {
	var docs []Document
	files := 0
	err := fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isSnapshotFile(p) {
			return err
		}
		files++
		f, err := dir.Open(p)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		parsed, err := Parse(path.Join(name, p), f)
		docs = append(docs, parsed...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if files == 0 {
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json file, gzipped or not", name)
	}
	return docs, nil
}

func isSnapshotFile(p string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(strings.TrimSuffix(p, ".gz")))
}

// Parse reads the documents of one file. The name is for messages. Empty documents and comments do
// not count.
func Parse(name string, r io.Reader) ([]Document, error) {
	content, err := unpack(r)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum):
		return nil, fmt.Errorf("%s: incomplete or damaged: %w", name, err)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	// JSON documents between YAML marks are YAML; no line within JSON starts with a mark.
	if t := bytes.TrimLeft(content, " \t\r\n"); len(t) > 0 && t[0] == '{' && !bytes.Contains(content, []byte("\n---")) {
		docs, err := parseJSON(name, content)
		if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
			return docs, err
		}
		// {a: b} is YAML, too.
		if docs, err := parseYAML(name, content); err == nil {
			return docs, nil
		}
		return nil, err
	}
	return parseYAML(name, content)
}

const (
	// enough limits the size of an unpacked file.
	enough = 4 << 30
	// The unpacked size is limited relative to the packed one, so that a few kilobytes cannot take
	// gigabytes. Dumps of clusters compress to a tenth or a thirtieth; zeros, to a thousandth.
	unpackedAlways = 8 << 20
	unpackedTimes  = 100
)

func unpack(r io.Reader) ([]byte, error) {
	packed := &counted{from: r}
	br := bufio.NewReader(packed)
	head, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var text io.Reader = br
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		gz, err := gzip.NewReader(br)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		text = &inflated{from: gz, packed: packed}
	}
	content, err := io.ReadAll(io.LimitReader(text, enough+1))
	if err == nil && len(content) > enough {
		err = fmt.Errorf("larger than %d GiB", enough>>30)
	}
	if err != nil {
		return nil, err
	}
	return toUTF8(content), nil
}

// counted counts the bytes read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// inflated fails on a stream that unpacks to far more than its packed size.
type inflated struct {
	from   io.Reader
	packed *counted
	n      int64
}

func (i *inflated) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	if i.n += int64(n); i.n > unpackedAlways+unpackedTimes*i.packed.n {
		return 0, fmt.Errorf("it unpacks to more than %d times its size (%d bytes of gzip so far): if that is right, unpack it first", unpackedTimes, i.packed.n)
	}
	return n, err
}

// toUTF8 removes a byte order mark, and decodes the UTF-16 that PowerShell writes in a redirection.
func toUTF8(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	}
	units := make([]uint16, 0, len(b)/2)
	for b = b[2:]; len(b) > 1; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return []byte(string(utf16.Decode(units)))
}
