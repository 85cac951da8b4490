package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// stream answers GET /api/stream with server-sent events, until either side ends it. Whoever comes
// back, with a Last-Event-ID or without, gets a whole UIState again: what it has may be of another
// run, and what it missed may be more than a UIState.
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
		// The time is that of one event: who does not read is let go, and comes back.
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
