package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsInThePageIsTold(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	licences := filepath.Join(dir, "ui", "licences", "@some", "thing")
	lock := func(licence string) {
		write(t, filepath.Join(dir, "ui", "package-lock.json"), `{"packages": {
			"": {"name": "page"},
			"node_modules/esbuild": {"version": "1.0.0", "dev": true, "license": "MIT"},
			"node_modules/@some/thing": {"version": "2.0.0", "integrity": "sha512-abc", "license": "`+licence+`"}}}`)
	}
	if all, err := bundled(c, dir); err != nil || len(all) != 0 {
		t.Errorf("without a page: %v, %v", all, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "ui"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock("MIT")
	if _, err := bundled(c, dir); err == nil || !strings.Contains(err.Error(), "ui/licences/@some/thing has no licence") {
		t.Errorf("without a text: %v", err)
	}
	if err := os.MkdirAll(licences, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(licences, "LICENSE"), text(t, "MIT"))
	all, err := bundled(c, dir)
	if err != nil || len(all) != 1 || all[0].Module != "npm:@some/thing" || all[0].Sum != "sha512-abc" {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := sourceOf(all[0]); got != "https://registry.npmjs.org/@some/thing/-/thing-2.0.0.tgz" {
		t.Error(got)
	}
	lock("ISC")
	if _, err := bundled(c, dir); err == nil || !strings.Contains(err.Error(), "says ISC") {
		t.Errorf("another licence than the lock file says: %v", err)
	}
}

// TestThePageOfThePlugin holds the texts to the lock file as it is.
func TestThePageOfThePlugin(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	all, err := bundled(c, "../..")
	if err != nil || len(all) != 1 || all[0].Module != "npm:preact" {
		t.Errorf("%+v, %v", all, err)
	}
}
