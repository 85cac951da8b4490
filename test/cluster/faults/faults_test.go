package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

const body = "0123456789"

// start puts a proxy, with a user's token, before a server that answers body
// to that user only.
func start(t *testing.T) (p *faults.Proxy, get func(ctx context.Context, path string) (*http.Response, string, error)) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	p, client, host := through(t, &rest.Config{Host: server.URL, BearerToken: "good", TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	return p, func(ctx context.Context, path string) (*http.Response, string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+path, nil)
		if err != nil {
			return nil, "", err
		}
		req.Header.Set("Accept", "x/y")
		req.Header.Set("Authorization", "Bearer the client's own")
		resp, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		return resp, string(b), err
	}
}

// through puts a proxy before a server.
func through(t *testing.T, server *rest.Config) (p *faults.Proxy, client *http.Client, host string) {
	t.Helper()
	p, err := faults.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if client, err = rest.HTTPClientFor(cfg); err != nil {
		t.Fatal(err)
	}
	return p, client, cfg.Host
}

func TestProxyPassesOnAndRecords(t *testing.T) {
	p, get := start(t)
	resp, b, err := get(t.Context(), "/api/v1/pods?limit=5")
	if err != nil || resp.StatusCode != http.StatusOK || b != body {
		t.Fatalf("answer %v %q %v", resp, b, err)
	}
	if resp.ProtoMajor != 2 {
		t.Errorf("protocol %s, want HTTP/2", resp.Proto)
	}
	r := p.Requests()
	if len(r) != 1 || r[0].Path != "/api/v1/pods" || r[0].Query.Get("limit") != "5" || r[0].Accept != "x/y" ||
		r[0].Status != http.StatusOK || r[0].Bytes != int64(len(body)) || r[0].Fault {
		t.Errorf("recorded %+v", r)
	}
	p.Reset()
	if r := p.Requests(); len(r) != 0 {
		t.Errorf("after reset: %+v", r)
	}
}

// A server that answers before it has read the body, as an API server does that forbids, keeps nobody
// waiting.
func TestProxyOfAnEarlyAnswer(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	_, client, host := through(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	large := strings.Repeat(body, 100_000)
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), timeout.Scaled(time.Minute))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, host+"/pods", strings.NewReader(large))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		cancel()
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusForbidden {
			t.Fatalf("answer %s, %v", resp.Status, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		effect faults.Effect
		code   int
		reason metav1.StatusReason
		later  string
	}{
		{faults.Forbidden(), 403, metav1.StatusReasonForbidden, ""},
		{faults.TooManyRequests(2 * time.Second), 429, metav1.StatusReasonTooManyRequests, "2"},
		{faults.Conflict(), 409, metav1.StatusReasonConflict, ""},
		{faults.InternalError(), 500, metav1.StatusReasonInternalError, ""},
		{faults.Expired(), 410, metav1.StatusReasonExpired, ""},
	} {
		p, get := start(t)
		p.Inject(faults.Fault{Match: faults.Path("/pods"), Times: 2, Effect: c.effect})
		if resp, _, err := get(t.Context(), "/nodes"); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%d: another path is hit: %v %v", c.code, resp, err)
		}
		for range 2 {
			resp, b, err := get(t.Context(), "/pods")
			if err != nil {
				t.Fatal(err)
			}
			var s metav1.Status
			if err := json.Unmarshal([]byte(b), &s); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != c.code || int(s.Code) != c.code || s.Reason != c.reason || resp.Header.Get("Retry-After") != c.later {
				t.Errorf("answer %v, status %+v, want %d %s", resp, s, c.code, c.reason)
			}
		}
		if resp, _, err := get(t.Context(), "/pods"); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%d: the third request is hit: %v %v", c.code, resp, err)
		}
	}
}

func TestContinues(t *testing.T) {
	p, get := start(t)
	p.Inject(faults.Fault{Match: faults.Continues, Effect: faults.Expired()})
	for path, want := range map[string]int{"/pods?limit=5": 200, "/pods?limit=5&continue=x": 410} {
		if resp, _, err := get(t.Context(), path); err != nil || resp.StatusCode != want {
			t.Errorf("%s: %v %v, want %d", path, resp, err, want)
		}
	}
}

func TestCut(t *testing.T) {
	p, get := start(t)
	p.Inject(faults.Fault{Times: 1, Effect: faults.Cut(4)})
	if _, b, err := get(t.Context(), "/"); err == nil || b != body[:4] {
		t.Errorf("body %q, error %v, want the first 4 bytes and an error", b, err)
	}
	p.Inject(faults.Fault{Times: 1, Effect: faults.Cut(int64(len(body)))})
	if _, b, err := get(t.Context(), "/"); err != nil || b != body {
		t.Errorf("body %q, error %v, want all of it", b, err)
	}
	if r := p.Requests(); r[0].Bytes != 4 || !r[0].Done || !r[0].Fault {
		t.Errorf("recorded %+v", r[0])
	}
}

func TestHangUntilTheClientLeaves(t *testing.T) {
	p, get := start(t)
	p.Inject(faults.Fault{Times: 1, Effect: faults.Hang()})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := get(ctx, "/")
		done <- err
	}()
	for len(p.Requests()) == 0 { // until it has arrived
		select {
		case err := <-done:
			t.Fatalf("answered: %v", err)
		default:
		}
	}
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancelled", err)
	}
}

func TestDelayPassesOn(t *testing.T) {
	p, get := start(t)
	p.Inject(faults.Fault{Effect: faults.Delay(time.Millisecond)})
	if _, b, err := get(t.Context(), "/"); err != nil || !strings.Contains(b, body) {
		t.Errorf("body %q, error %v", b, err)
	}
}

// A lost request has its effect, a dropped one has not: the client gets no response to either.
func TestLostAndDropped(t *testing.T) {
	arrived, told := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived++ }))
	t.Cleanup(server.Close)
	p, err := faults.NewProxy(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	post := func(path string) error {
		t.Helper()
		resp, err := client.Post(cfg.Host+path, "application/json", strings.NewReader("{}"))
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	then := func() { told++ }
	for _, c := range []struct {
		effect  faults.Effect
		arrives int
	}{{faults.Lost(then), 4}, {faults.Dropped(then), 3}} {
		p.Reset()
		arrived, told = 0, 0
		p.Inject(faults.Fault{Match: faults.Nth(2, faults.Writes), Effect: c.effect})
		for _, path := range []string{"/pods", "/pods?dryRun=All", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"} {
			if err := post(path); err != nil {
				t.Errorf("%s is hit: %v", path, err)
			}
		}
		if told != 0 {
			t.Error("the first write is hit, or what is none")
		}
		if err := post("/nodes"); err == nil || told != 1 {
			t.Errorf("error %v after the second write, told %d times; want an error, 1", err, told)
		}
		if arrived != c.arrives {
			t.Errorf("%d requests arrived, want %d", arrived, c.arrives)
		}
		if err := post("/nodes"); err != nil {
			t.Errorf("the third write is hit: %v", err)
		}
	}
}
