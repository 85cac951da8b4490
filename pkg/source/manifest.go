package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// ManifestError describes an error in manifests, and what to do.
type ManifestError struct {
	Err  error
	Hint string // may be empty
}

func (e *ManifestError) Error() string { return e.Err.Error() }

func (e *ManifestError) Unwrap() error { return e.Err }

func manifestError(hint, format string, args ...any) error {
	return &ManifestError{fmt.Errorf(format, args...), hint}
}

// ReadManifests reads the documents of files, of the YAML and JSON files in directories (with
// recursive, also in subdirectories) and of standard input ("-"), ordered by name. The error is a
// *ManifestError: it names the file and, for an error in the content, the line.
func ReadManifests(names []string, recursive bool, stdin io.Reader) ([]Document, error) {
	var docs []Document
	for _, name := range names {
		read, err := readManifest(name, recursive, stdin)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	if len(docs) == 0 {
		return nil, manifestError("", "%s: it has no object", strings.Join(names, ", "))
	}
	return docs, nil
}

func readManifest(name string, recursive bool, stdin io.Reader) ([]Document, error) {
	switch {
	case name == "-" && stdin != nil:
		return parseManifest("standard input", stdin)
	case field.IsWebURL(name):
		return nil, manifestError("curl -fsSL "+name+" | kubectl sysop check --atomic -f -", "%s: addresses are not fetched", name)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, manifestError(`-f takes files, directories and "-"`, "read manifests: there is no %s", name)
	case err != nil:
		return nil, manifestError("", "read manifests: %w", err)
	case info.IsDir():
		return readManifests(name, recursive)
	}
	return readManifestFile(name)
}

// readManifests reads the files of a directory, ordered by name.
func readManifests(dir string, recursive bool) ([]Document, error) {
	var files []string
	nested := false
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && p != dir && !recursive:
			nested = true
			return fs.SkipDir
		case e.IsDir():
			return nil
		case isKustomization(e.Name()):
			return kustomization(filepath.Dir(p))
		case e.Name() == "Chart.yaml":
			return chart(filepath.Dir(p))
		case isSnapshotFile(p):
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		if _, ours := errors.AsType[*ManifestError](err); ours {
			return nil, err
		}
		return nil, manifestError("", "read manifests: %w", err)
	}
	if len(files) == 0 {
		hint := ""
		if nested {
			hint = "-R reads the directories below it, too"
		}
		return nil, manifestError(hint, "%s: no .yaml, .yml or .json file", dir)
	}
	var docs []Document
	for _, f := range files {
		read, err := readManifestFile(f)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	return docs, nil
}

func readManifestFile(name string) ([]Document, error) {
	if isKustomization(filepath.Base(name)) {
		return nil, kustomization(filepath.Dir(name))
	}
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, manifestError("", "read manifests: %w", err)
	}
	defer func() { _ = f.Close() }()
	return parseManifest(name, f)
}

func isKustomization(file string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, file)
}

func kustomization(dir string) error {
	return manifestError("kubectl kustomize "+dir+" | kubectl sysop check --atomic -f -", "%s: a kustomization, which has to be built first", dir)
}

func chart(dir string) error {
	return manifestError("helm template RELEASE "+dir+" -n NAMESPACE | kubectl sysop check --atomic -n NAMESPACE -f -", "%s: a Helm chart, whose templates have to be rendered first", dir)
}

// parseManifest parses one file. If it is invalid and has template marks, it is probably a
// template.
func parseManifest(name string, r io.Reader) ([]Document, error) {
	marks := &markFinder{r: r}
	docs, err := Parse(name, marks)
	if err != nil {
		if marks.found {
			return nil, &ManifestError{err, templateHint}
		}
		return nil, &ManifestError{Err: err}
	}
	for i := range docs {
		if err := isManifest(&docs[i]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

const templateHint = "{{ looks like a template: render it first (helm template ... | kubectl sysop check --atomic -f -)"

// isManifest refuses documents for other programs.
func isManifest(d *Document) error {
	u := unstructured.Unstructured{Object: d.Object}
	group := u.GroupVersionKind().Group
	switch {
	case group == "kustomize.config.k8s.io":
		return kustomization(filepath.Dir(d.At.File))
	case isHead(d.Object), isSummary(d.Object):
		return manifestError("--from FILE reads it as the cluster; -f names the manifests to apply", "%s: it is a snapshot, not manifests", d.At.File)
	}
	return nil
}

// markFinder detects "{{" in a stream.
type markFinder struct {
	r     io.Reader
	last  byte
	found bool
}

func (m *markFinder) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	for _, b := range p[:n] {
		m.found = m.found || b == '{' && m.last == '{'
		m.last = b
	}
	return n, err
}

// Origin returns the position as file:line.
func (p Position) Origin() string {
	text := p.String()
	if at := strings.Index(text, ": document "); at >= 0 {
		text = text[:at]
	}
	return text
}
