package metrics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

const (
	// maxBody bounds a response: far above what the pods of a cluster need.
	maxBody = 256 << 20
	// maxQueryURL is how long a query may be before it is posted: proxies refuse URLs
	// of 8 KiB.
	maxQueryURL = 4 << 10
)

// prometheus asks one server.
type prometheus struct {
	name    string
	api     *url.URL // up to /api/v1
	client  *http.Client
	timeout time.Duration
	// getOnly says that the server, or a proxy before it, refuses to be posted to.
	getOnly atomic.Bool
	wait    func(ctx context.Context, d time.Duration) error
}

// newPrometheus reads the URL of a server. No error repeats it: a password may be in it.
func newPrometheus(address string, o HistoryOptions) (*prometheus, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, errors.New("address of prometheus is not an http or https URL: write its URL (http://prometheus:9090, https://mimir.example.com/prometheus)")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("address of prometheus at %s has a query or a fragment: write it without", u.Host)
	}
	p := &prometheus{name: o.Name, api: u.JoinPath("api", "v1"), client: o.Client, timeout: cmp.Or(max(o.Timeout, 0), time.Minute), wait: pause}
	switch {
	case p.name != "":
	case u.User != nil: // a user name is a secret too
		p.name = u.Host
	default:
		p.name = u.String()
	}
	if p.client == nil { // What it is asked, and a password, is for no other host.
		p.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return p, nil
}

// send sends a request of the HTTP API, to a path below /api/v1. Long queries are posted, until
// that is refused: with GET they may pass all the same.
func (p *prometheus) send(ctx context.Context, path string, form url.Values) (status int, body []byte, err error) {
	if path == "query" && len(form.Encode()) > maxQueryURL && !p.getOnly.Load() {
		status, body, err := p.sendBy(ctx, http.MethodPost, path, form)
		if status != http.StatusForbidden && status != http.StatusMethodNotAllowed {
			return status, body, err
		}
		p.getOnly.Store(true)
	}
	return p.sendBy(ctx, http.MethodGet, path, form)
}

func (p *prometheus) sendBy(ctx context.Context, method, path string, form url.Values) (int, []byte, error) {
	to, body := p.api.JoinPath(path), ""
	if to.RawQuery = form.Encode(); method == http.MethodPost {
		body, to.RawQuery = to.RawQuery, ""
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.client.Do(req)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok { // its text repeats the whole query
			err = at.Err
		}
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case err != nil:
		return res.StatusCode, nil, fmt.Errorf("the response was cut off after %d bytes: %w", len(got), err)
	case len(got) > maxBody:
		return http.StatusUnprocessableEntity, []byte("the response is too large"), nil
	}
	return res.StatusCode, got, nil
}

// QueryError is what a server answered to a query that it did not carry out.
type QueryError struct {
	Status  int    // of HTTP
	Type    string // errorType of the API (execution, timeout, bad_data); may be empty
	Message string
	// Useless says that other queries would fail as well: no permission, no such server, or a
	// server that is not Prometheus.
	Useless bool
}

func (e *QueryError) Error() string {
	if e.Type == "" {
		return fmt.Sprintf("HTTP status %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("HTTP status %d, %s: %s", e.Status, e.Type, e.Message)
}

var largeForm = lazyregexp.New(`(?i)too many|too large|too long|exceed|max-samples|maximum|limit|timed? ?out|timeout|resource exhausted|not enough memory`)

// tooLarge says that a query over less time may pass. A proxy hides what a server
// said with status 422, and so does it.
func (e *QueryError) tooLarge() bool {
	switch {
	case e.Useless || e.Status == http.StatusTooManyRequests:
		return false
	case e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusRequestEntityTooLarge || e.Status == http.StatusGatewayTimeout || e.Type == "timeout":
		return true
	}
	return largeForm.MatchString(e.Message)
}

// transient says that the same query may pass a little later.
func (e *QueryError) transient() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.Type == ""
	}
	return false
}

// request sends a request of the API. One that did not get through is tried three times.
func (p *prometheus) request(ctx context.Context, path string, form url.Values) (*answer, error) {
	for try := 0; ; try++ {
		got, err := p.attempt(ctx, path, form)
		refused, isQuery := errors.AsType[*QueryError](err)
		retry := err != nil && (!isQuery || refused.transient()) && !errors.Is(err, context.DeadlineExceeded)
		if !retry || try == 2 || ctx.Err() != nil {
			return got, err
		}
		if err := p.wait(ctx, time.Duration(try+1)*200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (p *prometheus) attempt(ctx context.Context, path string, form url.Values) (*answer, error) {
	// The server is given the time first, so that it can say that it was too short.
	limited, cancel := context.WithTimeout(ctx, p.timeout+p.timeout/8)
	defer cancel()
	status, body, err := p.send(limited, path, form)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &QueryError{Status: http.StatusGatewayTimeout, Type: "timeout", Message: fmt.Sprintf("no answer within %s", p.timeout)}
	case err != nil:
		return nil, err
	}
	var got answer
	invalid := json.Unmarshal(body, &got) != nil
	switch {
	case !invalid && (got.Status == "error" || got.Status == metav1.StatusFailure):
		e := &QueryError{Status: status, Type: got.ErrorType, Message: cmp.Or(got.Error, got.Message)}
		e.Useless = slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, status)
		return nil, e
	case status != http.StatusOK:
		return nil, strange(status, body)
	case invalid:
		return nil, fmt.Errorf("read the response: it is not JSON, or cut off%s", excerpt(body))
	case got.Status != "success":
		return nil, fmt.Errorf("read the response: it is not a response of Prometheus' query API%s", excerpt(body))
	}
	return &got, nil
}

// strange explains an answer that is not of the API.
func strange(status int, body []byte) *QueryError {
	e := &QueryError{Status: status, Message: strings.TrimPrefix(excerpt(body), ": ")}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Useless, e.Message = true, "access is denied: "+e.Message
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Useless, e.Message = true, "it has no query API (is a path missing, such as /prometheus?): "+e.Message
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		e.Useless, e.Message = true, "the server redirects elsewhere, maybe to a page to log in: "+e.Message
	}
	return e
}

// excerpt is the head of a body, for an error.
func excerpt(body []byte) string {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return ": the body is empty"
	case body[0] == '<':
		return ": the body is a web page, maybe one to log in"
	case len(body) > 120:
		body = append(append([]byte{}, body[:120]...), "..."...)
	}
	return fmt.Sprintf(": %q", body)
}
