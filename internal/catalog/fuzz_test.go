package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// FuzzEntry: reading never panics, and what is read without a problem is written as it is
// read again.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(widget(f)))
	for _, name := range []string{"kro", "jobset", "moodle", "sealed-secrets"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Replace(data, []byte("\nname: "+name+"\n"), []byte("\nname: widget\n"), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, problems := catalog.Parse("widget", data)
		if len(problems) > 0 {
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Errorf("a problem without a place or a message: %+v", p)
				}
			}
			return
		}
		text, err := e.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, problems := catalog.Parse("widget", text)
		if len(problems) > 0 {
			t.Fatalf("what is written is not read: %v\n%s", problems, text)
		}
		// As text, since not every float equals itself.
		if twice, err := again.YAML(); err != nil || !bytes.Equal(text, twice) {
			t.Fatalf("it is written in two ways: %v\n%s\n%s", err, text, twice)
		}
	})
}
