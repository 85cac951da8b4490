package fetch_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

// publisher signs catalogues, and an address serves one of them.
type publisher struct {
	t               *testing.T
	private, public []byte
	serves          atomic.Value // [2][]byte: the tar and its signature
	at, cache       string
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{t: t, cache: t.TempDir()}
	p.private, p.public = pair(t, "ed25519")
	p.at = serve(t, func(w http.ResponseWriter, r *http.Request) {
		files := p.serves.Load().([2][]byte)
		if strings.HasSuffix(r.URL.Path, ".sig") {
			_, _ = w.Write(files[1])
			return
		}
		_, _ = w.Write(files[0])
	}) + "/c.tar"
	return p
}

// signed is a catalogue with an identity file, or none where that is empty.
func (p *publisher) signed(identity, entry string) [2][]byte {
	p.t.Helper()
	files := map[string][]byte{"db.yaml": []byte(entry)}
	if identity != "" {
		files[fetch.IdentityFile] = []byte(identity)
	}
	packed, err := fetch.Pack(files)
	if err != nil {
		p.t.Fatal(err)
	}
	signature, err := fetch.Sign(packed, p.private)
	if err != nil {
		p.t.Fatal(err)
	}
	return [2][]byte{packed, signature}
}

func (p *publisher) take(change ...func(*fetch.Options)) (fetch.Artifact, error) {
	p.t.Helper()
	o := fetch.Options{Key: p.public, Cache: p.cache}
	for _, c := range change {
		c(&o)
	}
	_, artifact, err := newFetcher(p.t, o).Catalogue(p.t.Context(), p.at)
	return artifact, err
}

func named(name string, serial int) string {
	return fmt.Sprintf(`{"name": %q, "serial": %d}`, name, serial)
}

// TestSignedCatalogueIsNoOther serves what the same key has signed, and is another catalogue, an
// older one, one that says nothing, or the same serial with another content.
func TestSignedCatalogueIsNoOther(t *testing.T) {
	p := newPublisher(t)
	first, second := p.signed(named("shop", 7), "seven"), p.signed(named("shop", 8), "eight")
	p.serves.Store(first)
	for range 2 { // The same one again is fine.
		if got, err := p.take(); err != nil || len(got.Notes) != 0 {
			t.Fatalf("serial 7: %v %q", err, got.Notes)
		}
	}
	p.serves.Store(second)
	if _, err := p.take(); err != nil {
		t.Fatalf("serial 8: %v", err)
	}
	for what, test := range map[string]struct {
		files [2][]byte
		words []string
	}{
		"an older one":         {first, []string{"serial 7 of the catalog shop", "serial 8 was fetched before", "older", "digest at the end"}},
		"another one":          {p.signed(named("bank", 9), "nine"), []string{"the catalog bank", "was shop", "a different catalog"}},
		"one without identity": {p.signed("", "none"), []string{"has no catalog.json", "shop, serial 8"}},
		"the same serial":      {p.signed(named("shop", 8), "other"), []string{"different content", "raise the serial"}},
		"no identity at all":   {p.signed(`{"name": "shop"}`, "x"), []string{"the serial 0"}},
	} {
		p.serves.Store(test.files)
		_, err := p.take()
		if err == nil {
			t.Errorf("%s was taken", what)
			continue
		}
		refused(t, err, test.words...)
	}
	// What was refused is not remembered: the last one that was taken is still the last.
	p.serves.Store(second)
	if _, err := p.take(); err != nil {
		t.Errorf("serial 8 again: %v", err)
	}
	// Who names the digest has said which one is meant, and is not held to it later.
	p.serves.Store(first)
	at := p.at
	p.at += "#" + fetch.Digest(first[0])
	if _, err := p.take(); err != nil {
		t.Errorf("serial 7 by its digest: %v", err)
	}
	p.at = at
	if _, err := p.take(); err == nil {
		t.Error("a digest once has made the older one the last one")
	}
	p.at += "?token=other"
	if _, err := p.take(); err == nil {
		t.Error("another query makes it another address")
	}
}

// TestSignedCatalogueHasTheNameOfTheSettings: the first one is held against it, too.
func TestSignedCatalogueHasTheNameOfTheSettings(t *testing.T) {
	p := newPublisher(t)
	shop := func(o *fetch.Options) { o.Name = "shop" }
	p.serves.Store(p.signed(named("bank", 1), "x"))
	_, err := p.take(shop)
	refused(t, err, "the catalog bank", "the settings expect shop")
	nothingIn(t, p.cache)
	p.serves.Store(p.signed("", "x"))
	_, err = p.take(shop)
	refused(t, err, "has no catalog.json", "the settings expect the catalog shop")
	p.serves.Store(p.signed(named("shop", 1), "x"))
	if _, err := p.take(shop); err != nil {
		t.Error(err)
	}
}

// TestSignedCatalogueSaysWhatItLacks: an older catalogue has no identity; it is taken, and what
// that means is said.
func TestSignedCatalogueSaysWhatItLacks(t *testing.T) {
	p := newPublisher(t)
	p.serves.Store(p.signed("", "x"))
	got, err := p.take()
	if err != nil {
		t.Fatal(err)
	}
	noted(t, got, "no catalog.json with its name and serial")
	// Once it has one, it has to keep it.
	p.serves.Store(p.signed(named("shop", 1), "x"))
	if got, err := p.take(); err != nil || len(got.Notes) != 0 {
		t.Errorf("%v %q", err, got.Notes)
	}
	p.serves.Store(p.signed("", "x"))
	_, err = p.take()
	refused(t, err, "has no catalog.json")
}

// TestDamagedMemoryRefuses: who can damage what is remembered does not bring it to an end unseen.
func TestDamagedMemoryRefuses(t *testing.T) {
	p := newPublisher(t)
	p.serves.Store(p.signed(named("shop", 1), "x"))
	if _, err := p.take(); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(p.cache, "catalogs", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.take()
	refused(t, err, "remove "+kept[0])
}

func TestReadIdentity(t *testing.T) {
	for text, want := range map[string]string{
		named("shop.example.com", 12):                                  "",
		`{"name": "a", "serial": 1, "later": "versions may say more"}`: "",
		named("Shop", 1):                         "small letters",
		named("", 1):                             "small letters",
		named("a\u202eb", 1):                     "small letters",
		named("shop", 0):                         "expected 1 or more",
		`{"name": "a", "serial": 1.5}`:           "expected {",
		`{"name": "a", "serial": 1} {}`:          "content after its object",
		`[]`:                                     "expected {",
		"":                                       "expected {",
		`{"name": "` + strings.Repeat("a", 5000): "4096 bytes",
	} {
		id, err := fetch.ReadIdentity(fstest.MapFS{fetch.IdentityFile: {Data: []byte(text)}})
		switch {
		case want == "" && (err != nil || id == nil):
			t.Errorf("%.40s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
	if id, err := fetch.ReadIdentity(fstest.MapFS{}); id != nil || err != nil {
		t.Errorf("none: %v %v", id, err)
	}
}
