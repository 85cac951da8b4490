package fetch_test

import (
	"archive/tar"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// catalogueServer serves a catalogue, signed; a counter tells how often it was asked.
func catalogueServer(t *testing.T, archive, signature []byte) (string, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.URL.Path == "/c.tar" && r.URL.RawQuery == "v=1":
			_, _ = w.Write(archive)
		case r.URL.Path == "/c.tar.sig" && signature != nil:
			_, _ = w.Write(signature)
		default:
			http.NotFound(w, r)
		}
	})
	return at + "/c.tar?v=1", &asked
}

func hasEntry(t *testing.T, files fs.FS) {
	t.Helper()
	if text, err := fs.ReadFile(files, "db.yaml"); err != nil || string(text) != "entry" {
		t.Errorf("db.yaml: %q, %v", text, err)
	}
}

func TestCatalogue(t *testing.T) {
	archive := tarOf(t, "entry", tar.Header{Name: "db.yaml"})
	private, public := pair(t, "ecdsa")
	_, other := pair(t, "ed25519")
	signature, err := fetch.Sign(archive, private)
	if err != nil {
		t.Fatal(err)
	}
	at, asked := catalogueServer(t, archive, signature)
	bare, _ := catalogueServer(t, archive, nil)
	pin, cache := "#"+fetch.Digest(archive), t.TempDir()
	for name, test := range map[string]struct {
		options  fetch.Options
		from     string
		verified []string
	}{
		"signed":            {fetch.Options{Key: public}, at, []string{fetch.BySignature}},
		"pinned":            {fetch.Options{}, bare + pin, []string{fetch.ByDigest}},
		"signed and pinned": {fetch.Options{Key: public, Cache: cache}, at + pin, []string{fetch.ByDigest, fetch.BySignature}},
		"unverified":        {fetch.Options{Unverified: true}, bare, nil},
	} {
		files, got, err := newFetcher(t, test.options).Catalogue(t.Context(), test.from)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mustBe(t, got, archive, false, test.verified...)
		hasEntry(t, files)
	}
	before := asked.Load()
	_, got, err := newFetcher(t, fetch.Options{Key: public, Cache: cache, Offline: true}).Catalogue(t.Context(), at+pin)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, true, fetch.ByDigest, fetch.BySignature)
	if asked.Load() != before {
		t.Error("a request was made offline")
	}
	for name, test := range map[string]struct {
		options fetch.Options
		from    string
		want    string
	}{
		"nothing says":     {fetch.Options{}, at, "give the key"},
		"another key":      {fetch.Options{Key: other}, at, "the signature is not by this key"},
		"pinned, unsigned": {fetch.Options{Key: public}, bare + pin, "cannot be fetched"},
		"another digest":   {fetch.Options{}, at + "#" + fetch.Digest(nil), "wrong digest"},
		"a bad digest":     {fetch.Options{}, at + "#sha256:x", "is not a digest"},
		"offline":          {fetch.Options{Offline: true, Unverified: true}, at, "not in the cache"},
		"another scheme":   {fetch.Options{}, "ftp://a.example/x", "unknown scheme; expected"},
		"unverified, key":  {fetch.Options{Unverified: true, Key: public}, bare, "cannot be fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := newFetcher(t, test.options).Catalogue(t.Context(), test.from)
			refused(t, err, "fetch catalog", test.want)
		})
	}
}

func TestRegistryCatalogue(t *testing.T) {
	archive := tarOf(t, "entry", tar.Header{Name: "db.yaml"})
	private, public := pair(t, "ed25519")
	signature, err := fetch.Sign(archive, private)
	if err != nil {
		t.Fatal(err)
	}
	host := repository.ServeOCI(t)
	digest := repository.PushCatalogue(t, host+"/catalog:v1", archive, string(signature))
	repository.PushCatalogue(t, host+"/catalog:bare", archive, "")
	repository.PushCatalogue(t, host+"/catalog:wrong", append(archive, make([]byte, 512)...), string(signature))
	at := "oci://" + host + "/catalog"
	for from, verified := range map[string][]string{
		at + ":v1": {fetch.BySignature}, at + "@" + digest: {fetch.ByDigest, fetch.BySignature}, at + ":v1@" + digest: {fetch.ByDigest, fetch.BySignature},
	} {
		files, got, err := newFetcher(t, fetch.Options{Key: public, PlainHTTP: true}).Catalogue(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, archive, false, verified...)
		hasEntry(t, files)
	}
	f := newFetcher(t, fetch.Options{Key: public, PlainHTTP: true})
	_, _, err = f.Catalogue(t.Context(), at+":bare")
	refused(t, err, "has no signature", fetch.SignatureAnnotation)
	_, _, err = f.Catalogue(t.Context(), at+":wrong")
	refused(t, err, "not by this key")
	_, _, err = newFetcher(t, fetch.Options{PlainHTTP: true}).Catalogue(t.Context(), at+":v1")
	refused(t, err, "give the key")
}

func TestCatalogueOfDisk(t *testing.T) {
	archive := zip(t, tarOf(t, "entry", tar.Header{Name: "db.yaml"}))
	private, public := pair(t, "ecdsa")
	signature, err := fetch.Sign(archive, private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, bare := write("c.tgz", archive), write("bare.tgz", archive)
	write("c.tgz.sig", signature)
	write("db.yaml", []byte("entry"))
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	plain, keyed := newFetcher(t, fetch.Options{Offline: true}), newFetcher(t, fetch.Options{Key: public})
	for _, from := range []string{file, dir, file + "#" + fetch.Digest(archive)} {
		files, got, err := plain.Catalogue(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		hasEntry(t, files)
		if pinned := strings.Contains(from, "#"); pinned != (len(got.Verified) == 1) {
			t.Errorf("%s is verified by %v", from, got.Verified)
		}
	}
	files, _, err := plain.Catalogue(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(files, "out/passwd"); err == nil {
		t.Error("a link led out of the folder")
	}
	_, got, err := keyed.Catalogue(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.BySignature)
	_, _, err = keyed.Catalogue(t.Context(), bare)
	refused(t, err, "a key is given", "bare.tgz.sig")
	_, _, err = keyed.Catalogue(t.Context(), dir)
	refused(t, err, "a directory has no signature")
	_, _, err = plain.Catalogue(t.Context(), filepath.Join(dir, "none.tar"))
	refused(t, err, "none.tar", noFile(t))
	_, _, err = plain.Catalogue(t.Context(), file+"#"+fetch.Digest(nil))
	refused(t, err, "wrong digest")
}
