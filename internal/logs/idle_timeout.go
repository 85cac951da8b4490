package logs

import (
	"context"
	"fmt"
	"io"
	"time"
)

// silence is the cause of a context that ended without data.
type silence struct{ after time.Duration }

func (s *silence) Error() string { return fmt.Sprintf("no answer within %s", s.after) }

// openPatiently opens a log and cancels it if neither opening nor reading returns data within a
// time: the node may be down, and proxies wait for it for minutes.
func openPatiently(ctx context.Context, patience time.Duration, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &idleTimeoutReader{ctx: ctx, cancel: cancel, timeout: patience}
	p.timer = time.AfterFunc(patience, func() { cancel(&silence{patience}) })
	var err error
	p.body, err = open(ctx)
	p.timer.Stop()
	if err != nil {
		err = p.cause(err)
		cancel(nil)
		return nil, err
	}
	return p, nil
}

type idleTimeoutReader struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout time.Duration
	timer   *time.Timer
	body    io.ReadCloser
}

// Read counts the time only during a read: a log may stay unread for a while.
func (p *idleTimeoutReader) Read(b []byte) (int, error) {
	p.timer.Reset(p.timeout)
	n, err := p.body.Read(b)
	p.timer.Stop()
	if err != nil {
		err = p.cause(err)
	}
	return n, err
}

func (p *idleTimeoutReader) Close() error {
	p.timer.Stop()
	err := p.body.Close()
	p.cancel(nil)
	return err
}

func (p *idleTimeoutReader) cause(err error) error {
	if quiet, ok := context.Cause(p.ctx).(*silence); ok { //nolint:errorlint // the cause is the very value, never wrapped
		return quiet
	}
	return err
}
