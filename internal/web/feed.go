package web

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// The pace of events.
const (
	pace  = time.Second      // between two changes
	pulse = 10 * time.Second // between two beats
)

// news is the current state of a feed.
type news struct {
	state  *uistate.State
	number int // of the UIState
	stale  string
}

// feed has the newest UIState only. Each follower stores the last one that it sent, and sends the
// difference to the newest: nothing is queued for a slow client.
type feed struct {
	mu   sync.Mutex
	now  news
	wake chan struct{} // closed, and replaced, by each change
	over chan struct{} // closed at the end
}

func newFeed() *feed {
	return &feed{wake: make(chan struct{}), over: make(chan struct{})}
}

func (f *feed) set(change func(*news)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.now)
	close(f.wake)
	f.wake = make(chan struct{})
}

func (f *feed) get() (news, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now, f.wake
}

// end ends all followers. It is called once.
func (f *feed) end() { close(f.over) }

// event is what a follower sends.
type event struct {
	name   string
	number int // of the UIState that results
	data   any
}

// follow sends events until ctx ends, the feed is over, or tell fails: first a whole UIState, then
// changes to it, at most one in each pace.
func (f *feed) follow(ctx context.Context, tell func(event) error) error {
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	var sent news
	var wait <-chan time.Time // until the next change may be sent
	for {
		now, wake := f.get()
		if now.state != sent.state && wait == nil {
			if e, ok := difference(sent.state, now); ok {
				if err := tell(e); err != nil {
					return err
				}
				wait = time.After(pace)
			}
			sent.state, sent.number = now.state, now.number
		}
		if now.stale != sent.stale {
			if err := tell(event{"stale", sent.number, map[string]string{"why": now.stale}}); err != nil {
				return err
			}
			sent.stale = now.stale
		}
		select {
		case <-wake:
		case <-wait:
			wait = nil
		case <-beat.C:
			if err := tell(event{"beat", sent.number, map[string]string{"at": at(sent.state)}}); err != nil {
				return err
			}
		case <-f.over:
			return tell(event{"end", sent.number, struct{}{}})
		case <-ctx.Done():
			return f.farewell(ctx, tell, sent.number)
		}
	}
}

// farewell sends the end if that is why ctx ended.
func (f *feed) farewell(ctx context.Context, tell func(event) error, number int) error {
	select {
	case <-f.over:
		return tell(event{"end", number, struct{}{}})
	default:
		return ctx.Err()
	}
}

// at returns when a UIState was read.
func at(p *uistate.State) string {
	if p == nil {
		return ""
	}
	return p.At
}

// difference returns the change from a UIState to the current one; false if there is none.
func difference(old *uistate.State, now news) (event, bool) {
	if old == nil {
		return event{"picture", now.number, now.state}, true
	}
	change := Diff(old, now.state)
	return event{"change", now.number, change}, change != nil
}

// text formats an event as a server-sent event. JSON has no line ends of its own.
func (e event) text() ([]byte, error) {
	data, err := json.Marshal(e.data)
	if err != nil {
		return nil, err
	}
	return join(e, data), nil
}
