package fetch_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

// tarOf writes headers; of files whose Size is 0 it is that of the content.
func tarOf(t testing.TB, content string, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, header := range headers {
		regular := header.Typeflag == tar.TypeReg || header.Typeflag == 0
		if regular {
			header.Size = int64(len(content))
		}
		if header.Mode == 0 && header.Typeflag != tar.TypeXGlobalHeader {
			header.Mode = 0o644
		}
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if regular {
			if _, err := w.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpack(t *testing.T) {
	packed := tarOf(t, "text", tar.Header{Name: "pax_global_header", Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "a commit"}},
		tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, tar.Header{Name: "./b/", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "./b/two.yaml"}, tar.Header{Name: "a.yaml"}, tar.Header{Name: "b/c/d/three.yaml"}, tar.Header{Name: "b/", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "empty/", Typeflag: tar.TypeDir})
	for _, archive := range [][]byte{packed, zip(t, packed), append(slices.Clone(packed), make([]byte, 4096)...)} {
		files, err := fetch.Unpack(archive, fetch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(files, "a.yaml", "b/two.yaml", "b/c/d/three.yaml", "empty"); err != nil {
			t.Error(err)
		}
		if text, err := fs.ReadFile(files, "b/two.yaml"); err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestUnpackEmpty(t *testing.T) {
	files, err := fetch.Unpack(tarOf(t, ""), fetch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(files); err != nil {
		t.Error(err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	file := func(names ...string) []tar.Header {
		var out []tar.Header
		for _, name := range names {
			out = append(out, tar.Header{Name: name})
		}
		return out
	}
	special := func(kind byte) []tar.Header {
		return []tar.Header{{Name: "a", Typeflag: kind, Linkname: "/etc/passwd"}}
	}
	for name, test := range map[string]struct {
		headers []tar.Header
		want    string
	}{
		"out":                   {file("../a"), ".."},
		"out, later":            {file("a/../../b"), ".."},
		"inside, by ..":         {file("a/../b"), ".."},
		"a folder out":          {[]tar.Header{{Name: "../", Typeflag: tar.TypeDir}}, ".."},
		"absolute":              {file("/etc/passwd"), "absolute"},
		"absolute, hidden":      {file(".//etc/passwd"), "absolute"},
		"backslash":             {file(`..\a`), "absolute"},
		"drive":                 {file("C:/a"), "absolute"},
		"drive, relative":       {file("c:a"), "absolute"},
		"control":               {file("a\x1b[2Jb"), "cannot be shown"},
		"newline":               {file("a\nb"), "cannot be shown"},
		"bytes":                 {file("a\xff"), "cannot be shown"},
		"doubled slash":         {file("a//b"), "not a plain path"},
		"dots":                  {file("a/./b"), "not a plain path"},
		"a file named by a dot": {file("."), "name of the directory"},
		"long":                  {file(strings.Repeat("a", 1025)), "too long"},
		"deep":                  {file(strings.Repeat("a/", 40) + "b"), "too long"},
		"symbolic link":         {special(tar.TypeSymlink), `link to /etc/passwd`},
		"hard link":             {special(tar.TypeLink), `link to /etc/passwd`},
		"character device":      {special(tar.TypeChar), "only files and directories"},
		"block device":          {special(tar.TypeBlock), "only files and directories"},
		"pipe":                  {special(tar.TypeFifo), "only files and directories"},
		"contiguous":            {special(tar.TypeCont), "only files and directories"},
		"twice":                 {file("a", "a"), "occurs twice"},
		"twice, written else":   {file("a", "./a"), "occurs twice"},
		"case":                  {file("values.yaml", "Values.yaml"), "differs from values.yaml"},
		"case of a folder":      {file("a/b", "A/c"), "differs from a"},
		"case, by Unicode":      {file("ſ.yaml", "S.yaml"), "differs from"},
		"a file as a folder":    {file("a", "a/b"), "occurs twice"},
		"a folder as a file":    {file("a/b", "a"), "occurs twice"},
		"many":                  {file("1", "2", "3", "4", "5", "6", "7", "8"), "more than 7 files"},
		"many folders":          {slices.Repeat([]tar.Header{{Name: "a/", Typeflag: tar.TypeDir}}, 8), "more than 7 files"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fetch.Unpack(tarOf(t, "text", test.headers...), fetch.Limits{Files: 7})
			refused(t, err, "unpack: ", test.want)
		})
	}
}

// TestUnpackBombs has archives that are small as they travel.
func TestUnpackBombs(t *testing.T) {
	limits := fetch.Limits{Unpacked: 1 << 20}
	exact := tarOf(t, strings.Repeat("x", 1<<20-512-1024), tar.Header{Name: "a"})
	if _, err := fetch.Unpack(exact, limits); err != nil || len(exact) != 1<<20 {
		t.Errorf("what just fits (%d bytes): %v", len(exact), err)
	}
	one := tarOf(t, strings.Repeat("x", 2<<20), tar.Header{Name: "a"})
	some := tarOf(t, strings.Repeat("x", 300<<10), tar.Header{Name: "a"}, tar.Header{Name: "b"}, tar.Header{Name: "c"}, tar.Header{Name: "d"})
	after := append(tarOf(t, "", tar.Header{Name: "a"}), make([]byte, 2<<20)...)
	// A header that tells of more than there is.
	lie := tarOf(t, strings.Repeat("x", 1<<10), tar.Header{Name: "a"})
	copy(lie[124:136], "77777777777\x00")
	copy(lie[148:156], "        ")
	sum := 0
	for _, b := range lie[:512] {
		sum += int(b)
	}
	copy(lie[148:156], []byte{'0' + byte(sum>>15&7), '0' + byte(sum>>12&7), '0' + byte(sum>>9&7), '0' + byte(sum>>6&7), '0' + byte(sum>>3&7), '0' + byte(sum&7), 0, ' '})
	for name, archive := range map[string][]byte{"one file": one, "some files": some, "after the end": after, "a lie": lie, "zipped": zip(t, one)} {
		t.Run(name, func(t *testing.T) {
			_, err := fetch.Unpack(archive, limits)
			refused(t, err, "more content than may be unpacked")
		})
	}
}

func TestUnpackBroken(t *testing.T) {
	good := tarOf(t, "text", tar.Header{Name: "a"})
	zipped := zip(t, good)
	flipped := slices.Clone(zipped)
	flipped[len(flipped)-6] ^= 1
	for name, test := range map[string]struct {
		archive []byte
		want    string
	}{
		"text":           {[]byte(strings.Repeat("no archive ", 100)), "header"},
		"cut":            {good[:514], "EOF"},
		"cut at a file":  {good[:1024], "incomplete"},
		"empty":          {nil, "incomplete"},
		"cut, zipped":    {zipped[:len(zipped)-9], "EOF"},
		"sum of gzip":    {flipped, "checksum"},
		"junk after":     {append(slices.Clone(good), "junk"...), "after the end"},
		"one after":      {append(slices.Clone(good), good...), "after the end"},
		"junk after zip": {append(slices.Clone(zipped), "junk and more of it"...), "gzip"},
		"two zips":       {append(slices.Clone(zipped), zipped...), "after the end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fetch.Unpack(test.archive, fetch.Limits{})
			refused(t, err, test.want)
		})
	}
}

func TestPack(t *testing.T) {
	files := map[string][]byte{"b/x.yaml": []byte("b"), "a.yaml": []byte("a"), "b.yaml": nil, "charts/ü-" + strings.Repeat("long", 60): []byte("pax")}
	packed, err := fetch.Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, err := fetch.Pack(maps.Clone(files)); err != nil || !bytes.Equal(again, packed) {
			t.Fatalf("other bytes, %v", err)
		}
	}
	unpacked, err := fetch.Unpack(packed, fetch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if got, err := fs.ReadFile(unpacked, name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, bad := range map[string]map[string][]byte{
		"..":               {"../a": nil},
		"expected a":       {"./a": nil},
		"absolute":         {"/a": nil},
		"differs from A":   {"a": nil, "A": nil},
		"occurs twice":     {"a": nil, "a/b": nil},
		"not a plain path": {"": nil},
	} {
		_, err := fetch.Pack(bad)
		refused(t, err, "pack ", name)
	}
}

// FuzzUnpack: whatever is taken is a proper file system, within the limits.
func FuzzUnpack(f *testing.F) {
	f.Add(tarOf(f, "text", tar.Header{Name: "a/b"}, tar.Header{Name: "c"}))
	f.Add(tarOf(f, "", tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "b"}))
	f.Add(zip(f, tarOf(f, "text", tar.Header{Name: "a"})))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := fetch.Limits{Unpacked: 1 << 16, Files: 20}
		files, err := fetch.Unpack(data, limits)
		if err != nil {
			return
		}
		total, expected := 0, []string{}
		err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(files, name)
			total += len(content)
			expected = append(expected, name)
			return err
		})
		if err != nil || total > 1<<16 {
			t.Errorf("%d bytes, %v", total, err)
		}
		if err := fstest.TestFS(files, expected...); err != nil && len(expected) > 0 {
			t.Error(err)
		}
	})
}
