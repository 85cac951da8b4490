package fetch_test

import (
	"archive/tar"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// nothingIn asserts that a cache has no file.
func nothingIn(t *testing.T, cache string) {
	t.Helper()
	err := filepath.WalkDir(cache, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is kept of what was refused", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What is right by one thing and refused by another is not kept either.
func TestNothingKeptOfWhatIsRefused(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	_, keyring := signer(t)
	eve, _ := signer(t)
	const name = "db-1.2.3.tgz"
	repo := repository.ServeCharts(t, map[string][]byte{name: archive, name + ".prov": provOf(t, eve, archive, name)})
	host := repository.ServeOCI(t)
	repository.PushChart(t, host+"/charts/db:1.2.3", archive, nil)
	_, public := pair(t, "ecdsa")
	private, own := pair(t, "ed25519")
	files := tarOf(t, "entry", tar.Header{Name: "db.yaml"})
	signature, err := fetch.Sign(files, private)
	if err != nil {
		t.Fatal(err)
	}
	signed, _ := catalogueServer(t, files, signature)
	linked := tarOf(t, "", tar.Header{Name: "db.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	if signature, err = fetch.Sign(linked, private); err != nil {
		t.Fatal(err)
	}
	link, _ := catalogueServer(t, linked, signature)
	for what, ask := range map[string]func(cache string) error{
		"a chart of another signer": func(cache string) error {
			_, err := newFetcher(t, fetch.Options{Cache: cache, Keyring: keyring}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", archive))
			return err
		},
		"a chart of a registry that nobody signed": func(cache string) error {
			_, err := newFetcher(t, fetch.Options{Cache: cache, Keyring: keyring, PlainHTTP: true}).Chart(t.Context(), catalog.ChartSource{OCI: "oci://" + host + "/charts/db", Version: "1.2.3"})
			return err
		},
		"a chart of a registry as a catalog": func(cache string) error {
			_, _, err := newFetcher(t, fetch.Options{Cache: cache, Key: public, PlainHTTP: true}).Catalogue(t.Context(), "oci://"+host+"/charts/db:1.2.3")
			return err
		},
		"a catalog of another key": func(cache string) error {
			_, _, err := newFetcher(t, fetch.Options{Cache: cache, Key: public}).Catalogue(t.Context(), signed)
			return err
		},
		"a signed catalog with a link in it": func(cache string) error {
			_, _, err := newFetcher(t, fetch.Options{Cache: cache, Key: own}).Catalogue(t.Context(), link)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			cache := t.TempDir()
			if err := ask(cache); err == nil {
				t.Fatal("it was taken")
			}
			nothingIn(t, cache)
		})
	}
}

// Nodes of an index take a hundred times their text, so they are counted before it is parsed.
func TestIndexOfTooManyNodes(t *testing.T) {
	repo := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "entries:\n  db:\n", strings.Repeat("  -\n", 1_100_000))
	})
	_, err := newFetcher(t, fetch.Options{Unverified: true}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", nil))
	refused(t, err, "read index.yaml", "nodes (keys, values, items)")
}

// TestTokensAreNotRedirected has a registry whose token endpoint sends the login elsewhere: by
// GET with a password, by POST with a refresh token. The digest is known, which lets content
// come from elsewhere, and never tokens.
func TestTokensAreNotRedirected(t *testing.T) {
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came to another host", r.Method, r.URL.Path)
		_ = json.NewEncoder(w).Encode(map[string]string{"token": "x", "access_token": "x"})
	})
	var at string
	at = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			http.Redirect(w, r, otherHost(t, elsewhere)+"/token", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="x"`, at))
		w.WriteHeader(http.StatusUnauthorized)
	})
	for method, credential := range map[string]auth.Credential{
		"GET": {Username: "me", Password: "secret"}, "POST": {RefreshToken: "secret"},
	} {
		f := newFetcher(t, fetch.Options{PlainHTTP: true, Credentials: func(context.Context, string) (auth.Credential, error) { return credential, nil }})
		_, err := f.Chart(t.Context(), catalog.ChartSource{OCI: "oci://" + strings.TrimPrefix(at, "http://") + "/db", Digest: fetch.Digest(nil)})
		refused(t, err, "to host localhost:", "refused")
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the secret: %v", method, err)
		}
	}
}
