package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 1, 0, time.UTC)

func some() []file {
	return []file{
		{name: "tool", data: bytes.Repeat([]byte("code"), 5000), executable: true},
		{name: "LICENSE", data: []byte("text\n")},
		{name: "empty"},
	}
}

// packed writes an archive in a folder and returns its bytes.
func packed(t *testing.T, dir, name string, files []file, at time.Time) []byte {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := writeArchive(path, files, at); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestArchivesAreTheSameWhereverAndInWhateverOrder(t *testing.T) {
	zone := time.FixedZone("elsewhere", 5*3600)
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		first := packed(t, t.TempDir(), name, some(), noon)
		other := some()
		slices.Reverse(other)
		if !bytes.Equal(first, packed(t, t.TempDir(), name, other, noon.In(zone).Add(time.Millisecond))) {
			t.Errorf("%s: another order and zone give other bytes", name)
		}
		if bytes.Equal(first, packed(t, t.TempDir(), name, some(), noon.Add(time.Minute))) {
			t.Errorf("%s: the time is not in it", name)
		}
	}
}

func TestTarHasWhatWentInAndNobodysName(t *testing.T) {
	b := packed(t, t.TempDir(), "a.tar.gz", some(), noon)
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if z.Name != "" || z.Comment != "" || !z.ModTime.IsZero() || len(z.Extra) > 0 {
		t.Errorf("header of gzip: %+v", z.Header)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		data, err := io.ReadAll(r)
		check(t, h.Name, data, err, fs.FileMode(h.Mode), h.ModTime)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || len(h.PAXRecords) > 0 {
			t.Errorf("%s: %+v", h.Name, h)
		}
	}
	if want := []string{"LICENSE", "empty", "tool"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestZipHasWhatWentIn(t *testing.T) {
	b := packed(t, t.TempDir(), "a.zip", some(), noon)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		check(t, f.Name, data, err, f.Mode(), f.Modified)
	}
	if want := []string{"LICENSE", "empty", "tool"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func check(t *testing.T, name string, data []byte, err error, mode fs.FileMode, at time.Time) {
	t.Helper()
	for _, f := range some() {
		if f.name == name && (err != nil || !bytes.Equal(data, f.data) || mode != f.mode() || !at.Equal(noon)) {
			t.Errorf("%s: %d bytes, mode %v, time %v, error %v", name, len(data), mode, at, err)
		}
	}
}

func TestNamesThatLeadElsewhereAreRefused(t *testing.T) {
	for _, name := range []string{"../x", "..", ".", "", "/x", "a/b", `a\b`, "c:x"} {
		path := filepath.Join(t.TempDir(), "a.zip")
		err := writeArchive(path, []file{{name: name}}, noon)
		if err == nil || !strings.Contains(err.Error(), "not a name of a file") {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%q: an archive was begun", name)
		}
	}
	err := writeArchive(filepath.Join(t.TempDir(), "a.zip"), []file{{name: "License"}, {name: "LICENSE"}}, noon)
	if err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("names that are one on some disks: %v", err)
	}
}

func TestChecksumsAreReadAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), Checksums)
	a, b := strings.Repeat("ab", 32), strings.Repeat("01", 32)
	if err := WriteChecksums(path, []Artifact{{Name: "z.zip", SHA256: a}, {Name: "a.zip", SHA256: b}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if want := b + "  a.zip\n" + a + "  z.zip\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	sums, err := ReadChecksums(path)
	if err != nil || len(sums) != 2 || sums["z.zip"] != a || sums["a.zip"] != b {
		t.Errorf("%v, %v", sums, err)
	}
	for _, bad := range []string{strings.ToUpper(a) + "  x", a[1:] + "  x", a + "  x/y", a + "  ", a + "  x\n" + a + "  x"} {
		if err := os.WriteFile(path, []byte(bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadChecksums(path); err == nil || !strings.Contains(err.Error(), Checksums+":") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func host() string { return runtime.GOOS + "/" + runtime.GOARCH }
