package logs

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// grace is how long a deleted container's log may still deliver its last lines.
	grace = 5 * time.Second
	// slack is how much a node's clock may be behind the local one.
	slack = time.Minute
)

// Follower follows the logs of containers that start, restart and end.
type Follower struct {
	Open OpenFunc
	// Max limits the logs that are open at once, at least 1. The others wait in their order.
	Max int
	// Options say where to begin in the logs of the first state. Later containers are read from
	// their start.
	Options Options
	// Began is when the following begins: now.
	Began time.Time
	// Emit receives the lines of all logs, one call at a time, as they arrive. Its error stops the
	// follower.
	Emit func(Line) error
	// Notify receives events, one call at a time; events of one state come in one call.
	Notify func([]Notice)

	stop    context.CancelCauseFunc
	failed  chan *tail
	wg      sync.WaitGroup
	slots   chan struct{}
	tails   map[key]*tail
	mu      sync.Mutex // guards Emit, Notify and the fields below
	stopped bool
}

type key struct {
	pod  types.UID
	name string
}

// Run follows until the context ends, which is no error, or until none of its logs may be read,
// which returns the error of one of them. Each value of states has the containers to follow, in the
// order in which to open them.
func (f *Follower) Run(ctx context.Context, states <-chan []Container) error {
	f.tails, f.slots, f.failed = map[key]*tail{}, make(chan struct{}, max(f.Max, 1)), make(chan *tail)
	following, stop := context.WithCancelCause(ctx)
	f.stop = stop
	defer f.wg.Wait()
	defer stop(nil)
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-following.Done():
			return context.Cause(following)
		case all := <-states:
			f.update(following, all, first)
		case t := <-f.failed:
			f.tell(Notice{Container: t.container, Event: Failed, Err: t.refused})
			if t.over = true; f.allOver() {
				return t.refused
			}
		}
	}
}

func (f *Follower) allOver() bool {
	for _, t := range f.tails {
		if !t.over {
			return false
		}
	}
	return true
}

// update starts to follow new containers, and passes the new state to the others.
func (f *Follower) update(ctx context.Context, all []Container, first bool) {
	var notes []Notice
	seen := map[key]bool{}
	for _, c := range all {
		k := key{c.UID, c.Name}
		seen[k] = true
		t := f.tails[k]
		if t == nil {
			t = f.begin(ctx, c, first)
			f.tails[k] = t
			if t.queued {
				notes = append(notes, Notice{Container: c, Event: Queued})
			}
		} else {
			t.become(c)
		}
		notes = append(notes, t.news(c, first)...)
	}
	for k, t := range f.tails {
		if !seen[k] {
			notes = append(notes, Notice{Container: t.leave(), Event: Gone})
			delete(f.tails, k)
		}
	}
	f.tell(notes...)
}

// news returns the events in the current state of a container.
func (t *tail) news(c Container, first bool) []Notice {
	var notes []Notice
	if isWorthReporting(c, first) && !t.waiting[c.Waiting] {
		t.waiting[c.Waiting] = true
		notes = append(notes, Notice{Container: c, Event: Waiting, Reason: c.Waiting})
	}
	if c.Running && c.Lost != "" && c.Lost != t.lost {
		notes = append(notes, Notice{Container: c, Event: NodeNotReady, Reason: c.Lost})
	}
	t.lost = c.Lost
	if c.Ended != "" && !t.ended {
		t.ended = true
		if !first { // otherwise it is not new
			notes = append(notes, Notice{Container: c, Event: Ended, Reason: c.Ended})
		}
	}
	return notes
}

// isWorthReporting reports whether to notify that a container waits: all of them at first; later,
// only those that do not simply start.
func isWorthReporting(c Container, first bool) bool {
	switch c.Waiting {
	case "":
		return false
	case "ContainerCreating", "PodInitializing", noWord, notScheduled:
		return first
	}
	return true
}

// begin starts to follow a container, at once if fewer than Max logs are open.
func (f *Follower) begin(ctx context.Context, c Container, first bool) *tail {
	t := &tail{f: f, container: c, changed: make(chan struct{}, 1), waiting: map[string]bool{}, began: Options{Follow: true}}
	// An old container that appears later was not selected before: its past is not new.
	if first || !c.Started.IsZero() && c.Started.Before(f.Began.Add(-slack)) {
		t.began = f.Options
		t.began.Follow = true
	}
	ctx, t.cancel = context.WithCancel(ctx)
	held := c.Instance != "" && f.tryTurn()
	t.queued = c.Instance != "" && !held
	f.wg.Go(func() {
		defer t.cancel()
		t.run(ctx, held)
	})
	return t
}

func (f *Follower) tryTurn() bool {
	select {
	case f.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (f *Follower) endTurn() { <-f.slots }

func (f *Follower) emit(l Line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	if err := f.Emit(l); err != nil {
		f.stopped = true
		f.stop(err)
	}
}

func (f *Follower) tell(notes ...Notice) {
	if len(notes) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Notify(notes)
}
