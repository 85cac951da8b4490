package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// rest.Request is not used here: it retries by itself (ten times, for as long as each response
// says), does not report whether there was a connection, and writes to stderr about a truncated
// body.

// answer is the body of a response, with its content type.
type answer struct {
	body        []byte
	contentType string
}

// bodies has the *bytes.Buffer of pages that were decoded.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// release gives the body back for the next response. Nothing may refer to it any more.
func (a answer) release() { bodies.Put(bytes.NewBuffer(a.body[:0])) }

// failure is a failed request, with how far it came.
type failure struct {
	err       error
	connected bool // a connection was established
	status    int  // of the response, if there was one
	after     time.Duration
}

// Limits of one request. A request with Retry-After is retried more often, but not for ever.
const (
	tries          = 4
	triesAsked     = 10
	requestTimeout = time.Minute
)

// ask sends a GET request with retries and returns the response. The error is a *ConnectError if
// the server is not reachable.
func (c *Cluster) ask(ctx context.Context, p string, query url.Values, accept string) (answer, error) {
	var waited time.Duration
	for try := 1; ; try++ {
		a, fail := c.send(ctx, p, query, accept)
		switch {
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case fail.err == nil:
			return a, nil
		}
		wait, again := fail.retryAfter(try)
		if !again || waited+wait > requestTimeout {
			return answer{}, c.final(fail)
		}
		waited += wait
		if err := c.pause(ctx, wait); err != nil {
			return answer{}, err
		}
	}
}

// retryAfter reports whether and when to retry: the server failed, is busy, or the connection was
// lost. A certificate, a credential or a timeout would fail again.
func (f failure) retryAfter(try int) (time.Duration, bool) {
	// 50, 100, 200 ms, plus or minus a half.
	wait := 50 * time.Millisecond << min(try-1, 5)
	wait = wait/2 + rand.N(wait)
	busy := f.status == http.StatusTooManyRequests || f.status >= http.StatusInternalServerError
	var dial *net.OpError
	var limit net.Error
	switch {
	case busy && f.after > 0:
		return f.after, try < triesAsked
	case busy:
		return wait, try < tries
	case f.status >= http.StatusMultipleChoices:
		return 0, false
	case errors.As(f.err, &limit) && limit.Timeout():
		return 0, false
	case !f.connected:
		return wait, try < tries && errors.As(f.err, &dial) && dial.Op == "dial"
	}
	return wait, try < tries
}

// final returns the error after the last attempt.
func (c *Cluster) final(f failure) error {
	if f.connected || f.status != 0 {
		return f.err
	}
	err := f.err
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return &ConnectError{Host: c.opts.Config.Host, Err: err}
}

// send sends a request once, and reads the response.
func (c *Cluster) send(ctx context.Context, p string, query url.Values, accept string) (answer, failure) {
	return wholeBody(c.begin(ctx, c.client, p, query, accept))
}

// wholeBody reads the response that begin returns.
func wholeBody(resp *http.Response, fail failure) (answer, failure) {
	if fail.err != nil {
		return answer{}, fail
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{contentType: resp.Header.Get("Content-Type")}
	var err error
	if protobuf(a) {
		buffer, _ := bodies.Get().(*bytes.Buffer)
		_, err = buffer.ReadFrom(resp.Body)
		a.body = buffer.Bytes()
	} else { // JSON may be of any size, as the metrics of all pods are: a buffer that doubles would take twice that.
		a.body, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		return answer{}, failure{connected: true, status: resp.StatusCode, err: fmt.Errorf("%w: %w", errTruncated, err)}
	}
	return a, failure{}
}

// stream sends a request once, and leaves the body to the caller. The timeout of the kubeconfig
// does not apply: a stream may last any time, and ends with ctx.
func (c *Cluster) stream(ctx context.Context, p string, query url.Values, accept string) (*http.Response, failure) {
	endless := *c.client
	endless.Timeout = 0
	return c.begin(ctx, &endless, p, query, accept)
}

// begin sends a GET request once. For an HTTP error the failure has the server's error.
func (c *Cluster) begin(ctx context.Context, client *http.Client, p string, query url.Values, accept string) (*http.Response, failure) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	u := *c.base
	u.Path = path.Join("/", u.Path, p)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, failure{err: err, connected: true}
	}
	req.Header.Set("Accept", accept)
	resp, err := client.Do(req)
	if err != nil {
		return nil, failure{err: err, connected: connected.Load()}
	}
	if resp.StatusCode == http.StatusOK {
		return resp, failure{}
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // a truncated body is enough for the error
	return nil, refusal(resp, body)
}

// retryAfter returns the delay that the server asks for. The header may also have a date;
// Kubernetes never sends one.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 1<<20)) * time.Second
}

// refusal returns the failure of a response: with the API server's own Status, or the text of a proxy.
func refusal(resp *http.Response, body []byte) failure {
	f := failure{connected: true, status: resp.StatusCode, after: retryAfter(resp.Header)}
	if o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil {
		if status, ok := o.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
			if status.Code == 0 {
				status.Code = int32(resp.StatusCode)
			}
			f.err = apierrors.FromObject(status)
			return f
		}
	}
	var text string
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		text = string(body[:min(len(body), 1<<10)])
	}
	f.err = apierrors.NewGenericServerResponse(resp.StatusCode, "get", schema.GroupResource{}, "", text, 0, true)
	return f
}

// pause waits.
func pause(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
