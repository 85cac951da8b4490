package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// openSession answers POST /api/session: {"token": ...} gives {"bearer": ...}.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request) {
	body, no := read(w, r, 4<<10)
	if no != nil {
		refuse(w, r, *no)
		return
	}
	// A page with the bearer has opened its address again, from the terminal or its history.
	if s.session.known(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var asked struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		refuse(w, r, refusal{http.StatusBadRequest, `expected {"token": "..."}`})
		return
	}
	bearer, no := s.session.open(asked.Token)
	if no != nil {
		if no.status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "60")
		}
		refuse(w, r, *no)
		return
	}
	if s.options.Opened != nil {
		s.options.Opened()
	}
	// The bearer is base64, which JSON needs not escape.
	write(w, r, http.StatusOK, "application/json", []byte(`{"bearer":"`+bearer+`"}`))
}

// question answers GET /api/NAME.
func (s *Server) question(q Question) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, func(ctx context.Context) (json.RawMessage, error) { return q.Answer(ctx, r.URL.Query()) })
	}
}

// post answers POST /api/NAME.
func (s *Server) post(p Post) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, no := read(w, r, maxBodyBytes)
		if no != nil {
			refuse(w, r, *no)
			return
		}
		if !json.Valid(body) {
			refuse(w, r, refusal{http.StatusBadRequest, "the body is not JSON"})
			return
		}
		s.answer(w, r, func(ctx context.Context) (json.RawMessage, error) { return p(ctx, body) })
	}
}

// read returns the body of a request, and ends its read deadline.
func read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d KiB", most>>10)}
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, "the body could not be read"}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if err := checkDepth(body); err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	return body, nil
}

// answer calls work in its turn, and writes the result. The context of work ends with the request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, work func(context.Context) (json.RawMessage, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), questionTime)
	defer cancel()
	leave, no := s.turn(ctx)
	if no != nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, r, *no)
		return
	}
	document, err := func() (json.RawMessage, error) {
		defer leave()
		return work(ctx)
	}()
	var bad *BadRequest
	switch {
	case errors.As(err, &bad):
		refuse(w, r, refusal{http.StatusBadRequest, err.Error()})
	case err != nil && ctx.Err() != nil:
		refuse(w, r, refusal{http.StatusGatewayTimeout, "it took longer than " + questionTime.String()})
	case err != nil:
		refuse(w, r, refusal{http.StatusBadGateway, err.Error()})
	case len(document) > maxResponseBytes:
		refuse(w, r, refusal{http.StatusBadGateway, fmt.Sprintf("the response has %d MiB, and the limit is %d: request less", len(document)>>20, maxResponseBytes>>20)})
	default:
		write(w, r, http.StatusOK, "application/json", document)
	}
}

// turn waits until fewer than maxConcurrent questions run.
func (s *Server) turn(ctx context.Context) (leave func(), no *refusal) {
	select {
	case s.queue <- struct{}{}:
	default:
		return nil, &refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d requests are already waiting", maxQueued)}
	}
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns; <-s.queue }, nil
	case <-ctx.Done():
		<-s.queue
		return nil, &refusal{http.StatusServiceUnavailable, "other requests take too long"}
	}
}

// refuse writes why a request is refused, in the common form of all errors.
func refuse(w http.ResponseWriter, r *http.Request, no refusal) {
	body, err := json.Marshal(map[string]string{"error": no.why})
	if err != nil {
		body = []byte(`{}`)
	}
	write(w, r, no.status, "application/json", body)
}

// asset returns a handler for an embedded file.
func asset(kind string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { write(w, r, http.StatusOK, kind, body) }
}

// write writes a response, gzipped if the request accepts that. Write errors are ignored: the
// client is gone.
func write(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Vary", "Accept-Encoding")
	if len(body) < 1<<10 || !takesGzip(r) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed := gzip.NewWriter(w)
	_, _ = packed.Write(body)
	_ = packed.Close()
}

func takesGzip(r *http.Request) bool {
	for way := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(way, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return weight == "" || strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != ""
		}
	}
	return false
}
