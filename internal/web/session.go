package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"
)

// session is the one session of a server: its token, which is valid once, and the bearer that the
// page sends with each later request.
//
// It uses no cookie: a browser sends cookies to every port of 127.0.0.1, so that another user's
// server on another port would get it. The bearer is in the storage of the page's origin, which
// includes the port, and a browser adds it to no request by itself.
type session struct {
	token  string
	bearer string

	mu     sync.Mutex
	opened time.Time
	// Wrong tokens since since.
	since time.Time
	wrong int
}

// maxRejected limits the wrong tokens that are checked in a minute.
const maxRejected = 20

func newSession() *session {
	return &session{token: secret(), bearer: secret()}
}

// secret returns 256 random bits.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// same compares in constant time, even for different lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// known reports whether the request has the bearer.
func (s *session) known(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, bearer, ok := strings.Cut(values[0], " ")
	return ok && strings.EqualFold(scheme, "Bearer") && same(bearer, s.bearer)
}

// open exchanges the token for the bearer, once. A refusal says what to do.
//
// Wrong tokens are limited, right ones are not: an attacker with wrong ones cannot lock the user
// out.
func (s *session) open(token string) (bearer string, no *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !same(token, s.token) {
		if now.Sub(s.since) >= time.Minute {
			s.since, s.wrong = now, 0
		}
		if s.wrong++; s.wrong > maxRejected {
			return "", &refusal{http.StatusTooManyRequests, "too many wrong tokens: wait a minute, then open the address that kubectl sysop ui printed"}
		}
		return "", &refusal{http.StatusUnauthorized, "the token is wrong: open the whole address that kubectl sysop ui printed, including the part after #"}
	}
	if !s.opened.IsZero() {
		return "", &refusal{
			http.StatusUnauthorized,
			"this address was opened before, at " + s.opened.Format(time.TimeOnly) + ", and works once: continue in that tab, or end kubectl sysop ui with Ctrl-C and start it again for a new address. If it was not you who opened it, end it now",
		}
	}
	s.opened = now
	return s.bearer, nil
}
