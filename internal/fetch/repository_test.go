package fetch_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

func TestRepositoryChart(t *testing.T) {
	archive := chartOf(t, "db", "v1.2.3")
	repo := repository.ServeCharts(t, map[string][]byte{"db-v1.2.3.tgz": archive, "db-1.3.0.tgz": chartOf(t, "db", "1.3.0")})
	f := newFetcher(t, fetch.Options{})
	for _, version := range []string{"v1.2.3", "1.2.3"} {
		got, err := f.Chart(t.Context(), chartAt(repo, "db", version, archive))
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, archive, false, fetch.ByDigest)
		if got.Digest != fetch.Digest(archive) || got.From != repo+"/db-v1.2.3.tgz" || len(got.Notes) > 0 {
			t.Errorf("got %s from %s, notes %q", got.Digest, got.From, got.Notes)
		}
	}
	_, err := f.Chart(t.Context(), chartAt(repo, "db", "1.4.0", archive))
	refused(t, err, "no version 1.4.0 of db", "1.3.0, v1.2.3")
	_, err = f.Chart(t.Context(), chartAt(repo, "web", "1.4.0", archive))
	refused(t, err, "no chart web", "it has db")
	wrong := chartAt(repo, "db", "1.3.0", archive)
	_, err = f.Chart(t.Context(), wrong)
	refused(t, err, "wrong digest", "the catalog says "+wrong.Digest, "nothing was stored")
}

func TestUnverified(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	repo := repository.ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": archive})
	_, err := newFetcher(t, fetch.Options{}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", nil))
	refused(t, err, "has no digest", "allow unverified")
	got, err := newFetcher(t, fetch.Options{Unverified: true}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", nil))
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false)
	noted(t, got, "is unverified")
}

func TestSources(t *testing.T) {
	f := newFetcher(t, fetch.Options{})
	for name, source := range map[string]catalog.ChartSource{
		"exactly one of":   {Repository: "https://a", OCI: "oci://b/c"},
		"its name":         {Repository: "https://a.example"},
		"is not a digest":  {Repository: "https://a.example", Digest: "sha256:abc"},
		"is not supported": {Repository: "file:///etc", Name: "a", Version: "1.0.0", Digest: strings.Repeat("a", 64)},
		"has no host":      {Repository: "https:///x", Name: "a", Version: "1.0.0", Digest: strings.Repeat("a", 64)},
	} {
		_, err := f.Chart(t.Context(), source)
		refused(t, err, name)
	}
}

func TestIndex(t *testing.T) {
	bomb := "apiVersion: v1\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	entry := func(rest string) string { return "entries:\n  db:\n  - version: 1.2.3\n" + rest }
	for name, test := range map[string]struct{ index, want string }{
		"no yaml":         {"a: [", "read index.yaml"},
		"a page":          {"<html>not found</html>", "is this the address of a chart repository?"},
		"a list":          {"- a", "it is not a mapping"},
		"no entries":      {"apiVersion: v1", "it has no entries"},
		"a bomb":          {bomb + "entries: *j\n", "it has no entries"},
		"a bomb of them":  {bomb + "entries: {db: *j}\n", "are not a list"},
		"a bomb in it":    {bomb + "entries: {db: [*j]}\n", "is not a mapping"},
		"the chart twice": {"entries: {db: [], db: []}", "occurs twice"},
		"no urls":         {entry(""), "has no urls"},
		"an alias":        {"x: &x [a.tgz]\n" + entry("    urls: *x\n"), "has no urls"},
		"a bad digest":    {entry("    urls: [a.tgz]\n    digest: zz\n"), "is not a digest"},
		"a file":          {entry("    urls: ['file:///etc/passwd']\n"), `the scheme "file" is not supported`},
		"another scheme":  {entry("    urls: ['ftp://a.example/x']\n"), `the scheme "ftp" is not supported`},
		"a password":      {entry("    urls: ['http://me:secret@127.0.0.1/x']\n"), "which contains a password"},
		"two that differ": {entry("    urls: [a.tgz]\n  - version: v1.2.3\n    urls: [b.tgz]\n"), "twice, and they differ"},
		"control":         {"entries: {\"d\\e[31m\": []}", `has no chart db; it has "d\x1b[31m"`},
	} {
		t.Run(name, func(t *testing.T) {
			repo := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.index) })
			_, err := newFetcher(t, fetch.Options{Unverified: true}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", nil))
			refused(t, err, test.want)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestIndexWithoutEnd(t *testing.T) {
	line := []byte(strings.Repeat("# nothing\n", 10000))
	repo := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	_, err := newFetcher(t, fetch.Options{}).Chart(soon(t), chartAt(repo, "db", "1.2.3", []byte("x")))
	refused(t, err, "get index.yaml", "more than 33554432 bytes")
}

func TestIndexDigest(t *testing.T) {
	archive, other := chartOf(t, "db", "1.2.3"), chartOf(t, "db", "1.2.4")
	index := repository.Index(t, map[string][]byte{"db-1.2.3.tgz": archive})
	repo := repository.ServeCharts(t, map[string][]byte{"index.yaml": index, "db-1.2.3.tgz": other})
	_, err := newFetcher(t, fetch.Options{}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", other))
	refused(t, err, "the index of the repository says "+fetch.Digest(archive))
}

// TestIndexOnce has several ask at once, and counts.
func TestIndexOnce(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	index := repository.Index(t, map[string][]byte{"db-1.2.3.tgz": archive})
	var asked atomic.Int32
	repo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/charts/index.yaml":
			asked.Add(1)
			_, _ = w.Write(index)
		case "/charts/db-1.2.3.tgz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	})
	f := newFetcher(t, fetch.Options{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := f.Chart(t.Context(), chartAt(repo+"/charts/", "db", "1.2.3", archive)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if asked.Load() != 1 {
		t.Errorf("the index was fetched %d times", asked.Load())
	}
}

func TestCache(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	var asked atomic.Int32
	files := map[string][]byte{"/db-1.2.3.tgz": archive}
	files["/index.yaml"] = repository.Index(t, map[string][]byte{"db-1.2.3.tgz": archive})
	repo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if data, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(data)
			return
		}
		http.NotFound(w, r)
	})
	cache, source := t.TempDir(), chartAt(repo, "db", "1.2.3", archive)
	offline := newFetcher(t, fetch.Options{Cache: cache, Offline: true})
	_, err := offline.Chart(t.Context(), source)
	refused(t, err, "db 1.2.3", "index.yaml is not in the cache", "offline")
	if asked.Load() != 0 {
		t.Fatal("a request was made offline")
	}
	online := newFetcher(t, fetch.Options{Cache: cache})
	got, err := online.Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	before := asked.Load()
	if got, err = offline.Chart(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, true, fetch.ByDigest)
	if asked.Load() != before {
		t.Error("a request was made for what is in the cache")
	}
	kept, err := filepath.Glob(filepath.Join(cache, "sha256", "*"))
	if err != nil || len(kept) != 1 || "sha256:"+filepath.Base(kept[0]) != source.Digest {
		t.Fatalf("the cache has %q, %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = online.Chart(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	noted(t, got, "was damaged and is deleted")
	if got, err = offline.Chart(t.Context(), source); err != nil || !got.Cached {
		t.Errorf("not kept anew: %v", err)
	}
}

// TestCacheLink sees that a link in the cache is not followed, and that a cache that cannot be
// written to is told and does no harm.
func TestCacheLink(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	repo := repository.ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": archive})
	source, cache, elsewhere := chartAt(repo, "db", "1.2.3", archive), t.TempDir(), filepath.Join(t.TempDir(), "chart")
	name := filepath.Join(cache, "sha256", strings.TrimPrefix(source.Digest, "sha256:"))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(elsewhere, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, name); err != nil {
		t.Fatal(err)
	}
	got, err := newFetcher(t, fetch.Options{Cache: cache}).Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	noted(t, got, "not a regular file")
	if _, err := os.Stat(elsewhere); err != nil {
		t.Errorf("what the link led to is gone: %v", err)
	}
	got, err = newFetcher(t, fetch.Options{Cache: elsewhere}).Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	noted(t, got, "not cached")
}

func TestNothingKeptOfWhatIsWrong(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	repo := repository.ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": archive})
	cache := t.TempDir()
	_, err := newFetcher(t, fetch.Options{Cache: cache}).Chart(t.Context(), chartAt(repo, "db", "1.2.3", []byte("another")))
	refused(t, err, "wrong digest")
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("the cache has %v, %v", left, err)
	}
}
