package bundle_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func TestBundle(t *testing.T) {
	files := map[string][]byte{bundle.System: []byte("kind: System\n"), "catalog/db.yaml": []byte("x"), "charts/db-1.0.0.tgz": []byte("y")}
	packed, err := bundle.Write(files)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bundle.Write(files); err != nil || !bytes.Equal(again, packed) {
		t.Errorf("other bytes, %v", err)
	}
	opened, err := bundle.Open(packed, fetch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if got, err := fs.ReadFile(opened, name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := bundle.Write(map[string][]byte{bundle.Checksums: nil}); err == nil {
		t.Error("checksums of others were taken")
	}
}

func TestBundleChanged(t *testing.T) {
	sum := strings.TrimPrefix(fetch.Digest([]byte("x")), "sha256:")
	for want, files := range map[string]map[string]string{
		"is it a bundle?":        {"a": "x"},
		"a is sha256:":           {"a": "changed", bundle.Checksums: sum + "  a\n"},
		"says nothing":           {"a": "x", "b": "x", bundle.Checksums: sum + "  a\n"},
		"b, which checksums.txt": {"a": "x", bundle.Checksums: sum + "  a\n" + sum + "  b\n"},
		"line 2":                 {"a": "x", bundle.Checksums: sum + "  a\n" + sum + "  a\n"},
		"line 1":                 {"a": "x", bundle.Checksums: sum + "  ../a\n"},
	} {
		raw := map[string][]byte{}
		for name, text := range files {
			raw[name] = []byte(text)
		}
		packed, err := fetch.Pack(raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bundle.Open(packed, fetch.Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
