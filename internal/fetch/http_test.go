package fetch_test

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func TestFile(t *testing.T) {
	data := []byte("kind: ConfigMap\n")
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "sysop-test" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("headers: %v", r.Header)
		}
		_, _ = w.Write(data)
	})
	f := newFetcher(t, fetch.Options{UserAgent: "sysop-test"})
	digest := fetch.Digest(data)
	got, err := f.Manifests(t.Context(), []catalog.ManifestSource{{URL: at, SHA256: strings.TrimPrefix(digest, "sha256:")}, {URL: at, SHA256: digest}})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	mustBe(t, got[0], data, false, fetch.ByDigest)
	_, err = f.Manifests(t.Context(), []catalog.ManifestSource{{URL: at, Path: "a"}})
	refused(t, err, "exactly one of url and path")
	_, err = f.File(t.Context(), at, "")
	refused(t, err, "has no digest")
}

// TestAnswers has every trick of a server that is not in the content.
func TestAnswers(t *testing.T) {
	limits := fetch.Limits{Bytes: 1000, Time: 10 * time.Second}
	var bomb bytes.Buffer
	zipped := gzip.NewWriter(&bomb)
	_, _ = zipped.Write(make([]byte, 1<<20))
	_ = zipped.Close()
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprint(conn, text)
			_ = conn.Close()
		}
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"too large, told": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1001")
			_, _ = w.Write(make([]byte, 1001))
		}, []string{"it has 1001 bytes", "the limit is 1000"}},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 512)); err != nil {
					return
				}
			}
		}, []string{"more than 1000 bytes"}},
		"told to be longer": {raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nshort"), []string{"lost after 5 bytes"}},
		"told to be shorter": {
			raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger"),
			[]string{"wrong digest", "(2 bytes)"},
		},
		"a negative length": {raw("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nlonger"), []string{"Content-Length"}},
		"two lengths":       {raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\nlonger"), []string{"Content-Length"}},
		"endless headers":   {raw("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n"), []string{"header"}},
		"a bomb of an encoding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, []string{`encoding "gzip"`, "not requested"}},
		"an error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprint(w, "\x1b[2Jno "+strings.Repeat("x", 5000))
		}, []string{"418", `\x1b[2Jno xxx`, "..."}},
		"a part": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) }, []string{"206"}},
		"none":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, []string{"204"}},
	} {
		t.Run(name, func(t *testing.T) {
			at := serve(t, test.answer)
			_, err := newFetcher(t, fetch.Options{Limits: limits}).File(soon(t), at, fetch.Digest([]byte("what is wanted")))
			refused(t, err, append(test.want, at)...)
			if len(err.Error()) > 700 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestTrickle has a server that never ends, slowly: our bound of time ends it.
func TestTrickle(t *testing.T) {
	for _, body := range []bool{false, true} {
		at := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if body {
				_, _ = w.Write([]byte("a"))
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})
		_, err := newFetcher(t, fetch.Options{Limits: fetch.Limits{Time: 20 * time.Millisecond}}).File(soon(t), at, fetch.Digest(nil))
		refused(t, err, "longer than 20ms")
	}
}

func TestRedirects(t *testing.T) {
	data := []byte("content")
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" && strings.Contains(r.Header.Get("Referer"), "secret") {
			t.Errorf("credentials came along: %v", r.Header)
		}
		_, _ = w.Write(data)
	})
	var at string
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			_, _ = w.Write(data)
		case "/same":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.Redirect(w, r, otherHost(t, target), http.StatusFound)
		}
	}
	at = serve(t, handler)
	digest, host := fetch.Digest(data), strings.TrimPrefix(at, "http://")
	pinned, loose := newFetcher(t, fetch.Options{}), newFetcher(t, fetch.Options{Unverified: true})
	strict := newFetcher(t, fetch.Options{Redirects: fetch.SameHost})
	for _, path := range []string{"/same", "/other"} {
		got, err := pinned.File(t.Context(), strings.Replace(at, "http://", "http://me:secret@", 1)+path, digest)
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, data, false, fetch.ByDigest)
		if strings.Contains(got.From, "secret") {
			t.Errorf("it tells the password: %s", got.From)
		}
	}
	// Where nothing says what has to come, it may come from anywhere: that was accepted.
	if got, err := loose.File(t.Context(), at+"/other", ""); err != nil || !bytes.Equal(got.Data, data) || len(got.Verified) > 0 {
		t.Errorf("%v, verified by %v", err, got.Verified)
	}
	_, err := newFetcher(t, fetch.Options{Unverified: true, Redirects: fetch.SameHost}).File(t.Context(), at+"/other", "")
	refused(t, err, "from host "+host, "to host localhost:", "refused")
	_, err = strict.File(t.Context(), at+"/other", digest)
	refused(t, err, "from host "+host, "to host localhost:", "refused")
	if _, err := loose.File(t.Context(), at+"/same", ""); err != nil {
		t.Error(err)
	}
	_, err = pinned.File(t.Context(), at+"/loop", digest)
	refused(t, err, "more than 5 redirects", at+"/loop")
	_, err = pinned.File(t.Context(), at+"/file", digest)
	refused(t, err, `the scheme "file"`)
}

func TestTLS(t *testing.T) {
	data := []byte("content")
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, plain, http.StatusFound)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	digest := fetch.Digest(data)
	f := newFetcher(t, fetch.Options{CA: authority})
	if _, err := f.File(t.Context(), server.URL, digest); err != nil {
		t.Error(err)
	}
	_, err := f.File(t.Context(), server.URL+"/down", digest)
	refused(t, err, "from https to http")
	server.Config.ErrorLog = nil
	_, err = newFetcher(t, fetch.Options{}).File(t.Context(), server.URL, digest)
	refused(t, err, "certificate")
	_, err = fetch.New(fetch.Options{CA: []byte("none")})
	refused(t, err, "no PEM certificate")
	_, err = fetch.New(fetch.Options{CA: authority, Transport: http.DefaultTransport})
	refused(t, err, "in the given transport")
	_, err = fetch.New(fetch.Options{Redirects: "all"})
	refused(t, err, `unknown policy "all"`)
}

func TestIPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0") // a machine without IPv6
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "content")
	})}}
	server.Start()
	t.Cleanup(server.Close)
	if _, err := newFetcher(t, fetch.Options{}).File(t.Context(), "http://"+listener.Addr().String()+"/x", fetch.Digest([]byte("content"))); err != nil {
		t.Error(err)
	}
}

func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = newFetcher(t, fetch.Options{}).File(t.Context(), at, fetch.Digest(nil))
	refused(t, err, at, "refused")
	if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Errorf("the cause is lost: %v", err)
	}
}

// TestProxy runs this test in a process of its own: the proxy is read from the environment once.
func TestProxy(t *testing.T) {
	const address = "http://charts.example.com/file"
	if os.Getenv("SYSOP_TEST_PROXY") != "" {
		got, err := newFetcher(t, fetch.Options{}).File(t.Context(), address, fetch.Digest([]byte("by proxy")))
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, []byte("by proxy"), false, fetch.ByDigest)
		return
	}
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != address {
			http.Error(w, "asked for "+r.URL.String(), http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "by proxy")
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(soon(t), self, "-test.run=^TestProxy$", "-test.v")
	child.Env = append(os.Environ(), "SYSOP_TEST_PROXY=1", "HTTP_PROXY="+proxy, "http_proxy="+proxy, "NO_PROXY=", "no_proxy=")
	out, err := child.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestProxy")) {
		t.Errorf("%v\n%s", err, out)
	}
}
