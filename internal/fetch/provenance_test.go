package fetch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"helm.sh/helm/v4/pkg/provenance"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// signer is somebody who signs charts: with the file of the public key.
func signer(t *testing.T) (*provenance.Signatory, string) {
	t.Helper()
	entity, err := openpgp.NewEntity("Ada", "", "ada@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := entity.Serialize(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	keyring := filepath.Join(t.TempDir(), "keys.asc")
	if err := os.WriteFile(keyring, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &provenance.Signatory{Entity: entity}, keyring
}

func provOf(t *testing.T, by *provenance.Signatory, archive []byte, name string) []byte {
	t.Helper()
	text, err := by.ClearSign(archive, name, []byte("name: db\nversion: 1.2.3\n"))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

func TestProvenance(t *testing.T) {
	ada, keyring := signer(t)
	_, others := signer(t)
	archive := chartOf(t, "db", "1.2.3")
	const name = "db-1.2.3.tgz"
	good := provOf(t, ada, archive, name)
	host := repository.ServeOCI(t)
	for label, test := range map[string]struct {
		prov    []byte
		keyring string
		want    string // of the error; empty for none
	}{
		"signed":       {good, keyring, ""},
		"by others":    {good, others, "check the provenance of " + name},
		"of others":    {provOf(t, ada, []byte("x"), name), keyring, "sha256 sum does not match"},
		"another name": {provOf(t, ada, archive, "web-1.2.3.tgz"), keyring, "does not contain a SHA"},
		"no signature": {[]byte("honestly"), keyring, "signature block not found"},
	} {
		t.Run(label, func(t *testing.T) {
			repo := repository.ServeCharts(t, map[string][]byte{name: archive, name + ".prov": test.prov})
			digest := repository.PushChart(t, host+"/charts/db:1.2.3", archive, test.prov)
			f := newFetcher(t, fetch.Options{Keyring: test.keyring, PlainHTTP: true, Local: fstest.MapFS{name: {Data: archive}, name + ".prov": {Data: test.prov}}})
			for _, source := range []catalog.ChartSource{
				chartAt(repo, "db", "1.2.3", archive),
				{OCI: "oci://" + host + "/charts/db", Version: "1.2.3", Digest: digest},
				{Path: name, Digest: fetch.Digest(archive)},
			} {
				got, err := f.Chart(t.Context(), source)
				if test.want != "" {
					refused(t, err, test.want)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				mustBe(t, got, archive, false, fetch.ByDigest, fetch.ByProvenance)
				noted(t, got, "signed by Ada")
			}
		})
	}
}

// TestProvenanceAlone has no digest: the signature stands for it, and without one the chart is refused.
func TestProvenanceAlone(t *testing.T) {
	ada, keyring := signer(t)
	archive := chartOf(t, "db", "1.2.3")
	const name = "db-1.2.3.tgz"
	bare := repository.ServeCharts(t, map[string][]byte{name: archive})
	repo := repository.ServeCharts(t, map[string][]byte{name: archive, name + ".prov": provOf(t, ada, archive, name)})
	host := repository.ServeOCI(t)
	repository.PushChart(t, host+"/charts/db:1.2.3", archive, nil)
	f := newFetcher(t, fetch.Options{Keyring: keyring, PlainHTTP: true})
	got, err := f.Chart(t.Context(), chartAt(repo, "db", "1.2.3", nil))
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByProvenance)
	for _, source := range []catalog.ChartSource{chartAt(bare, "db", "1.2.3", nil), {OCI: "oci://" + host + "/charts/db", Version: "1.2.3"}} {
		_, err = f.Chart(t.Context(), source)
		refused(t, err, "no provenance either", "has no digest")
	}
	got, err = f.Chart(t.Context(), chartAt(bare, "db", "1.2.3", archive))
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	noted(t, got, "the chart has no provenance")
}

// TestProvenanceUnchecked and the cache: what was not checked is told; what was is checked again.
func TestProvenanceUnchecked(t *testing.T) {
	ada, keyring := signer(t)
	archive := chartOf(t, "db", "1.2.3")
	const name = "db-1.2.3.tgz"
	repo := repository.ServeCharts(t, map[string][]byte{name: archive, name + ".prov": provOf(t, ada, archive, name)})
	source, cache := chartAt(repo, "db", "1.2.3", archive), t.TempDir()
	got, err := newFetcher(t, fetch.Options{Cache: cache}).Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	noted(t, got, "not checked: no keyring")
	_, err = newFetcher(t, fetch.Options{Cache: cache, Keyring: keyring, Offline: true}).Chart(t.Context(), source)
	refused(t, err, "offline")
	if _, err = newFetcher(t, fetch.Options{Cache: cache, Keyring: keyring}).Chart(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	got, err = newFetcher(t, fetch.Options{Cache: cache, Keyring: keyring, Offline: true}).Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, true, fetch.ByDigest, fetch.ByProvenance)
}

func TestKeyring(t *testing.T) {
	_, err := fetch.New(fetch.Options{Keyring: filepath.Join(t.TempDir(), "none")})
	refused(t, err, "read the keyring", noFile(t))
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = fetch.New(fetch.Options{Keyring: empty})
	refused(t, err, "read the keyring")
}
