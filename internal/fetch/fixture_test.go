package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// chartOf is the archive of a small chart.
func chartOf(t *testing.T, name, version string) []byte {
	t.Helper()
	return repository.Archive(t, name, map[string]string{
		"Chart.yaml":        fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n",
	})
}

// newFetcher is a fetcher that keeps to itself: no credentials of the machine.
func newFetcher(t *testing.T, options fetch.Options) *fetch.Fetcher {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	f, err := fetch.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// noFile is what the operating system says of a file that is not there.
func noFile(t *testing.T) string {
	t.Helper()
	_, err := os.Open(filepath.Join(t.TempDir(), "gone"))
	return errors.Unwrap(err).Error()
}

// refused asserts that something failed with all of the words, none of which is left to luck.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("it was taken; want an error with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error lacks %q:\n%v", word, err)
		}
	}
	for _, r := range err.Error() {
		if r < ' ' || r == 0x7f {
			t.Errorf("the error has the raw character %q: %q", r, err)
		}
	}
}

func mustBe(t *testing.T, artifact fetch.Artifact, data []byte, cached bool, verified ...string) {
	t.Helper()
	if !bytes.Equal(artifact.Data, data) || artifact.Cached != cached || !slices.Equal(artifact.Verified, verified) {
		t.Errorf("got %d bytes, cached %v, verified by %v; want %d, %v, %v", len(artifact.Data), artifact.Cached, artifact.Verified, len(data), cached, verified)
	}
}

func noted(t *testing.T, artifact fetch.Artifact, word string) {
	t.Helper()
	if !strings.Contains(strings.Join(artifact.Notes, "\n"), word) {
		t.Errorf("no note says %q: %q", word, artifact.Notes)
	}
}

// chartAt is the source of a chart in a repository.
func chartAt(repo, name, version string, archive []byte) catalog.ChartSource {
	source := catalog.ChartSource{Repository: repo, Name: name, Version: version}
	if archive != nil {
		source.Digest = fetch.Digest(archive)
	}
	return source
}

func otherHost(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return "http://localhost:" + u.Port()
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), timeout.Scaled(time.Minute))
	t.Cleanup(cancel)
	return ctx
}
