package regulate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The headers of a request. The signature is the HMAC-SHA256 of the timestamp (seconds since
// 1970), a full stop and the body; a receiver should refuse old timestamps.
const (
	signatureHeader = "X-Sysop-Signature" // sha256=HEX
	timestampHeader = "X-Sysop-Timestamp"
	onceHeader      = "Idempotency-Key"
)

// maxResponse limits how much of a response is read.
const maxResponse = 4 << 10

// Sign returns the signature of a request's body.
func Sign(key []byte, timestamp string, body []byte) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(timestamp + "."))
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

// post sends the request of an action. Delivery is at least once: after a kill or a lost
// response it is sent again with the same Idempotency-Key. Only 2xx is success; 429, 5xx and
// connection errors are retried until the timeout.
func (x *run) post(ctx context.Context, it *item, h *system.HTTP, timeout time.Duration) (string, error) {
	key, err := x.signingKey(ctx, h)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(x.newActionContext(it))
	if err != nil {
		return "", permanent("%w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// A request that got no connection was never sent.
	var reached atomic.Bool
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }})
	client := &http.Client{CheckRedirect: sameHost}
	defer client.CloseIdleConnections()
	var last error
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		status, retry, err := x.postOnce(bounded, client, h, key, body, it.op.ID)
		if err == nil {
			return postText(h) + ": " + status, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if bounded.Err() == nil || last == nil {
			last = err
		}
		if errors.As(err, new(*journal.PermanentError)) {
			return "", err
		}
		it.unsure = reached.Load() || it.resumed
		if !pause(bounded, max(wait, retry)) {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if !reached.Load() {
				return "", permanent("%s: nothing was sent: no connection within %s: %w", postText(h), timeout, last)
			}
			return "", permanent("%s: no valid response within %s: %w", postText(h), timeout, last)
		}
	}
}

func (x *run) postOnce(ctx context.Context, client *http.Client, h *system.HTTP, key, body []byte, onceKey string) (string, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return "", 0, permanent("%s: invalid URL", postText(h))
	}
	for k, v := range h.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(onceHeader, onceKey)
	stamp := strconv.FormatInt(x.Now().Unix(), 10)
	req.Header.Set(timestampHeader, stamp)
	if key != nil {
		req.Header.Set(signatureHeader, Sign(key, stamp, body))
	}
	res, err := client.Do(req)
	if err != nil {
		if errors.Is(err, errElsewhere) {
			return "", 0, permanent("%s: %w", postText(h), errElsewhere)
		}
		return "", 0, fmt.Errorf("%s: %w", postText(h), withoutURL(err))
	}
	// The response may contain secrets: only the code is reported.
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxResponse))
	_ = res.Body.Close()
	status := strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	if res.StatusCode/100 == 2 {
		return status, 0, nil
	}
	err = fmt.Errorf("%s: %s", postText(h), status)
	if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return "", time.Duration(seconds) * time.Second, err
	}
	return "", 0, permanent("%w", err)
}

// withoutURL returns the cause of a failed request without the URL that net/http prepends.
func withoutURL(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	return errors.New(field.HostsOnly(err.Error()))
}

var errElsewhere = errors.New("it redirects to a host that the manifest does not name; write the final URL")

// sameHost follows redirects only on the same host, which the signature is meant for, and none
// that turn the POST into a GET.
func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || req.Method != http.MethodPost {
		return errElsewhere
	}
	if len(via) > 5 {
		return errors.New("too many redirects")
	}
	return nil
}

// signingKey reads the key of the signature; nil if the manifest names none.
func (x *run) signingKey(ctx context.Context, h *system.HTTP) ([]byte, error) {
	if h.SecretEnv != "" {
		v := os.Getenv(h.SecretEnv)
		if v == "" {
			return nil, permanent("%s: the environment variable %s, which holds the signing key, is not set", postText(h), h.SecretEnv)
		}
		return []byte(v), nil
	}
	if h.SecretName == "" {
		return nil, nil
	}
	t := Target{APIVersion: "v1", Kind: "Secret", Resource: "secrets", Namespace: x.j.Namespace, Name: h.SecretName}
	img, err := x.readWithRetry(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("%s: read the signing key: %w", postText(h), err)
	}
	coded, ok, _ := unstructured.NestedString(img.main.Object, "data", h.SecretKey)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) == 0 {
		return nil, permanent("%s: %s has no key %s to sign with", postText(h), t, h.SecretKey)
	}
	return key, nil
}
