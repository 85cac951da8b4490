package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

// session is the one session of a server: its token, which opens it once, and its cookie.
//
// A cookie knows no ports: what listens at another port of loopback, and gets the user's browser
// to visit it, is sent the cookie. Whoever may listen there as another user, and can get the
// user to open its address, is not kept out by anything that a cookie can say.
type session struct {
	name   string // of the cookie; with the port, so that two servers do not push out each other
	token  string
	cookie string

	mu     sync.Mutex
	opened time.Time
	// Wrong tokens since.
	since time.Time
	wrong int
}

// mostWrong is how many wrong tokens are answered in a minute.
const mostWrong = 20

func newSession(name string) *session {
	return &session{name: name, token: secret(), cookie: secret()}
}

// secret returns 256 bits that nobody can guess.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// same compares in a time that tells nothing, not even of lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// known tells whether the request comes from a page that has the cookie. Another server on
// loopback may have set one of the same name: any that is right will do.
func (s *session) known(r *http.Request) bool {
	for _, c := range r.CookiesNamed(s.name) {
		if same(c.Value, s.cookie) {
			return true
		}
	}
	return false
}

// open exchanges the token for the cookie, once. A refusal says how to go on.
//
// Wrong tokens are bounded, right ones are not: whoever sends wrong ones cannot keep the user out.
func (s *session) open(token string) (*http.Cookie, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !same(token, s.token) {
		if now.Sub(s.since) >= time.Minute {
			s.since, s.wrong = now, 0
		}
		if s.wrong++; s.wrong > mostWrong {
			return nil, &refusal{http.StatusTooManyRequests, "too many wrong tokens: wait a minute, then open the address that kubectl sysop ui printed"}
		}
		return nil, &refusal{http.StatusUnauthorized, "the token is wrong: open the whole address that kubectl sysop ui printed, with what is behind #"}
	}
	if !s.opened.IsZero() {
		return nil, &refusal{
			http.StatusUnauthorized,
			"this address was opened before, at " + s.opened.Format(time.TimeOnly) + ", and works once: go on in that browser, or end kubectl sysop ui with Ctrl-C and start it again for a new address. If it was not you who opened it, end it now",
		}
	}
	s.opened = now
	// Not Secure: the page is served over plain HTTP, which does not leave the machine, and not every
	// browser takes a Secure cookie there.
	return &http.Cookie{Name: s.name, Value: s.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}, nil
}
