package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// queryFunc sends a request of the HTTP API, to a path below /api/v1, and returns the status
// and the body.
type queryFunc func(ctx context.Context, path string, form url.Values) (status int, body []byte, err error)

// postLong posts long queries, until the server or a proxy before it refuses that: with GET they
// may pass all the same.
func postLong(get, post queryFunc) queryFunc {
	var refused atomic.Bool
	return func(ctx context.Context, path string, form url.Values) (int, []byte, error) {
		if path == "query" && !refused.Load() && len(form.Encode()) > maxQueryURL {
			status, body, err := post(ctx, path, form)
			if status != http.StatusForbidden && status != http.StatusMethodNotAllowed {
				return status, body, err
			}
			refused.Store(true)
		}
		return get(ctx, path, form)
	}
}

const (
	// maxBody bounds a response: far above what the pods of a cluster need.
	maxBody = 256 << 20
	// maxQueryURL is how long a query may be before it is posted: proxies refuse URLs
	// of 8 KiB.
	maxQueryURL = 4 << 10
)

var (
	serviceForm = lazyregexp.New(`^(?:(https?):)?([a-z0-9-]+)/([a-z0-9-]+)(?::([a-z0-9-]+))?(/.*)?$`)
	targetForms = "write its URL (http://prometheus:9090, https://mimir.example.com/prometheus), " +
		"or a Service to be reached through the API server (svc:monitoring/prometheus-k8s:9090, svc:https:NAMESPACE/NAME:PORT)"
)

// parseTarget returns how to ask the server that text names, and the name of it for
// errors, without a password.
func parseTarget(text string, get GetFunc, o HistoryOptions) (queryFunc, string, error) {
	if rest, ok := strings.CutPrefix(text, "svc:"); ok {
		return serviceTarget(text, rest, get, o.Post)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		// The text is not repeated: a password may be in it.
		return nil, "", fmt.Errorf("address of prometheus is not an http or https URL: %s", targetForms)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, "", fmt.Errorf("address of prometheus at %s has a query or a fragment: write it without", u.Host)
	}
	name := u.String()
	if u.User != nil { // a user name is a secret too: the host alone
		name = u.Host
	}
	return directTarget(u, o.Client), name, nil
}

// serviceTarget reaches a Service through the proxy of the API server, which needs permission to
// get services/proxy there, and for long queries by POST to create it.
func serviceTarget(text, rest string, get, post GetFunc) (queryFunc, string, error) {
	m := serviceForm.FindStringSubmatch(rest)
	if m == nil {
		return nil, "", fmt.Errorf("address of prometheus %q: is not an svc:NAMESPACE/NAME[:PORT]: %s", text, targetForms)
	}
	if get == nil {
		return nil, "", fmt.Errorf("address of prometheus %q: there is no cluster to reach it through", text)
	}
	scheme, namespace, name, port, prefix := m[1], m[2], m[3], m[4], strings.TrimSuffix(m[5], "/")
	service := name
	if scheme != "" || port != "" {
		service += ":" + port
	}
	if scheme != "" {
		service = scheme + ":" + service
	}
	base := "/api/v1/namespaces/" + namespace + "/services/" + service + "/proxy" + prefix + "/api/v1/"
	if post == nil {
		return throughAPIServer(base, get), text, nil
	}
	return postLong(throughAPIServer(base, get), throughAPIServer(base, post)), text, nil
}

// throughAPIServer sends requests to the proxy of a Service.
func throughAPIServer(base string, send GetFunc) queryFunc {
	return func(ctx context.Context, path string, form url.Values) (int, []byte, error) {
		body, err := send(ctx, base+path, form)
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Code == 0 {
			return http.StatusOK, body, err
		}
		code := int(status.Status().Code)
		switch {
		case len(body) > 0: // of the Service
			return code, body, nil
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			return code, nil, err
		}
		return code, []byte(err.Error()), nil
	}
}

func directTarget(u *url.URL, client *http.Client) queryFunc {
	if client == nil {
		// Queries are posted, with a token: neither is for another host.
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		if plain, ok := http.DefaultTransport.(*http.Transport); ok {
			own := plain.Clone()
			own.MaxIdleConnsPerHost = parallel
			client.Transport = own
		}
	}
	at := *u
	at.User = nil
	base := at.JoinPath("api", "v1")
	send := func(method string) queryFunc { return direct(client, method, base, u.User) }
	return postLong(send(http.MethodGet), send(http.MethodPost))
}

func direct(client *http.Client, method string, base *url.URL, user *url.Userinfo) queryFunc {
	return func(ctx context.Context, path string, form url.Values) (int, []byte, error) {
		to, body := base.JoinPath(path), ""
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
		if user != nil {
			password, _ := user.Password()
			req.SetBasicAuth(user.Username(), password)
		}
		res, err := client.Do(req)
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

// prometheus asks one server.
type prometheus struct {
	name    string
	ask     queryFunc
	timeout time.Duration
	wait    func(ctx context.Context, d time.Duration) error
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
	status, body, err := p.ask(limited, path, form)
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
	case !invalid && got.Status == "error":
		e := &QueryError{Status: status, Type: got.ErrorType, Message: got.Error}
		e.Useless = status == http.StatusUnauthorized || status == http.StatusForbidden
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
