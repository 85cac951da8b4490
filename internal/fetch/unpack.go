package fetch

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unpack reads a tar, gzipped or not, into memory; it writes nothing to the disk. It allows only
// files and directories, and refuses names that lead out (.., absolute ones, with backslashes or
// drive letters), duplicate names and names that differ only in case, links, devices, and content
// over the limits (zero limits are DefaultLimits).
func Unpack(archive []byte, limits Limits) (fs.FS, error) {
	limits = limits.withDefaults(DefaultLimits)
	var stream io.Reader = bytes.NewReader(archive)
	if bytes.HasPrefix(archive, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(stream)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		stream = unzipped
	}
	u := &unpacker{limits: limits, tree: newTree(), folded: map[string]string{}}
	counted := &budget{from: stream, left: limits.Unpacked, limit: limits.Unpacked}
	if err := u.run(bufio.NewReader(counted)); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if counted.zeros < tarEnd {
		return nil, errors.New("unpack: the archive is incomplete: its end is missing")
	}
	return u.tree, nil
}

// budget ends a stream with an error once it is too long: what is unpacked is counted while it
// is, headers included.
type budget struct {
	from        io.Reader
	left, limit int64
	zeros       int64 // at the end of what was read
}

// tarEnd is how many zeros end a tar. archive/tar does without; but then it is unknown whether
// the last files are missing.
const tarEnd = 1024

var errUnpacked = errors.New("more content than may be unpacked")

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The end may be just here.
		var one [1]byte
		n, err := b.from.Read(one[:])
		if n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("it has %w: over %d bytes", errUnpacked, b.limit)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	rest := len(bytes.TrimRight(p[:n], "\x00"))
	if rest > 0 {
		b.zeros = 0
	}
	b.zeros += int64(n - rest)
	return n, err
}

type unpacker struct {
	limits Limits
	tree   *tree
	total  int64
	// folded has each name, and each directory of it, without regard to case.
	folded map[string]string
}

func (u *unpacker) run(stream io.Reader) error {
	in := tar.NewReader(stream)
	for count := 0; ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return onlyZeros(stream)
		}
		if err != nil {
			return safeError{err}
		}
		if count++; count > u.limits.Files {
			return fmt.Errorf("it has more than %d files, the limit", u.limits.Files)
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue // git archive writes one, with its commit
		}
		if err := u.entry(header, in); err != nil {
			return fmt.Errorf("%s: %w", plain(header.Name), err)
		}
	}
}

// onlyZeros holds what comes after the end of a tar to be padding: other readers might read on.
func onlyZeros(stream io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := stream.Read(buffer)
		if slices.ContainsFunc(buffer[:n], func(b byte) bool { return b != 0 }) {
			return errors.New("content after the end of the archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	name, err := archiveName(header.Name)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if name == "." {
			return nil
		}
		return u.claim(name, true)
	case tar.TypeReg:
	case tar.TypeSymlink, tar.TypeLink:
		return fmt.Errorf("it is a link to %s, and links are refused", plain(header.Linkname))
	default:
		return fmt.Errorf("it is of the type %q: only files and directories are accepted", header.Typeflag)
	}
	if name == "." {
		return errors.New("a file has the name of the directory that it is in")
	}
	if err := u.claim(name, false); err != nil {
		return err
	}
	// Of a sparse file the header says what it unfolds to, so it is held against the rest, too.
	rest := u.limits.Unpacked - u.total
	if header.Size > rest {
		return fmt.Errorf("it has %w: %d bytes after %d, and the limit is %d", errUnpacked, header.Size, u.total, u.limits.Unpacked)
	}
	data, err := bounded(content, rest)
	if err != nil {
		return err
	}
	u.total += int64(len(data))
	u.tree.add(name, data)
	return nil
}

// claim takes a name, with the directories on its way.
func (u *unpacker) claim(name string, directory bool) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := u.fold(dir, true); err != nil {
			return err
		}
	}
	return u.fold(name, directory)
}

// fold refuses a name that exists, unless both are the same directory.
func (u *unpacker) fold(name string, directory bool) error {
	key := strings.Map(foldRune, name)
	before, found := u.folded[key]
	switch {
	case !found:
		u.folded[key] = name
	case before != name:
		return fmt.Errorf("it differs from %s in upper and lower case alone", plain(before))
	case !directory || !u.tree.isDir(name):
		return errors.New("the name occurs twice")
	}
	if directory {
		u.tree.directory(name)
	}
	return nil
}

// foldRune is the least letter of those that are the same without regard to case.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

const (
	maxNameLength = 1024
	maxDepth      = 32
)

// archiveName is the name in an archive as a path of io/fs.
func archiveName(text string) (string, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if text == "./" || text == "." {
		return ".", nil
	}
	switch {
	case len(name) > maxNameLength || strings.Count(name, "/") >= maxDepth:
		return "", fmt.Errorf("the name is too long: at most %d bytes and %d directories are accepted", maxNameLength, maxDepth)
	case strings.HasPrefix(name, "/"), strings.Contains(name, `\`), len(name) > 1 && name[1] == ':':
		return "", errors.New("the name is absolute, or of another system; expected one below the archive, with slashes")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", errors.New("the name leads out of the archive by \"..\"")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("the name has characters that cannot be shown")
	case name == "." || !fs.ValidPath(name):
		return "", errors.New("the name is not a plain path")
	}
	return name, nil
}
