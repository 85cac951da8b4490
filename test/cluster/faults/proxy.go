// Package faults is a reverse proxy in front of an API server that makes it slow or broken on
// demand, and records the requests.
//
// The proxy has the credentials: every client of it acts as its user. It listens on loopback only,
// over TLS with HTTP/2, as an API server does.
package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
)

// Request is one request, as the proxy saw it.
type Request struct {
	Time   time.Time // when it came
	Method string
	Path   string
	Query  url.Values
	Accept string
	Agent  string // User-Agent header
	Status int    // of the answer; 0 while there is none
	Bytes  int64  // of the answer's body, so far
	Fault  bool   // a fault hit it
	Done   bool   // the answer is complete, or was cut
}

// Proxy passes requests on and injects faults. It is safe for concurrent use.
type Proxy struct {
	upstream http.Handler
	server   *http.Server
	dir      string
	quit     chan struct{} // closed by Close: ends what hangs

	mu       sync.Mutex
	faults   []*fault
	requests []*Request
}

type fault struct {
	Fault
	hits int
}

// NewProxy starts a proxy in front of the server, acting as target's user.
func NewProxy(target *rest.Config) (*Proxy, error) {
	upstream, err := passOn(target)
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	p := &Proxy{upstream: upstream, quit: make(chan struct{})}
	if err := p.listen(); err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	return p, nil
}

func passOn(target *rest.Config) (http.Handler, error) {
	server, _, err := rest.DefaultServerUrlFor(target)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(target)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Authorization") // always the proxy's user
		},
		Transport:     transport,
		FlushInterval: -1,                         // a watch must not be buffered
		ErrorLog:      log.New(io.Discard, "", 0), // it logs the cut connections
	}, nil
}

// listen serves on a port of its own, with an authority of its own.
func (p *Proxy) listen() (err error) {
	ca, err := pki.NewAuthority("proxy-ca")
	if err != nil {
		return err
	}
	pair, err := ca.Issue(pki.Subject{Name: "proxy", Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		return err
	}
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "sysop-proxy-"); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, os.RemoveAll(p.dir))
	}
	k := pki.Kubeconfig{Name: "proxy", Server: "https://" + l.Addr().String(), CA: ca.Cert, User: "proxy"}
	if err := k.WriteFile(p.Kubeconfig()); err != nil {
		return errors.Join(err, l.Close(), os.RemoveAll(p.dir))
	}
	p.server = &http.Server{
		Handler:   http.HandlerFunc(p.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	go func() { _ = p.server.ServeTLS(l, "", "") }() // it ends by Close
	return nil
}

// Kubeconfig is the file with which a client goes through the proxy. Close
// removes it.
func (p *Proxy) Kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// Inject adds a fault. A request is hit by the first fault that matches it and
// has hits left.
func (p *Proxy) Inject(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, &fault{Fault: f})
}

// Requests returns the requests since the start or the last Reset, in the order of arrival.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Request, 0, len(p.requests))
	for _, r := range p.requests {
		out = append(out, *r)
	}
	return out
}

// Reset drops all faults and all requests.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults, p.requests = nil, nil
}

// Close cuts all connections and removes the kubeconfig. It is called once.
func (p *Proxy) Close() error {
	close(p.quit)
	return errors.Join(p.server.Close(), os.RemoveAll(p.dir))
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	// An API server may answer before it has read the body, and then its client sends no more: to
	// forward it piece by piece would wait for that for ever.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	seen, effect := p.receive(r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-p.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	// Deferred, because a fault that cuts the connection panics.
	defer p.note(func() { seen.Done = true })
	w = &recorder{ResponseWriter: w, proxy: p, seen: seen}
	if effect == nil {
		p.upstream.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	effect(w, r.WithContext(ctx), p.upstream)
}

// receive records the request and returns the fault for it.
func (p *Proxy) receive(r *http.Request) (*Request, Effect) {
	seen := &Request{
		Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Accept: r.Header.Get("Accept"), Agent: r.UserAgent(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, seen)
	i := slices.IndexFunc(p.faults, func(f *fault) bool {
		return (f.Times == 0 || f.hits < f.Times) && (f.Match == nil || f.Match(r))
	})
	if i < 0 {
		return seen, nil
	}
	p.faults[i].hits++
	seen.Fault = true
	return seen, p.faults[i].Effect
}

func (p *Proxy) note(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// recorder records the response.
type recorder struct {
	http.ResponseWriter
	proxy *Proxy
	seen  *Request
}

func (w *recorder) WriteHeader(status int) {
	w.proxy.note(func() { w.seen.Status = status })
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.proxy.note(func() {
		w.seen.Bytes += int64(n)
		if w.seen.Status == 0 {
			w.seen.Status = http.StatusOK
		}
	})
	return n, err
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
