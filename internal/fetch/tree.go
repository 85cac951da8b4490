package fetch

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// tree is a file system in memory. It is not changed once it is handed out, so it may be read
// by several at once.
type tree struct {
	nodes map[string]*node
}

type node struct {
	name     string // the last part
	data     []byte
	isFolder bool
	children []*node // in the order of their names, once sorted by ReadDir
}

func newTree() *tree {
	return &tree{nodes: map[string]*node{".": {name: ".", isFolder: true}}}
}

func (t *tree) isDir(name string) bool {
	n := t.nodes[name]
	return n != nil && n.isFolder
}

func (t *tree) directory(name string) *node {
	if n := t.nodes[name]; n != nil {
		return n
	}
	n := &node{name: path.Base(name), isFolder: true}
	t.put(name, n)
	return n
}

func (t *tree) add(name string, data []byte) {
	t.put(name, &node{name: path.Base(name), data: data})
}

func (t *tree) put(name string, n *node) {
	t.nodes[name] = n
	parent := t.directory(path.Dir(name))
	at, _ := slices.BinarySearchFunc(parent.children, n.name, func(a *node, b string) int { return cmp.Compare(a.name, b) })
	parent.children = slices.Insert(parent.children, at, n)
}

func (t *tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n := t.nodes[name]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// Open opens a file or a directory.
func (t *tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	return &opened{node: n, Reader: bytes.NewReader(n.data)}, nil
}

// ReadFile returns a copy of a file.
func (t *tree) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	if n.isFolder {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return bytes.Clone(n.data), nil
}

// Stat says what a name is.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	return t.find("stat", name)
}

// node is its own fs.FileInfo and fs.DirEntry.

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return int64(len(n.data)) }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.isFolder }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Mode() fs.FileMode {
	if n.isFolder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
func (n *node) String() string { return fs.FormatFileInfo(n) }

// opened is a file or a directory that is being read.
type opened struct {
	*bytes.Reader
	node *node
	next int
}

// Stat says what it is.
func (o *opened) Stat() (fs.FileInfo, error) { return o.node, nil }

// Close does nothing: all is in memory.
func (o *opened) Close() error { return nil }

// Read reads a file.
func (o *opened) Read(p []byte) (int, error) {
	if o.node.isFolder {
		return 0, &fs.PathError{Op: "read", Path: o.node.name, Err: fs.ErrInvalid}
	}
	return o.Reader.Read(p)
}

// Size is that of fs.FileInfo, not that of the reader.
func (o *opened) Size() int64 { return o.node.Size() }

// ReadDir lists a directory, in the order of names.
func (o *opened) ReadDir(count int) ([]fs.DirEntry, error) {
	if !o.node.isFolder {
		return nil, &fs.PathError{Op: "readdir", Path: o.node.name, Err: fs.ErrInvalid}
	}
	rest := o.node.children[o.next:]
	if count > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if count > 0 {
		rest = rest[:min(count, len(rest))]
	}
	o.next += len(rest)
	out := make([]fs.DirEntry, 0, len(rest))
	for _, n := range rest {
		out = append(out, n)
	}
	return out, nil
}
