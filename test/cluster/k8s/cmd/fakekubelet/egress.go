package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// egress is the proxy by which the API server reaches the cluster.
type egress struct {
	// routes is a directory with a file for each HOST:PORT that is dialled at another port of loopback: the
	// number in it.
	routes string
}

// serve serves HTTP CONNECT on a unix socket until ctx ends.
func (e egress) serve(ctx context.Context, socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old egress socket: %w", err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen on the egress socket: %w", err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(e.connect)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve egress: %w", err)
	}
	return nil
}

// connect joins the client with the asked port on loopback, or the one of its route.
func (e egress) connect(w http.ResponseWriter, r *http.Request) {
	_, port, err := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || err != nil {
		http.Error(w, "CONNECT host:port only", http.StatusBadRequest)
		return
	}
	if route, err := os.ReadFile(filepath.Join(e.routes, filepath.Base(r.Host))); err == nil {
		port = strings.TrimSpace(string(route))
	}
	up, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = up.Close() }()
	down, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = down.Close() }()
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(up, rw) // ends when either side closes
		_ = up.Close()
	}()
	_, _ = io.Copy(down, up)
}
