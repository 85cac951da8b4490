package logs

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A log that ended although its container runs is opened again after so long, and twice
// as long each time that nothing comes of it.
const (
	soonest = time.Second
	latest  = 30 * time.Second
)

// tail follows one container, through all its instances.
type tail struct {
	f       *Follower
	cancel  context.CancelFunc
	changed chan struct{} // capacity 1: something happened to the container
	began   Options       // with which the first log is opened

	// Of the Follower alone: what was told. queued is set before run begins.
	waiting             map[string]bool
	lost                string
	queued, ended, over bool

	mu        sync.Mutex
	container Container
	gone      bool

	// Of run alone.
	read     string // the instance that was read last
	whole    bool   // and it was read to its end
	past     seenLines
	late     bool // it was told that it waits for its turn
	reported map[string]bool
	// refused is why the log may not be read. It is set before the Follower hears of it.
	refused error
}

// become takes the present state of the container.
func (t *tail) become(c Container) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Instance != t.container.Instance || c.Running != t.container.Running {
		t.signal()
	}
	t.container = c
}

// leave says that the container is gone. Its last lines may still be on their way.
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

// run reads each instance of the container as soon as there is one, until the container
// is gone. held says that it has its turn.
func (t *tail) run(ctx context.Context, held bool) {
	defer func() {
		if held {
			t.f.endTurn()
		}
	}()
	for wait := soonest; ctx.Err() == nil; {
		c, gone := t.state()
		over := c.Instance == "" || c.Instance == t.read && t.whole && !c.Running
		if gone && (over || !held) {
			return
		}
		if over {
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
			continue // Nothing has failed: it is over, or the next one is there.
		}
		t.sleep(ctx, wait)
		wait = min(2*wait, latest)
	}
}

// settle notes how far a log was read, and says whether it is to be opened again.
func (t *tail) settle(ctx context.Context, c Container, err error) bool {
	// What a server has not of a container that ended, it will not get.
	none := !c.Running && (apierrors.IsBadRequest(err) || apierrors.IsNotFound(err))
	t.read, t.whole = c.Instance, err == nil || none
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		t.fail(ctx, err)
		return false
	}
	t.tellOnce(c, err)
	return true
}

// fail hands over to the Follower that the log may not be read.
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

// sleep waits for so long, or for a change; without a limit where it is negative.
func (t *tail) sleep(ctx context.Context, limit time.Duration) {
	var over <-chan time.Time
	if limit >= 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
	case <-t.changed:
	case <-over:
	}
}

// tellOnce tells why a log broke off, each reason once.
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

// follow reads a log until it ends, and hands on what was not read before. There is an
// error where it broke off.
func (t *tail) follow(ctx context.Context, c Container) (lines int, err error) {
	o := Options{Follow: true}
	switch {
	case !t.past.last.IsZero():
		// Also of another instance: it may have been read before there was a word of it.
		o.SinceTime = t.past.last
	case t.read == "" || t.read == c.Instance:
		o = t.began
	}
	body, err := t.f.Open(ctx, c, o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }() // It was only read.
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
			continue // A part of a line: it comes whole when the log is opened again.
		}
		if t.past.fresh(line) {
			line.Container = c
			t.f.emit(line)
			lines++
		}
	}
}
