package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Limits bound the size of a chart.
type Limits struct {
	// Bytes limits the archive, Unpacked the sum of its files, including those of packed subcharts,
	// and File a single file that is read as YAML.
	Bytes, Unpacked, File int64
	// Files limits their number.
	Files int
}

// DefaultLimits exceed every reasonable chart. Helm itself accepts 100 MiB unpacked.
var DefaultLimits = Limits{Bytes: 64 << 20, Unpacked: 100 << 20, File: 8 << 20, Files: 10000}

// subchartDepth limits how deep subcharts are nested, as directories or packed.
const subchartDepth = 8

// unpacker reads the archives of one chart under common limits: subcharts in charts/ at any depth
// count with the chart that contains them, since Helm unpacks them all into memory.
type unpacker struct {
	limits Limits
	bytes  int64
	files  int
	// grows limits what aliases may add in all files that Helm reads as YAML.
	grows *strict.Growth
}

var errTooDeep = fmt.Errorf("subcharts are nested more than %d deep", subchartDepth)

func (u *unpacker) unpack(name string, data []byte, depth int) ([]*archive.BufferedFile, error) {
	if int64(len(data)) > u.limits.Bytes {
		return nil, fmt.Errorf("%s has %d bytes: a chart may have at most %d", name, len(data), u.limits.Bytes)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s is not a chart archive (.tgz): %w", name, err)
	}
	// Headers of tar count as well: otherwise an archive could consist of headers only.
	counted := &countReader{r: unzipped, left: u.limits.Unpacked - u.bytes + int64(u.limits.Files+10)*2048, limit: u.limits.Unpacked}
	r := tar.NewReader(counted)
	top := ""
	var files []*archive.BufferedFile
	seen := map[string]bool{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: read the archive: %w", name, err)
		}
		at, err := u.entry(name, h, &top)
		if err != nil {
			return nil, err
		}
		if at == "" {
			continue
		}
		if seen[at] {
			return nil, fmt.Errorf("%s: the file %q occurs twice", name, h.Name)
		}
		seen[at] = true
		file, err := u.file(name, at, h, r)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		if err := u.packed(name, file, depth); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no files", name)
	}
	slices.SortStableFunc(files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// entry returns the path of a file inside of the chart's directory, and "" for what is no file.
func (u *unpacker) entry(name string, h *tar.Header, top *string) (string, error) {
	switch h.Typeflag {
	case tar.TypeXGlobalHeader, tar.TypeXHeader:
		return "", nil
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return "", fmt.Errorf("%s: %q is a link: a chart must not have links", name, h.Name)
	default:
		return "", fmt.Errorf("%s: %q is neither a file nor a directory", name, h.Name)
	}
	full := strings.ReplaceAll(h.Name, `\`, "/")
	if reason := outside(full); reason != "" {
		return "", fmt.Errorf("%s: the path %q %s", name, h.Name, reason)
	}
	if u.files++; u.files > u.limits.Files {
		return "", fmt.Errorf("%s has more than %d files", name, u.limits.Files)
	}
	first, rest, _ := strings.Cut(path.Clean(full), "/")
	if h.Typeflag == tar.TypeDir {
		return "", nil
	}
	if rest == "" {
		return "", fmt.Errorf("%s: the file %q is outside of the chart's directory", name, h.Name)
	}
	if *top == "" {
		*top = first
	}
	if *top != first {
		return "", fmt.Errorf("%s has the directories %q and %q at its top: a chart has one", name, *top, first)
	}
	return rest, nil
}

// outside returns why a path is unsafe, or "".
func outside(p string) string {
	switch {
	case path.IsAbs(p):
		return "is absolute"
	case len(p) > 1 && p[1] == ':':
		return "names a drive"
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "leads out of the chart (..)"
	case strings.ContainsRune(p, 0):
		return "contains a NUL"
	}
	return ""
}

func (u *unpacker) file(name, at string, h *tar.Header, r io.Reader) (*archive.BufferedFile, error) {
	limit := u.limits.Unpacked - u.bytes
	if h.Size > limit {
		return nil, u.tooLarge(name, h.Name)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: read %q: %w", name, h.Name, err)
	}
	if u.bytes += int64(len(data)); u.bytes > u.limits.Unpacked {
		return nil, u.tooLarge(name, h.Name)
	}
	return &archive.BufferedFile{Name: at, ModTime: h.ModTime, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}, nil
}

func (u *unpacker) tooLarge(name, file string) error {
	return fmt.Errorf("%s has more than %d bytes unpacked (at %q)", name, u.limits.Unpacked, file)
}

// packed checks a file that Helm reads as YAML or JSON, and unpacks a subchart that is an archive
// itself, as Helm does. depth is that of the archive with the file.
func (u *unpacker) packed(name string, f *archive.BufferedFile, depth int) error {
	inner, folders, ok := inChart(f.Name)
	if depth+folders > subchartDepth {
		return fmt.Errorf("%s, %s: %w", name, f.Name, errTooDeep)
	}
	if !ok || path.Ext(inner) != ".tgz" {
		return u.checkFile(name, inner, f)
	}
	_, err := u.unpack(name+"/"+f.Name, f.Data, depth+folders)
	return err
}

// inChart removes the directories of subcharts from the path of a file, and counts them, as the
// loader of Helm does. subchart is set if the file itself is in a directory of subcharts: an
// archive there is a chart.
func inChart(name string) (inner string, folders int, subchart bool) {
	for {
		rest, ok := strings.CutPrefix(name, "charts/")
		if !ok {
			return name, folders, false
		}
		folders++
		_, remainder, ok := strings.Cut(rest, "/")
		if !ok {
			return rest, folders, true
		}
		name = remainder
	}
}

type countReader struct {
	r     io.Reader
	left  int64
	limit int64
}

func (c *countReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("it has more than %d bytes unpacked", c.limit)
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// pack returns an archive of the files under a directory, the same bytes for the same files.
func pack(folder string, files []*archive.BufferedFile) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data)), ModTime: time.Unix(0, 0).UTC()}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", folder, err)
	}
	return out.Bytes(), nil
}
