package logs

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A log that ended while its container runs is opened again after this time, and after twice as
// long each time that it delivers nothing.
const (
	soonest = time.Second
	latest  = 30 * time.Second
)

// tail follows one container through all its instances.
type tail struct {
	f       *Follower
	cancel  context.CancelFunc
	changed chan struct{} // capacity 1: the container changed
	began   Options       // for the first log

	// Used by the Follower only: what was reported. queued is set before run begins.
	waiting             map[string]bool
	lost                string
	queued, ended, over bool

	mu        sync.Mutex
	container Container
	gone      bool

	// Used by run only.
	read     string // the instance that was read last
	whole    bool   // it was read to its end
	past     seenLines
	late     bool // Queued was reported
	reported map[string]bool
	// refused is why the log may not be read. It is set before fail.
	refused error
}

// become sets the current state of the container.
func (t *tail) become(c Container) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Instance != t.container.Instance || c.Running != t.container.Running {
		t.signal()
	}
	t.container = c
}

// leave records that the container is gone. Its last lines may still arrive.
func (t *tail) leave() Container {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	t.signal()
	time.AfterFunc(grace, t.cancel)
	return t.container
}

func (t *tail) signal() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *tail) state() (c Container, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.container, t.gone
}

// run reads each instance of the container as soon as it exists, until the container is gone. held
// is set if the log may be opened at once.
func (t *tail) run(ctx context.Context, held bool) {
	defer func() {
		if held {
			t.f.endTurn()
		}
	}()
	for wait := soonest; ctx.Err() == nil; {
		c, gone := t.state()
		finished := c.Instance == "" || c.Instance == t.read && t.whole && !c.Running
		if gone && (finished || !held) {
			return
		}
		if finished {
			t.sleep(ctx, -1)
			continue
		}
		if held = held || t.turn(ctx); !held {
			return
		}
		lines, err := t.follow(ctx, c)
		t.f.endTurn()
		held = false
		if ctx.Err() != nil || !t.settle(ctx, c, err) {
			return
		}
		if lines > 0 {
			wait = soonest
		}
		if now, _ := t.state(); err == nil && (now.Instance != c.Instance || !now.Running) {
			continue // no failure: it has ended, or the next one exists
		}
		t.sleep(ctx, wait)
		wait = min(2*wait, latest)
	}
}

// settle records how far a log was read, and reports whether to open it again.
func (t *tail) settle(ctx context.Context, c Container, err error) bool {
	// A server that lacks the log of an ended container will not get it.
	none := !c.Running && (apierrors.IsBadRequest(err) || apierrors.IsNotFound(err))
	t.read, t.whole = c.Instance, err == nil || none
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		t.fail(ctx, err)
		return false
	}
	t.tellOnce(c, err)
	return true
}

// fail reports to the Follower that the log may not be read.
func (t *tail) fail(ctx context.Context, err error) {
	t.refused = err
	select {
	case t.f.failed <- t:
	case <-ctx.Done():
	}
}

// turn waits until the log may be opened.
func (t *tail) turn(ctx context.Context) bool {
	if t.f.tryTurn() {
		return true
	}
	if c, _ := t.state(); !t.queued && !t.late {
		t.late = true
		t.f.tell(Notice{Container: c, Event: Queued})
	}
	select {
	case t.f.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// sleep waits for a time, or for a change; without a limit if negative.
func (t *tail) sleep(ctx context.Context, limit time.Duration) {
	var timeout <-chan time.Time
	if limit >= 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-t.changed:
	case <-timeout:
	}
}

// tellOnce reports why a log broke off, each reason once.
func (t *tail) tellOnce(c Container, err error) {
	if err == nil || t.reported[err.Error()] {
		return
	}
	if t.reported == nil {
		t.reported = map[string]bool{}
	}
	t.reported[err.Error()] = true
	t.f.tell(Notice{Container: c, Event: Interrupted, Err: err})
}

// follow reads a log until it ends, and emits the new lines. It returns an error if the log broke
// off.
func (t *tail) follow(ctx context.Context, c Container) (lines int, err error) {
	o := Options{Follow: true}
	switch {
	case !t.past.last.IsZero():
		// Also for another instance: it may have been read before it was reported.
		o.SinceTime = t.past.last
	case t.read == "" || t.read == c.Instance:
		o = t.began
	}
	body, err := t.f.Open(ctx, c, o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }() // read only
	t.past.restart()
	for r := newLineReader(body); ; {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		if !whole && !errors.Is(r.end, io.EOF) {
			continue // a part of a line: it is complete when the log is opened again
		}
		if t.past.fresh(line) {
			line.Container = c
			t.f.emit(line)
			lines++
		}
	}
}
