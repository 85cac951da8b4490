package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// stream answers GET /api/stream with server-sent events, until either side ends it. A client that
// reconnects, with or without a Last-Event-ID, gets a whole UIState: its old one may be from
// another run, and the missed changes may be larger.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		refuse(w, r, refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d pages are open already: close one, and load this again", maxStreams)})
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(eventTime))
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if _, err := w.Write([]byte("retry: 1000\n\n")); err != nil || control.Flush() != nil {
		return
	}
	_ = s.feed.follow(r.Context(), func(e event) error {
		text, err := e.text()
		if err != nil {
			s.options.Log("event %s: %v", e.name, err)
			return err
		}
		// The deadline is for one event: a client that does not read is disconnected, and
		// reconnects.
		if err := control.SetWriteDeadline(time.Now().Add(eventTime)); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return control.Flush()
	})
}

func join(e event, data []byte) []byte {
	out := make([]byte, 0, len(data)+64)
	out = append(out, "event: "+e.name+"\nid: "+strconv.Itoa(e.number)+"\ndata: "...)
	out = append(out, data...)
	return append(out, "\n\n"...)
}
