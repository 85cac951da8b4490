package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// node plays those who keep logs: of each pod the log of its present run.
type node struct {
	mu      sync.Mutex
	logs    map[string]*runLog
	refused map[string]error
	opened  []string // "POD OPTIONS" of each request
	open    int
	high    int // most that were open at once
}

// runLog is the log of one run. A reader waits on changed for more.
type runLog struct {
	lines   []Line
	ended   bool
	cut     int // how often readers were cut off
	changed chan struct{}
}

func newNode() *node { return &node{logs: map[string]*runLog{}, refused: map[string]error{}} }

// begin starts a new run of a pod.
func (n *node) begin(pod string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.logs[pod] = &runLog{changed: make(chan struct{})}
}

func (n *node) change(pod string, f func(*runLog)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.logs[pod]
	f(l)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (n *node) write(pod string, texts ...string) {
	n.change(pod, func(l *runLog) {
		for _, text := range texts {
			l.lines = append(l.lines, Line{Time: time.Now(), Text: text})
		}
	})
}

func (n *node) end(pod string) { n.change(pod, func(l *runLog) { l.ended = true }) }
func (n *node) cut(pod string) { n.change(pod, func(l *runLog) { l.cut++ }) }

func (n *node) refuse(pod string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused[pod] = err
}

var errCut = errors.New("connection reset")

func (n *node) openLog(ctx context.Context, c Container, o Options) (io.ReadCloser, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := c.Pod
	if !o.SinceTime.IsZero() {
		asked += " since"
	}
	if o.Tail != nil {
		asked += fmt.Sprintf(" tail %d", *o.Tail)
	}
	if o.Follow {
		asked += " follow"
	}
	n.opened = append(n.opened, asked)
	if err := n.refused[c.Pod]; err != nil {
		return nil, err
	}
	l := n.logs[c.Pod]
	at := 0
	if o.Tail != nil {
		at = max(0, len(l.lines)-int(*o.Tail))
	}
	since := o.SinceTime.Truncate(time.Second)
	n.open++
	n.high = max(n.high, n.open)
	in, out := io.Pipe()
	go func() {
		err := n.send(ctx, l, at, since, out)
		n.mu.Lock()
		n.open--
		n.mu.Unlock()
		out.CloseWithError(err) // Who reads this may open the next.
	}()
	return in, nil
}

// send writes a log from a line on, until the run ends, or somebody cuts it off in the
// middle of a line.
func (n *node) send(ctx context.Context, l *runLog, at int, since time.Time, out io.Writer) error {
	n.mu.Lock()
	cuts := l.cut
	n.mu.Unlock()
	for {
		n.mu.Lock()
		lines, ended, cut, changed := slices.Clone(l.lines[at:]), l.ended, l.cut > cuts, l.changed
		n.mu.Unlock()
		for _, line := range lines {
			at++
			if line.Time.Before(since) {
				continue
			}
			if _, err := fmt.Fprintf(out, "%s %s\n", line.Time.UTC().Format(time.RFC3339Nano), line.Text); err != nil {
				return err
			}
		}
		switch {
		case cut:
			_, _ = io.WriteString(out, time.Now().UTC().Format(time.RFC3339Nano)+" hal")
			return errCut
		case ended:
			return io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// following is a Follower at work in a bubble of its own time.
type following struct {
	*testing.T
	*node
	states chan []Container
	stop   context.CancelFunc
	ended  chan error

	mu    sync.Mutex
	lines []string
	notes []Notice
}

// follow runs a test with a Follower that may hold so many logs open.
func follow(t *testing.T, most int, first Options, f func(*following)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := &following{T: t, node: newNode(), states: make(chan []Container), stop: stop, ended: make(chan error, 1)}
		follower := &Follower{
			Open: w.openLog, Max: most, Options: first, Began: time.Now(),
			Emit: func(l Line) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.lines = append(w.lines, l.Container.Pod+" "+l.Text)
				return nil
			},
			Notify: func(notes []Notice) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.notes = append(w.notes, notes...)
			},
		}
		go func() { w.ended <- follower.Run(ctx, w.states) }()
		f(w)
		stop()
		synctest.Wait()
		select {
		case err := <-w.ended:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		default:
			t.Error("it did not end")
		}
	})
}

func (w *following) state(all ...Container) {
	w.states <- all
	synctest.Wait()
}

// saw checks the lines since the last time.
func (w *following) saw(want ...string) {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.lines, want) {
		w.Errorf("lines %q, want %q", w.lines, want)
	}
	w.lines = nil
}

// told checks the notes since the last time.
func (w *following) told(want ...string) {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	words := map[Event]string{Waiting: "waits", Queued: "queued", NodeNotReady: "unreached", Ended: "ended", Gone: "gone", Failed: "failed", Interrupted: "broken"}
	var got []string
	for _, n := range w.notes {
		text := n.Container.Pod + " " + words[n.Event] + " " + n.Reason
		if n.Err != nil {
			text += n.Err.Error()
		}
		got = append(got, strings.TrimSpace(text))
	}
	if !slices.Equal(got, want) {
		w.Errorf("told %q, want %q", got, want)
	}
	w.notes = nil
}

// asked checks the requests since the last time, by pod: between these there is no order.
func (w *following) asked(want ...string) {
	w.Helper()
	synctest.Wait()
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	slices.SortStableFunc(w.opened, func(a, b string) int { return cmp.Compare(podIn(a), podIn(b)) })
	if !slices.Equal(w.opened, want) {
		w.Errorf("asked %q, want %q", w.opened, want)
	}
	w.opened = nil
}

func podIn(request string) string {
	pod, _, _ := strings.Cut(request, " ")
	return pod
}

// runs is a pod whose container runs for the nth time.
func runs(pod string, n int) Container {
	c := named(pod)
	c.Instance, c.Running, c.Started = fmt.Sprint(n), true, time.Now()
	return c
}

func stopped(c Container) Container {
	c.Running = false
	return c
}
