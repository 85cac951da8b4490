package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// each calls check with every route that there is.
func (v *live) each(check func(path, method string)) {
	for path, to := range v.routes {
		check(path, to.method)
	}
	check("/api/nothing", "GET")
	check("/nothing", "GET")
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Del(name) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// refused fails where an answer is not the one, says nothing of why, or lets another origin read it.
func (v *live) refused(label string, a reply, status int) {
	v.t.Helper()
	if a.status != status {
		v.t.Errorf("%s: %d, not %d: %s", label, a.status, status, a.body)
	}
	var answer struct{ Error string }
	if err := json.Unmarshal([]byte(a.body), &answer); err != nil || answer.Error == "" {
		v.t.Errorf("%s: says %q", label, a.body)
	}
	v.guarded(label, a.header)
}

func (v *live) guarded(label string, h http.Header) {
	v.t.Helper()
	for name, value := range heads {
		if got := h.Values(name); !slices.Equal(got, []string{value}) {
			v.t.Errorf("%s: %s: %q", label, name, got)
		}
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			v.t.Errorf("%s: %s: %q", label, name, h[name])
		}
	}
}

// TestEveryRouteRefuses goes through what keeps others out, layer by layer, with a page that is
// known: no layer leans on another.
func TestEveryRouteRefuses(t *testing.T) {
	v := start(t, everything())
	v.open()
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	v.each(func(path, method string) {
		for _, name := range []string{
			"attacker.example", "attacker.example:" + port, "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.2:" + port,
			"127.0.0.1.nip.io:" + port, "localhost.:" + port, "LOCALHOST:" + port, "127.1:" + port, "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port, "user@127.0.0.1:" + port,
		} {
			v.refused(path+" host "+name, v.do(v.request(method, path, "", host(name))), http.StatusMisdirectedRequest)
		}
		// A name of an attacker's that means 127.0.0.1 makes both fit each other.
		v.refused(path+" rebound", v.do(v.request(method, path, "", host("attacker.example:"+port), header("Origin", "http://attacker.example:"+port))), http.StatusMisdirectedRequest)
		wrong := map[string]string{"GET": "POST", "POST": "GET"}[method]
		for _, m := range []string{wrong, "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"} {
			r := v.request(m, path, "", header("Origin", v.base))
			a := v.do(r)
			if strings.HasSuffix(path, "nothing") {
				continue
			}
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != method {
				t.Errorf("%s %s: %d, Allow %q", m, path, a.status, a.header.Get("Allow"))
			}
			v.guarded(m+" "+path, a.header)
		}
		if strings.HasSuffix(path, "nothing") {
			v.refused(path, v.do(v.request(method, path, "")), http.StatusNotFound)
			return
		}
		for _, query := range []string{"?x=1", "?ref=a&ref=b", "?ref=%zz", "?a;b"} {
			body := ""
			if method == "POST" {
				body = "{}"
			}
			v.refused(path+query, v.do(v.request(method, path+query, body)), http.StatusBadRequest)
		}
	})
}

func TestAPIRefusesOthers(t *testing.T) {
	v := start(t, everything())
	v.open()
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	v.each(func(path, method string) {
		if !strings.HasPrefix(path, "/api/") {
			return
		}
		for _, origin := range []string{"null", "", "http://attacker.example", "https://127.0.0.1:" + port, "http://127.0.0.1:1", "http://127.0.0.1", "http://localhost:" + port, v.base + "/", v.base + ".attacker.example"} {
			v.refused(path+" origin "+origin, v.do(v.request(method, path, "", header("Origin", origin))), http.StatusForbidden)
		}
		v.refused(path+" two origins", v.do(v.request(method, path, "", func(r *http.Request) { r.Header["Origin"] = []string{v.base, "null"} })), http.StatusForbidden)
		for _, site := range []string{"cross-site", "same-site", "anything"} {
			v.refused(path+" site "+site, v.do(v.request(method, path, "", header("Sec-Fetch-Site", site))), http.StatusForbidden)
		}
		// What asks before it asks.
		preflight := v.do(v.request("OPTIONS", path, "", header("Origin", "https://attacker.example"), header("Access-Control-Request-Method", "POST"), header("Access-Control-Request-Headers", "x-sysop, content-type, authorization")))
		v.refused(path+" preflight", preflight, http.StatusForbidden)
		if path != "/api/session" {
			for label, change := range map[string]func(*http.Request){
				"no bearer":      without("Authorization"),
				"another bearer": header("Authorization", "Bearer "+secret()),
				"empty bearer":   header("Authorization", "Bearer "),
				"no scheme":      header("Authorization", v.bearer),
				"another scheme": header("Authorization", "Basic "+v.bearer),
				"two bearers":    func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+v.bearer) },
				"the token":      header("Authorization", "Bearer "+v.token),
				// What a browser would send to every port of 127.0.0.1 lets nobody in.
				"a cookie alone": func(r *http.Request) {
					r.Header.Del("Authorization")
					r.Header.Set("Cookie", "sysop="+v.bearer+"; sysop-"+port+"="+v.bearer+"; Authorization=Bearer "+v.bearer)
				},
			} {
				v.refused(path+" "+label, v.do(v.request(method, path, "", change)), http.StatusUnauthorized)
			}
		}
		if method != "POST" {
			v.refused(path+" with a body", v.do(v.request(method, path, "{}")), map[bool]int{true: http.StatusNotFound, false: http.StatusBadRequest}[strings.HasSuffix(path, "nothing")])
			return
		}
		v.refused(path+" no origin", v.do(v.request(method, path, "{}", without("Origin"))), http.StatusForbidden)
		v.refused(path+" typed", v.do(v.request(method, path, "{}", header("Sec-Fetch-Site", "none"))), http.StatusForbidden)
		v.refused(path+" no X-Sysop", v.do(v.request(method, path, "{}", without("X-Sysop"))), http.StatusForbidden)
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "application/json;;"} {
			v.refused(path+" "+kind, v.do(v.request(method, path, "{}", header("Content-Type", kind))), http.StatusUnsupportedMediaType)
		}
		v.refused(path+" oversize", v.do(v.request(method, path, `"`+strings.Repeat("a", maxBodyBytes)+`"`)), http.StatusRequestEntityTooLarge)
		v.refused(path+" oversize, of no length", v.do(v.request(method, path, strings.Repeat(" ", maxBodyBytes+1), func(r *http.Request) { r.ContentLength = -1 })), http.StatusRequestEntityTooLarge)
	})
}

func TestNotJSON(t *testing.T) {
	v := start(t, everything())
	v.refused("session", v.do(v.request("POST", "/api/session", "token")), http.StatusBadRequest)
	v.open()
	v.refused("system", v.do(v.request("POST", "/api/system", "{")), http.StatusBadRequest)
}

func TestOfNoPath(t *testing.T) {
	v := start(t, everything())
	for request, status := range map[string]string{
		"OPTIONS * HTTP/1.1\r\nHost: attacker.example\r\n\r\n":                   "421",
		"GET http://attacker.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n":            "421",
		"GET / HTTP/1.0\r\n\r\n":                                                 "421",
		"CONNECT attacker.example:80 HTTP/1.1\r\nHost: HOST\r\n\r\n":             "421",
		"GET //api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                         "404",
		"GET /api/../api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                   "401",
		"GET /%61pi/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                        "401",
		"GET /app.js/../api/check HTTP/1.1\r\nHost: HOST\r\n\r\n":                "404",
		"GET /api/check HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n":            "400",
		"GET /api/check HTTP/1.1\r\nHost: HOST\r\nCookie: sysop\r\n\r\n":         "401",
		"GET /api/check HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer\r\n\r\n": "401",
	} {
		c, err := net.Dial("tcp", v.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, strings.ReplaceAll(request, "HOST", v.listener.Addr().String()))
		line, err := bufio.NewReader(c).ReadString('\n')
		_ = c.Close()
		if fields := strings.Fields(line); err != nil || len(fields) < 2 || fields[1] != status {
			t.Errorf("%q: %q, not %s (%v)", request, line, status, err)
		}
	}
}
