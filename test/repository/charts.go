// Package repository runs places to fetch charts from, on 127.0.0.1 and for the length of a
// test: an http chart repository, and an OCI registry.
package repository

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ServeCharts serves files (NAME-VERSION.tgz, and whatever else there is, such as .prov) with
// an index.yaml that names every archive, and returns the address of the repository.
func ServeCharts(t testing.TB, files map[string][]byte) string {
	t.Helper()
	index := Index(t, files)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		data, ok := files[name]
		if name == "index.yaml" && !ok {
			data, ok = index, true
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Index is the index.yaml of archives, with addresses relative to the repository.
func Index(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	entries := map[string][]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".tgz") {
			continue
		}
		entry := chartYAML(t, name, files[name])
		sum := sha256.Sum256(files[name])
		entry["digest"] = hex.EncodeToString(sum[:])
		entry["urls"] = []string{name}
		title := fmt.Sprint(entry["name"])
		entries[title] = append(entries[title], entry)
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": entries})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// chartYAML is the Chart.yaml of an archive.
func chartYAML(t testing.TB, name string, archive []byte) map[string]any {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	in := tar.NewReader(unzipped)
	for {
		header, err := in.Next()
		if err != nil {
			t.Fatalf("%s: no Chart.yaml: %v", name, err)
		}
		if path.Base(header.Name) != "Chart.yaml" || strings.Count(header.Name, "/") != 1 {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out := map[string]any{}
		if err := yaml.Unmarshal(text, &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
}

// Archive makes the archive (.tgz) of a chart of its files: Chart.yaml, templates/....
func Archive(t testing.TB, name string, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: name + "/" + file, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[file]))}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[file])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Digest is what a catalogue says of an archive.
func Digest(data []byte) string { return digest(data) }
