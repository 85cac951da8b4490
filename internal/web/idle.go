package web

import (
	"sync"
	"time"
)

// idle detects a long time without requests and without an open page.
type idle struct {
	after time.Duration // 0 is never
	over  chan struct{}

	mu    sync.Mutex
	on    bool
	busy  int
	timer *time.Timer
}

func newIdle(after time.Duration) *idle {
	return &idle{after: after, over: make(chan struct{})}
}

// start starts the timer.
func (i *idle) start() { i.change(func() { i.on = i.after > 0 }) }

// stop stops the timer for good.
func (i *idle) stop() { i.change(func() { i.on = false }) }

// enter marks a client as present until leave is called.
func (i *idle) enter() (leave func()) {
	i.change(func() { i.busy++ })
	return func() { i.change(func() { i.busy-- }) }
}

// change changes the state, and restarts the timer.
func (i *idle) change(apply func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	apply()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
	if i.on && i.busy == 0 {
		i.timer = time.AfterFunc(i.after, i.end)
	}
}

func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	// A client may have come while the timer fired.
	if i.on && i.busy == 0 {
		i.on = false
		close(i.over)
	}
}
