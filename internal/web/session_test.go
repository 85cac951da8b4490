package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	v := start(t, all())
	if len(v.token) != 43 { // 256 bits.
		t.Errorf("token of %d letters", len(v.token))
	}
	for _, wrong := range []string{"", v.token[1:], v.token + "A", secret()} {
		a := v.session(wrong)
		v.refused("token "+wrong, a, http.StatusUnauthorized)
		if a.header.Get("Set-Cookie") != "" {
			t.Errorf("token %s gives a cookie", wrong)
		}
	}
	v.refused("before", v.do(v.request("GET", "/api/check", "")), http.StatusUnauthorized)

	a := v.session(v.token)
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil || a.status != http.StatusNoContent {
		t.Fatalf("%d %v", a.status, err)
	}
	v.guarded("session", a.header)
	port := v.base[strings.LastIndex(v.base, ":")+1:]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Name != "sysop-"+port || c.MaxAge != 0 || !c.Expires.IsZero() || c.Value == v.token {
		t.Errorf("cookie %+v", c)
	}
	again := v.session(v.token)
	v.refused("used twice", again, http.StatusUnauthorized)
	if !strings.Contains(again.body, "opened before") || !strings.Contains(again.body, "start it again") || again.header.Get("Set-Cookie") != "" {
		t.Errorf("used twice: %s %v", again.body, again.header)
	}
	// The page that is known may open its address again, and is not cut off by a cookie of others.
	v.cookie = c
	if a := v.session(v.token); a.status != http.StatusNoContent || a.header.Get("Set-Cookie") != "" {
		t.Errorf("opened again: %d %v", a.status, a.header)
	}
	toss := header("Cookie", c.Name+"=x; "+c.Name+"="+c.Value)
	if a := v.do(v.request("GET", "/api/check", "", toss)); a.status != http.StatusOK {
		t.Errorf("with two cookies: %d", a.status)
	}
}

func TestWrongTokensAreBounded(t *testing.T) {
	v := start(t, all())
	for range mostWrong {
		v.refused("wrong", v.session("wrong"), http.StatusUnauthorized)
	}
	a := v.session("wrong")
	v.refused("too many", a, http.StatusTooManyRequests)
	if a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
	v.open() // The user is not kept out by them.
}
