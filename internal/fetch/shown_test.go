package fetch_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func TestShown(t *testing.T) {
	digest := "#sha256:" + strings.Repeat("0", 64)
	for address, want := range map[string]string{
		"https://example.com/c.tar":                         "https://example.com/c.tar",
		"https://example.com/c.tar" + digest:                "https://example.com/c.tar" + digest,
		"https://me:secret@example.com/c.tar" + digest:      "example.com" + digest,
		"https://secret@example.com:8443/c.tar":             "example.com:8443",
		"https://example.com/c.tar?token=secret":            "example.com",
		"https://example.com/c.tar#token=secret":            "example.com",
		"oci://example.com/catalog:v1@sha256:" + digest[8:]: "oci://example.com/catalog:v1@sha256:" + digest[8:],
		"oci://me:secret@example.com/catalog":               "example.com",
		"https://me:secret@exam ple.com/%zz":                "(an address that cannot be read)",
		"catalog?secret.tar":                                "catalog?secret.tar", // a file
	} {
		if got := fetch.Shown(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestErrorsTellNoSecrets asks in each way that fails for what has a token or a password in its
// address. Errors have the host, and nothing of these; a server that repeats them helps nobody.
func TestErrorsTellNoSecrets(t *testing.T) {
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no "+r.URL.String()+" for "+r.Header.Get("Authorization"), http.StatusForbidden)
	})
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://other.example/x?token=hunter2", http.StatusFound)
	})
	gone := serve(t, http.NotFound)
	closed := "http://127.0.0.1:1"
	_, public := pair(t, "ed25519")
	for what, base := range map[string]string{"refused": echo, "redirected": moved, "missing": gone, "unreachable": closed} {
		host := strings.TrimPrefix(base, "http://")
		for _, address := range []string{"http://me:hunter2@" + host + "/c.tar", "http://hunter2@" + host + "/c.tar", base + "/c.tar?token=hunter2"} {
			for name, ask := range map[string]func() error{
				"catalog": func() error {
					_, _, err := newFetcher(t, fetch.Options{Unverified: true}).Catalogue(t.Context(), address)
					return err
				},
				"signed catalog": func() error {
					_, _, err := newFetcher(t, fetch.Options{Key: public}).Catalogue(t.Context(), address)
					return err
				},
				"chart": func() error {
					_, err := newFetcher(t, fetch.Options{Unverified: true}).Chart(t.Context(), catalog.ChartSource{Repository: address, Name: "db", Version: "1.0.0"})
					return err
				},
				"offline": func() error {
					_, _, err := newFetcher(t, fetch.Options{Unverified: true, Offline: true}).Catalogue(t.Context(), address)
					return err
				},
			} {
				err := ask()
				if err == nil {
					t.Errorf("%s, %s: no error", what, name)
					continue
				}
				if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("%s, %s of %s: %v", what, name, address, err)
				}
			}
		}
	}
	for _, address := range []string{"http://me:hunter2@[::1/c.tar", "ftp://me:hunter2@a.example/c.tar", "http://me:hunter2@/c.tar"} {
		_, _, err := newFetcher(t, fetch.Options{Unverified: true}).Catalogue(t.Context(), address)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
