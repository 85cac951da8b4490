package web

import (
	"sync"
	"time"
)

// idle tells when nobody asked for a long time, and no page was open.
type idle struct {
	after time.Duration // 0 is never
	over  chan struct{}

	mu    sync.Mutex
	busy  int
	timer *time.Timer
}

func newIdle(after time.Duration) *idle {
	return &idle{after: after, over: make(chan struct{})}
}

// start begins to count.
func (i *idle) start() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.after > 0 && i.busy == 0 {
		i.timer = time.AfterFunc(i.after, i.end)
	}
}

func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	// Somebody may have come while the timer fired.
	if i.timer != nil && i.busy == 0 {
		i.timer = nil
		close(i.over)
	}
}

// stop ends the counting for good.
func (i *idle) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}

// enter says that somebody is there until leave is called.
func (i *idle) enter() (leave func()) {
	i.count(1)
	return func() { i.count(-1) }
}

func (i *idle) count(by int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy += by
	if i.timer == nil {
		return
	}
	if i.timer.Stop(); i.busy == 0 {
		i.timer.Reset(i.after)
	}
}
