package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// PageOptions configure ServePage.
type PageOptions struct {
	Port int // at 127.0.0.1; 0 for any that is free
	Idle time.Duration
	// Open hands the address to the user's browser.
	Open bool
	// Ready is given the address once the page can be opened.
	Ready func(url string, at *net.TCPAddr) error
}

// ServePage connects a page, serves it on this machine, and follows its cluster until ctx ends or no
// page was open for a while.
func ServePage(ctx context.Context, a *API, o PageOptions) error {
	v := a.Page
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	if err := v.Open(ctx); err != nil {
		return err
	}
	first, err := v.Observe(ctx)
	if err != nil {
		return err
	}
	v.Session.ReportGaps(v.Last.Graph)
	l, err := listen(ctx, o.Port)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // where Serve has not
	var file entrance
	defer file.remove()
	server, err := New(l, Options{Questions: a.Questions(), Posts: a.Posts(), Idle: o.Idle, Opened: file.remove, Log: func(format string, args ...any) {
		v.Input.Report.Warn(fmt.Sprintf(format, args...))
	}})
	if err != nil {
		return err
	}
	server.Publish(first)
	if err := o.Ready(server.Address(), l.Addr().(*net.TCPAddr)); err != nil {
		return err
	}
	if o.Open {
		if err := file.open(server.Address()); err != nil {
			v.Input.Report.Warn(fmt.Sprintf("no browser could be opened: %s: open the address yourself", err))
		}
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow(ctx, v, server)
	}()
	err = server.Serve(ctx)
	stop()
	<-followed
	if errors.Is(err, errIdle) {
		v.Input.Report.Note(fmt.Sprintf("the page was not open for %s: the server stops", o.Idle))
		return nil
	}
	return err
}

// listen listens at a port of this machine alone.
func listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		// What is left of it is not said twice.
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return nil, hint.With(fmt.Errorf("listen at 127.0.0.1:%d: %w", port, err), "choose another --port, or leave it out for any that is free")
	}
	return l, nil
}

// viewer shows the observations of a page.
type viewer interface {
	Publish(*uistate.State)
	Stale(reason string)
}

// follow observes again after a change, or after app.Ripening, until ctx ends. It reports failures
// to the viewer, and retries.
func follow(ctx context.Context, v *app.Page, to viewer) {
	if v.Live == nil {
		return
	}
	notices := &app.WatchNotices{Report: v.Input.Report, Live: v.Live, Said: v.Last.Graph.Gaps()}
	for notices.Await(ctx) {
		p, err := v.Observe(ctx)
		if ctx.Err() != nil {
			return
		}
		notices.Failure(err)
		down := notices.Trouble()
		switch {
		case err != nil:
			to.Stale(err.Error())
		case len(down) > 0:
			to.Publish(p)
			to.Stale(app.Unwatched(down))
		default:
			notices.Gaps(v.Last.Graph.Gaps())
			to.Publish(p)
			to.Stale("")
		}
	}
}
