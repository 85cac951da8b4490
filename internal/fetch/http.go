package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const maxRedirects = 5

// pinned marks a context whose request is for content that a digest or a key decides about.
type pinned struct{}

func withPin(ctx context.Context, pin bool) context.Context {
	return context.WithValue(ctx, pinned{}, pin)
}

// pinnedAt has the address of such a request: a registry's client asks for tokens in the same
// context, and of these no digest says what has to come.
type pinnedAt struct{}

func isPinned(request *http.Request) bool {
	pin, _ := request.Context().Value(pinned{}).(bool)
	at, _ := request.Context().Value(pinnedAt{}).(string)
	return pin && at == request.URL.String()
}

// statusError is an answer of a server that is not the file.
type statusError struct {
	status  int
	excerpt string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
	if e.excerpt != "" {
		text += ": " + e.excerpt
	}
	return text
}

func isMissing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && (status.status == http.StatusNotFound || status.status == http.StatusGone)
}

// address parses the address of a file: http or https, with a host.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not an address; expected https://HOST/PATH")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: the scheme %q is not supported; use http or https", shown(u), u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%s: the address has no host", shown(u))
	}
	return u, nil
}

// get returns a file of at most so many bytes.
func (f *Fetcher) get(ctx context.Context, u *url.URL, most int64) ([]byte, error) {
	return f.receive(ctx, f.client, u, "", most)
}

func (f *Fetcher) receive(ctx context.Context, client httpDoer, u *url.URL, accept string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.options.Limits.Time)
	defer cancel()
	response, err := f.ask(ctx, client, http.MethodGet, u, accept)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if coding := response.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, fmt.Errorf("the server sends it in the encoding %q, which was not requested", coding)
	}
	if response.ContentLength > most {
		return nil, tooLarge(response.ContentLength, most)
	}
	data, err := bounded(response.Body, most)
	if err != nil && ctx.Err() != nil {
		err = f.late(ctx, err)
	}
	return data, err
}

// exists says whether there is such a file. What goes wrong is taken for no.
func (f *Fetcher) exists(ctx context.Context, u *url.URL) bool {
	ctx, cancel := context.WithTimeout(ctx, f.options.Limits.Time)
	defer cancel()
	response, err := f.ask(ctx, f.client, http.MethodHead, u, "")
	if err != nil {
		return false
	}
	return response.Body.Close() == nil
}

// httpDoer sends requests: an http.Client, or one that logs in to registries.
type httpDoer interface {
	Do(request *http.Request) (*http.Response, error)
}

func (f *Fetcher) ask(ctx context.Context, client httpDoer, method string, u *url.URL, accept string) (*http.Response, error) {
	if f.options.Offline {
		return nil, fmt.Errorf("%s is not in the cache, and cannot be fetched offline", shown(u))
	}
	ctx = context.WithValue(ctx, pinnedAt{}, u.String())
	request, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", f.options.UserAgent)
	request.Header.Set("Accept-Encoding", "identity")
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, f.late(ctx, safeError{err})
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	if u.User != nil || u.RawQuery != "" {
		return nil, &statusError{status: response.StatusCode} // A server may repeat what it was asked.
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxExcerpt+1))
	return nil, &statusError{status: response.StatusCode, excerpt: excerpt(body)}
}

// late says of an error whether our own bound of time made it.
func (f *Fetcher) late(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it took longer than %s: %w", f.options.Limits.Time, err)
	}
	return err
}

// redirect decides whether a redirect is followed; see Redirects.
func (f *Fetcher) redirect(to *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects, the last one from %s to %s", maxRedirects, shown(from.URL), shown(to.URL))
	}
	if to.URL.Scheme != "http" && to.URL.Scheme != "https" {
		return fmt.Errorf("redirect from %s to the scheme %q, which is not supported", shown(from.URL), to.URL.Scheme)
	}
	if from.URL.Scheme == "https" && to.URL.Scheme == "http" {
		return fmt.Errorf("redirect from https to http, from %s to %s: refused", shown(from.URL), shown(to.URL))
	}
	if strings.EqualFold(via[0].URL.Host, to.URL.Host) {
		return nil
	}
	to.Header.Del("Authorization")
	to.Header.Del("Cookie")
	if via[0].Method != http.MethodGet && via[0].Method != http.MethodHead {
		return fmt.Errorf("redirect of a %s from host %s to host %s: refused, since the request is for the first host only", via[0].Method, via[0].URL.Host, to.URL.Host)
	}
	if f.options.Redirects == Pinned && isPinned(via[0]) {
		return nil
	}
	return fmt.Errorf("redirect from host %s to host %s: refused, since no digest verifies the content; give the digest, or the address at %[2]s",
		via[0].URL.Host, to.URL.Host)
}

// encrypted refuses what a registry would have us ask without TLS: tokens and passwords
// go to wherever it says.
type encrypted struct {
	http.RoundTripper
	loopback bool
}

func (e encrypted) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme == "https" || e.loopback && isLoopback(request.URL.Hostname()) {
		return e.RoundTripper.RoundTrip(request)
	}
	return nil, fmt.Errorf("%s: a registry is reached over https only (plain http is allowed for loopback addresses)", shown(request.URL))
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// bounded reads at most so many bytes; more are an error.
func bounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("the connection was lost after %d bytes: %w", len(data), err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge(-1, most)
	}
	return data, nil
}

func tooLarge(size, most int64) error {
	if size < 0 {
		return fmt.Errorf("it has more than %d bytes, the limit", most)
	}
	return fmt.Errorf("it has %d bytes, and the limit is %d", size, most)
}

const maxExcerpt = 200

// excerpt is the beginning of what others wrote, so that it can be shown.
func excerpt(data []byte) string {
	text := strings.TrimSpace(string(data[:min(len(data), maxExcerpt)]))
	if text == "" {
		return ""
	}
	if len(data) > maxExcerpt {
		text += "..."
	}
	return strconv.QuoteToASCII(text)
}

// safeError is an error with words of others in it, shown so that they do nothing to a terminal,
// and without what an address in them may give away.
type safeError struct{ error }

func (e safeError) Error() string {
	text := withoutSecrets(e.error.Error())
	if quoted := strconv.QuoteToASCII(text); quoted != `"`+text+`"` {
		text = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	}
	return text
}

func (e safeError) Unwrap() error { return e.error }

// plain is a short word of others, quoted where it is not plain.
func plain(word string) string {
	if quoted := excerpt([]byte(word)); quoted != `"`+word+`"` {
		return quoted
	}
	return word
}
