package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// diary is what a follower was told, and after how long.
type diary struct {
	begin time.Time
	lines []string
	slow  time.Duration // that each event takes
	fail  error
}

func (d *diary) tell(e event) error {
	time.Sleep(d.slow)
	d.lines = append(d.lines, fmt.Sprintf("%v %s %d", time.Since(d.begin), e.name, e.number))
	return d.fail
}

func numbered(i int) *uistate.State {
	return &uistate.State{At: fmt.Sprint(i), Nodes: []*uistate.Node{{Name: "a", Created: int64(i)}}}
}

// follower follows a feed in a bubble of its own time.
func follower(ctx context.Context, f *feed, d *diary) <-chan error {
	d.begin = time.Now()
	ended := make(chan error, 1)
	go func() { ended <- f.follow(ctx, d.tell) }()
	synctest.Wait()
	return ended
}

func (d *diary) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.lines, want) {
		t.Errorf("told\n%q, not\n%q", d.lines, want)
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := newFeed(), &diary{}
		ended := follower(t.Context(), f, d)
		publish := func(i int) { f.set(func(n *news) { n.state, n.number = numbered(i), i }) }
		time.Sleep(3 * time.Second)
		publish(1)
		time.Sleep(25 * time.Millisecond)
		// Twenty a second for three seconds, never at a full one.
		for i := 2; i <= 60; i++ {
			publish(i)
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(2025 * time.Millisecond)
		// After a rest one is told at once.
		publish(61)
		synctest.Wait()
		f.end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d.check(t, "3s picture 1", "4s change 21", "5s change 41", "6s change 60", "8s change 61", "8s end 61")
	})
}

func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := newFeed(), &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := follower(ctx, f, d)
		time.Sleep(15 * time.Second)
		f.set(func(n *news) { n.stale = "away" })
		f.set(func(n *news) { n.stale = "still away" })
		synctest.Wait()
		f.set(func(n *news) { n.state, n.number = numbered(1), 1 })
		synctest.Wait()
		// What is the same but for the time is no change, and takes no time from one that is.
		f.set(func(n *news) { n.state, n.number = &uistate.State{At: "2", Nodes: numbered(1).Nodes}, 2 })
		time.Sleep(2 * time.Second)
		f.set(func(n *news) { n.stale = "" })
		time.Sleep(5 * time.Second)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		d.check(t, "10s beat 0", "15s stale 0", "15s picture 1", "17s stale 2", "20s beat 2")
	})
}

// TestSlowFollower has one that takes seconds for an event: it is told the newest, and all others
// are told in their own time.
func TestSlowFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, slow, quick := newFeed(), &diary{slow: 3500 * time.Millisecond}, &diary{}
		f.set(func(n *news) { n.state, n.number = numbered(1), 1 })
		first, second := follower(t.Context(), f, slow), follower(t.Context(), f, quick)
		for i := 2; i <= 5; i++ {
			time.Sleep(1100 * time.Millisecond)
			f.set(func(n *news) { n.state, n.number = numbered(i), i })
		}
		time.Sleep(5 * time.Second)
		f.end()
		<-first
		<-second
		quick.check(t, "0s picture 1", "1.1s change 2", "2.2s change 3", "3.3s change 4", "4.4s change 5", "9.4s end 5")
		slow.check(t, "3.5s picture 1", "8s change 5", "12.9s end 5")
	})
}

func TestFollowerFails(t *testing.T) {
	gone := errors.New("gone")
	for name, set := range map[string]func(*news){
		"picture": func(n *news) { n.state = numbered(1) },
		"stale":   func(n *news) { n.stale = "away" },
		"beat":    func(*news) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, d := newFeed(), &diary{fail: gone}
			f.set(set)
			if err := <-follower(t.Context(), f, d); !errors.Is(err, gone) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestEndIsTold ends the requests together with the feed, as a server does.
func TestEndIsTold(t *testing.T) {
	for range 50 { // Either may be seen first.
		synctest.Test(t, func(t *testing.T) {
			f, d := newFeed(), &diary{}
			ctx, cancel := context.WithCancel(t.Context())
			ended := follower(ctx, f, d)
			f.end()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			d.check(t, "0s end 0")
		})
	}
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		i := newIdle(time.Minute)
		early := i.enter()
		i.start() // Somebody is there already.
		time.Sleep(2 * time.Minute)
		early()
		time.Sleep(50 * time.Second)
		one, two := i.enter(), i.enter()
		one()
		time.Sleep(2 * time.Minute)
		two()
		<-i.over
		if got := time.Since(begin); got != 5*time.Minute+50*time.Second {
			t.Errorf("over after %v", got)
		}
		i.enter()() // Nobody is kept waiting by what is over.
		i.stop()

		disabled := newIdle(0)
		disabled.start()
		disabled.enter()()
		stopped := newIdle(time.Minute)
		stopped.start()
		stopped.stop()
		stopped.enter()()
		time.Sleep(time.Hour)
		for _, i := range []*idle{disabled, stopped} {
			select {
			case <-i.over:
				t.Error("it is over")
			default:
			}
		}
	})
}
