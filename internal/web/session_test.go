package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func TestToken(t *testing.T) {
	v := start(t, everything())
	if len(v.token) != 43 { // 256 bits.
		t.Errorf("token of %d letters", len(v.token))
	}
	for _, wrong := range []string{"", v.token[1:], v.token + "A", secret()} {
		a := v.session(wrong)
		v.refused("token "+wrong, a, http.StatusUnauthorized)
		if strings.Contains(a.body, "bearer") {
			t.Errorf("token %s gives a bearer: %s", wrong, a.body)
		}
	}
	v.refused("before", v.do(v.request("GET", "/api/check", "")), http.StatusUnauthorized)

	v.open()
	if v.bearer == v.token {
		t.Error("the bearer is the token")
	}
	bearer := v.bearer
	v.bearer = ""
	again := v.session(v.token)
	v.refused("used twice", again, http.StatusUnauthorized)
	if !strings.Contains(again.body, "opened before") || !strings.Contains(again.body, "start it again") || strings.Contains(again.body, bearer) {
		t.Errorf("used twice: %s", again.body)
	}
	// The page that is known may open its address again.
	v.bearer = bearer
	if a := v.session(v.token); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("opened again: %d %s", a.status, a.body)
	}
}

// TestNoCookie has that nothing is ever kept in a cookie: a browser would send it to whoever
// listens at another port of 127.0.0.1.
func TestNoCookie(t *testing.T) {
	v := start(t, everything())
	v.open()
	v.each(func(path, method string) {
		if path == "/api/stream" {
			return
		}
		if a := v.do(v.request(method, path, map[string]string{"POST": "{}"}[method])); a.header.Values("Set-Cookie") != nil {
			t.Errorf("%s sets a cookie: %q", path, a.header.Values("Set-Cookie"))
		}
	})
	v.Publish(&view.UIState{})
	res, err := v.client.Do(v.request("GET", "/api/stream", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Values("Set-Cookie") != nil {
		t.Errorf("the stream: %d %v", res.StatusCode, res.Header)
	}
}

func TestOpened(t *testing.T) {
	o, times := everything(), make(chan bool, 4)
	o.Opened = func() { times <- true }
	v := start(t, o)
	v.session("wrong")
	if len(times) != 0 {
		t.Error("a wrong token counts as opened")
	}
	v.open()
	v.session(v.token)
	if len(times) != 1 {
		t.Errorf("opened %d times", len(times))
	}
}

func TestWrongTokensAreBounded(t *testing.T) {
	v := start(t, everything())
	for range maxRejected {
		v.refused("wrong", v.session("wrong"), http.StatusUnauthorized)
	}
	a := v.session("wrong")
	v.refused("too many", a, http.StatusTooManyRequests)
	if a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
	v.open() // The user is not kept out by them.
}
