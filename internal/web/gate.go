package web

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/page"
)

// policy is the Content-Security-Policy: only what the server itself serves, and no eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// heads are the headers of every response, including refusals. Without CORS headers no other origin
// can read a response.
var heads = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), payment=(), serial=(), usb=()",
}

// assetTypes are the content types of assets.
var assetTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

const (
	api         = "/api/"
	sessionPath = api + "session"
)

// route is the handler of a path. Paths are exact: they are neither cleaned nor redirected.
type route struct {
	method string
	takes  []string // names of the query
	handle http.HandlerFunc
}

// table returns all routes.
func (s *Server) table() (map[string]route, error) {
	routes := map[string]route{
		"/":            {http.MethodGet, nil, asset("text/html; charset=utf-8", page.Shell())},
		sessionPath:    {http.MethodPost, nil, s.openSession},
		api + "stream": {http.MethodGet, nil, s.stream},
	}
	names, err := page.Live()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		body, err := page.Asset(name)
		if err != nil {
			return nil, err
		}
		routes["/"+name] = route{http.MethodGet, nil, asset(assetTypes[path.Ext(name)], body)}
	}
	for name, p := range s.options.Posts {
		routes[api+name] = route{http.MethodPost, nil, s.post(p)}
	}
	for _, q := range s.options.Questions {
		if _, ok := routes[api+q.Name]; ok {
			return nil, fmt.Errorf("two routes are named %s", q.Name)
		}
		routes[api+q.Name] = route{http.MethodGet, q.Takes, s.question(q)}
	}
	return routes, nil
}

// refusal is why a request is refused.
type refusal struct {
	status int
	why    string
}

// ServeHTTP answers a request, or refuses it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range heads {
		w.Header().Set(name, value)
	}
	// A deadline outlives its response on a connection that is reused.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	defer func() {
		if cause := recover(); cause != nil {
			// A half-written response cannot be replaced: net/http closes the connection then.
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			s.options.Log("%s %q: %v", r.Method, r.URL.Path, cause)
			refuse(w, r, refusal{http.StatusInternalServerError, "an error inside kubectl sysop ui: its terminal shows which"})
		}
	}()
	if no := s.outside(r); no != nil {
		refuse(w, r, *no)
		return
	}
	if strings.HasPrefix(r.URL.Path, api) && r.URL.Path != sessionPath {
		if !s.session.known(r) {
			refuse(w, r, refusal{http.StatusUnauthorized, "unknown page: open the address that kubectl sysop ui printed, or start it again for a new one"})
			return
		}
		defer s.idle.enter()()
	}
	to, ok := s.routes[r.URL.Path]
	if !ok {
		refuse(w, r, refusal{http.StatusNotFound, "not found: " + r.URL.Path})
		return
	}
	if r.Method != to.method {
		w.Header().Set("Allow", to.method)
		refuse(w, r, refusal{http.StatusMethodNotAllowed, "only " + to.method + " is supported there"})
		return
	}
	if no := asked(r, to); no != nil {
		refuse(w, r, *no)
		return
	}
	if r.Method == http.MethodGet {
		// It has no body, so the deadline can end with the header. Otherwise net/http would end the
		// request with it.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	to.handle(w, r)
}

// outside checks the Host and the origin of a request. An attacker's name that resolves to
// 127.0.0.1 comes with a matching Origin, so Origin is compared with the server's own names.
func (s *Server) outside(r *http.Request) *refusal {
	if !slices.Contains(s.hosts, r.Host) {
		return &refusal{http.StatusMisdirectedRequest, "this server is " + s.hosts[0] + " and has no other name"}
	}
	if !strings.HasPrefix(r.URL.Path, api) {
		return nil
	}
	writes := r.Method != http.MethodGet
	origins, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case len(origins) > 1, len(origins) == 1 && origins[0] != "http://"+r.Host:
		return &refusal{http.StatusForbidden, "cross-origin requests are refused"}
	case writes && len(origins) == 0:
		return &refusal{http.StatusForbidden, "only the page may send requests: the header Origin is missing"}
	case site != "" && site != "same-origin" && (site != "none" || writes):
		return &refusal{http.StatusForbidden, "cross-site requests are refused"}
	}
	return nil
}

// asked checks the content of a request: the query, and for a POST the headers that only the page's
// own script can send.
func asked(r *http.Request, to route) *refusal {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &refusal{http.StatusBadRequest, "the query is not valid"}
	}
	for name, values := range query {
		if !slices.Contains(to.takes, name) {
			return &refusal{http.StatusBadRequest, fmt.Sprintf("%s takes no %q", r.URL.Path, name)}
		}
		if len(values) > 1 {
			return &refusal{http.StatusBadRequest, fmt.Sprintf("there is more than one %q", name)}
		}
	}
	if r.Method == http.MethodGet {
		if r.ContentLength != 0 {
			return &refusal{http.StatusBadRequest, "a GET has no body"}
		}
		return nil
	}
	if r.Header.Get("X-Sysop") != "1" {
		return &refusal{http.StatusForbidden, "only the page may send requests: the header X-Sysop: 1 is missing"}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &refusal{http.StatusUnsupportedMediaType, "the content type must be application/json"}
	}
	return nil
}
